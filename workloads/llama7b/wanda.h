// Pruning as in Wanda (M. Sun et al., A simple and effective pruning approach for large language models, 2023, algorithm 1): in
// each row of a weight matrix, a given share of the weights is set to zero, namely those with the smallest product of |weight|
// and the norm of the input feature. The norms are those of calibration tokens that pass through the layers; a layer's own
// norms are computed with its dense weights, the inputs of the next layer with its pruned weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "workloads/llama7b/reference.h"

namespace llama7b {

using Floats = std::vector<float>;

constexpr unsigned kCalibrationTokens = 8;

/// Computes x W^T on the host, vectorised as eight parallel sums.
inline Floats linear(const Floats& weights, const Floats& x, std::size_t rows) {
  const std::size_t depth = weights.size() / rows, tokens = x.size() / depth;
  Floats y(tokens * rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const w = &weights[r * depth];
    for (std::size_t t = 0; t < tokens; ++t) {
      const float* const v = &x[t * depth];
      float sums[8] = {};
      std::size_t k = 0;
      for (; k + 8 <= depth; k += 8) {
        for (std::size_t i = 0; i < 8; ++i) sums[i] += w[k + i] * v[k + i];
      }
      for (; k < depth; ++k) sums[0] += w[k] * v[k];
      y[t * rows + r] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
  }
  return y;
}

/// In each row, sets the round(sparsity * depth) weights with the smallest scores to zero; of equal scores, the first weights.
inline void prune(Floats& weights, std::size_t rows, const Floats& inputs, double sparsity) {
  const std::size_t depth = weights.size() / rows;
  Floats norms(depth), scores(depth), sorted(depth);
  for (std::size_t i = 0; i < inputs.size(); ++i) norms[i % depth] += inputs[i] * inputs[i];
  for (float& norm : norms) norm = std::sqrt(norm);
  const auto count = static_cast<std::size_t>(std::llround(sparsity * static_cast<double>(depth)));
  if (count == 0) return;
  for (std::size_t r = 0; r < rows; ++r) {
    float* const row = &weights[r * depth];
    for (std::size_t k = 0; k < depth; ++k) scores[k] = std::fabs(row[k]) * norms[k];
    sorted = scores;
    const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::nth_element(sorted.begin(), nth, sorted.end());
    const float limit = *nth;
    std::size_t left = count;
    for (std::size_t k = 0; k < depth; ++k) left -= scores[k] < limit ? 1 : 0;
    for (std::size_t k = 0; k < depth; ++k) {
      if (scores[k] < limit || (scores[k] == limit && left > 0 && left-- > 0)) row[k] = 0.0f;
    }
  }
}

/// Activations of the calibration tokens, advanced layer by layer: prune_layer() is called for all layers in order.
class Calibration {
 public:
  Calibration(const Sizes& sizes, Floats tokens) : sizes_(sizes), x_(std::move(tokens)) {
    sizes_.tokens = kCalibrationTokens;
    sizes_.context = 0;
    table_ = rotations(kCalibrationTokens, sizes_.dimensions());
  }

  /// Prunes the matrices of a layer; the gains are those of its two norms.
  template <typename Matrices>
  void prune_layer(Matrices& m, const Floats& attention_gain, const Floats& feed_forward_gain, double sparsity) {
    // Inputs of every matrix, computed with the dense weights.
    const Floats normed = floats(rms_norm_of(x_, attention_gain, kCalibrationTokens));
    const Floats attended = attention(m, normed);
    Floats x = sum(x_, linear(m.wo, attended, sizes_.hidden));
    const Floats normed_x = floats(rms_norm_of(x, feed_forward_gain, kCalibrationTokens));
    const Floats activated = feed_forward(m, normed_x);
    for (Floats* matrix : {&m.wq, &m.wk, &m.wv}) prune(*matrix, sizes_.hidden, normed, sparsity);
    prune(m.wo, sizes_.hidden, attended, sparsity);
    for (Floats* matrix : {&m.w1, &m.w3}) prune(*matrix, sizes_.feed_forward, normed_x, sparsity);
    prune(m.w2, sizes_.hidden, activated, sparsity);
    if (++layer_ == sizes_.layers) return;
    // Input of the next layer.
    x = sum(x_, linear(m.wo, attention(m, normed), sizes_.hidden));
    x_ = sum(x, linear(m.w2, feed_forward(m, floats(rms_norm_of(x, feed_forward_gain, kCalibrationTokens))), sizes_.hidden));
  }

 private:
  static Floats floats(const Expected& expected) { return Floats(expected.values.begin(), expected.values.end()); }
  static Floats sum(const Floats& a, const Floats& b) {
    Floats c(a);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] += b[i];
    return c;
  }
  template <typename Matrices>
  Floats attention(const Matrices& m, const Floats& x) const {
    const auto cache = [this](const Floats& values) {
      Floats cached(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t head = i % sizes_.hidden / sizes_.dimensions(), position = i / sizes_.hidden;
        cached[(head * sizes_.positions() + position) * sizes_.dimensions() + i % sizes_.dimensions()] = values[i];
      }
      return cached;
    };
    const Floats q = floats(rotate_of(linear(m.wq, x, sizes_.hidden), table_, sizes_));
    const Floats k = floats(rotate_of(linear(m.wk, x, sizes_.hidden), table_, sizes_));
    return floats(attention_of(q, cache(k), cache(linear(m.wv, x, sizes_.hidden)), sizes_));
  }
  template <typename Matrices>
  Floats feed_forward(const Matrices& m, const Floats& x) const {
    return floats(silu_multiply_of(linear(m.w1, x, sizes_.feed_forward), linear(m.w3, x, sizes_.feed_forward)));
  }

  Sizes sizes_;
  Floats x_;
  std::vector<float2> table_;
  unsigned layer_ = 0;
};

}  // namespace llama7b
