// Reference implementation of a decoder layer's operations on the host. Arrays have the kernels' layout (kernels.h).
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "workloads/common/tensor.h"
#include "workloads/llama7b/kernels.h"

namespace llama7b {

using workload::Expected;
using workload::sum_factor;

/// Dimensions of the network and of the run. Positions 0 ... context - 1 are initially in the cache.
struct Sizes {
  unsigned hidden, heads, feed_forward, layers, tokens, context;
  unsigned dimensions() const { return hidden / heads; }
  unsigned positions() const { return context + tokens; }
};

/// Error bound added by storing as T. For half: half a unit in the last place, plus half the smallest denormal number; for
/// float: 0.
template <typename T>
double storage_error(double value) {
  return sizeof(T) == 2 ? std::fabs(value) * 0x1p-11 + 0x1p-25 : 0.0;
}

/// Returns (cosine, sine) of the angle position / 10000^(2 pair / dimensions), for each position and pair of dimensions.
inline std::vector<float2> rotations(unsigned positions, unsigned dimensions) {
  std::vector<float2> table;
  for (unsigned position = 0; position < positions; ++position) {
    for (unsigned d = 0; d < dimensions; d += 2) {
      const double angle = position * std::pow(10000.0, -static_cast<double>(d) / dimensions);
      table.push_back(make_float2(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))));
    }
  }
  return table;
}

template <typename T>
Expected rms_norm_of(const std::vector<T>& x, const std::vector<T>& gain, std::size_t tokens) {
  const std::size_t features = gain.size();
  Expected y(tokens * features);
  for (std::size_t t = 0; t < tokens; ++t) {
    double squares = 0;
    for (std::size_t i = 0; i < features; ++i) squares += std::pow(static_cast<double>(x[t * features + i]), 2);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(features) + kNormEpsilon);
    for (std::size_t i = 0; i < features; ++i) {
      y.values[t * features + i] = static_cast<double>(x[t * features + i]) * scale * static_cast<double>(gain[i]);
      y.magnitudes[t * features + i] = std::fabs(y.values[t * features + i]);
    }
  }
  y.factor = sum_factor(static_cast<double>(features)) + 16 * 0x1p-24;
  return y;
}

/// Returns x W^T, plus `before` unless it is empty.
template <typename T>
Expected linear_of(const std::vector<T>& weights, const std::vector<T>& x, const std::vector<T>& before, std::size_t tokens,
                   std::size_t rows, std::size_t depth) {
  Expected y(tokens * rows);
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t r = 0; r < rows; ++r) {
      double sum = 0, magnitude = 0;
      for (std::size_t k = 0; k < depth; ++k) {
        const double product = static_cast<double>(weights[r * depth + k]) * static_cast<double>(x[t * depth + k]);
        sum += product;
        magnitude += std::fabs(product);
      }
      const double more = before.empty() ? 0.0 : static_cast<double>(before[t * rows + r]);
      y.values[t * rows + r] = sum + more;
      y.magnitudes[t * rows + r] = magnitude + std::fabs(more);
    }
  }
  y.factor = sum_factor(static_cast<double>(depth));
  return y;
}

/// Returns x, [token][feature], with rotary position embedding.
template <typename T>
Expected rotate_of(const std::vector<T>& x, const std::vector<float2>& table, const Sizes& s) {
  Expected y(std::size_t{s.tokens} * s.hidden);
  for (std::size_t i = 0; i < y.values.size(); i += 2) {
    const std::size_t position = s.context + i / s.hidden, pair = i % s.hidden % s.dimensions() / 2;
    const float2 rotation = table[position * (s.dimensions() / 2) + pair];
    const double a = static_cast<double>(x[i]), b = static_cast<double>(x[i + 1]);
    y.values[i] = a * rotation.x - b * rotation.y;
    y.values[i + 1] = a * rotation.y + b * rotation.x;
    y.magnitudes[i] = std::fabs(a * rotation.x) + std::fabs(b * rotation.y);
    y.magnitudes[i + 1] = std::fabs(a * rotation.y) + std::fabs(b * rotation.x);
  }
  return y;
}

/// Extracts the new positions of a cache, as [token][feature].
template <typename T>
std::vector<T> newest(const std::vector<T>& cache, const Sizes& s) {
  std::vector<T> values(std::size_t{s.tokens} * s.hidden);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t head = i % s.hidden / s.dimensions(), position = s.context + i / s.hidden;
    values[i] = cache[(head * s.positions() + position) * s.dimensions() + i % s.dimensions()];
  }
  return values;
}

/// Causal attention of the new tokens.
template <typename T>
Expected attention_of(const std::vector<T>& queries, const std::vector<T>& key_cache, const std::vector<T>& value_cache,
                      const Sizes& s) {
  const std::size_t dimensions = s.dimensions();
  Expected y(std::size_t{s.tokens} * s.hidden);
  const double scale = 1 / std::sqrt(static_cast<double>(dimensions));
  double worst_score = 0;
  for (std::size_t t = 0; t < s.tokens; ++t) {
    for (std::size_t head = 0; head < s.heads; ++head) {
      const std::size_t seen = s.context + t + 1, at = t * s.hidden + head * dimensions,
                        first = head * s.positions() * dimensions;
      std::vector<double> weights(seen);
      double most = -INFINITY, sum = 0;
      for (std::size_t p = 0; p < seen; ++p) {
        double score = 0, magnitude = 0;
        for (std::size_t d = 0; d < dimensions; ++d) {
          const double product =
              static_cast<double>(queries[at + d]) * static_cast<double>(key_cache[first + p * dimensions + d]);
          score += product;
          magnitude += std::fabs(product);
        }
        weights[p] = score * scale;
        most = std::max(most, weights[p]);
        worst_score = std::max(worst_score, magnitude * scale);
      }
      for (double& weight : weights) sum += weight = std::exp(weight - most);
      for (std::size_t p = 0; p < seen; ++p) {
        for (std::size_t d = 0; d < dimensions; ++d) {
          const double part = weights[p] / sum * static_cast<double>(value_cache[first + p * dimensions + d]);
          y.values[at + d] += part;
          y.magnitudes[at + d] += std::fabs(part);
        }
      }
    }
  }
  // A small absolute error of a score causes an equal relative error of its softmax weight, which enters both numerator and
  // denominator. The same holds for absolute errors of the argument of expf; relative errors of expf are errors of the weight.
  y.factor =
      2 * (sum_factor(static_cast<double>(dimensions)) + 0x1p-23) * worst_score + sum_factor(s.positions()) + 32 * 0x1p-24;
  return y;
}

template <typename T>
Expected silu_multiply_of(const std::vector<T>& gate, const std::vector<T>& up) {
  Expected y(gate.size());
  for (std::size_t i = 0; i < gate.size(); ++i) {
    const double g = static_cast<double>(gate[i]);
    y.values[i] = g / (1 + std::exp(-g)) * static_cast<double>(up[i]);
    y.magnitudes[i] = std::fabs(y.values[i]) * (1 + std::fabs(g));
  }
  return y;
}

}  // namespace llama7b
