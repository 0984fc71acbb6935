// Decoder layers on the GPU. With checks, every operation is compared with the host's result for the operation's actual inputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/common/layer_log.h"
#include "workloads/common/program.h"
#include "workloads/llama7b/reference.h"

namespace llama7b {

/// The matrices of a layer, named as in the published checkpoints: w1 is the gate projection, w3 the up and w2 the down
/// projection.
template <typename Matrix>
struct Matrices {
  Matrix wq, wk, wv, wo, w1, w2, w3;
};

template <typename T>
class Decoder {
 public:
  using Tensor = workload::Tensor<T>;
  using Pointer = std::unique_ptr<Tensor>;

  /// `decoding`: matrix-vector products and attention of one token; otherwise matrix products. With form `words`, both modes
  /// use the matrix product that loads single words.
  Decoder(workload::Program& program, const Sizes& sizes, bool decoding, gemm::Form form)
      : program_(program),
        s_(sizes),
        decoding_(decoding),
        form_(form),
        table_(rotations(sizes.positions(), sizes.dimensions())),
        rotations_("the rotations", table_),
        layers_(sizes.layers) {
    const std::size_t activations = std::size_t{s_.tokens} * s_.hidden;
    for (Pointer* p : {&x_, &normed_, &q_, &k_, &v_, &attended_})
      *p = std::make_unique<Tensor>("activations", activations, program.checks());
    for (Pointer* p : {&gate_, &up_})
      *p = std::make_unique<Tensor>("activations", std::size_t{s_.tokens} * s_.feed_forward, program.checks());
    if (decoding_) parts_(std::size_t{s_.heads} * chunks() * (2 + s_.dimensions()));
  }

  void put_layer(unsigned layer, const Matrices<std::vector<float>>& m, const std::vector<float>& attention_gain,
                 const std::vector<float>& feed_forward_gain, const std::vector<float>& keys,
                 const std::vector<float>& values) {
    Layer& l = layers_[layer];
    const auto put = [this](Pointer& p, const std::string& name, const std::vector<float>& from) {
      p = std::make_unique<Tensor>(name, from.size(), program_.checks());
      p->put(std::vector<T>(from.begin(), from.end()));
    };
    put(l.m.wq, "wq", m.wq), put(l.m.wk, "wk", m.wk), put(l.m.wv, "wv", m.wv), put(l.m.wo, "wo", m.wo);
    put(l.m.w1, "w1", m.w1), put(l.m.w2, "w2", m.w2), put(l.m.w3, "w3", m.w3);
    put(l.attention_gain, "the gain", attention_gain), put(l.feed_forward_gain, "the gain", feed_forward_gain);
    put(l.keys, "the cache of keys", keys), put(l.values, "the cache of values", values);
  }
  /// The matrix that maps the features of a token to the vocabulary, and the gain of the normalisation before it.
  void put_head(const std::vector<float>& head, const std::vector<float>& gain) {
    head_ = std::make_unique<Tensor>("the head", head.size(), program_.checks());
    head_->put(std::vector<T>(head.begin(), head.end()));
    head_gain_ = std::make_unique<Tensor>("the gain", gain.size(), program_.checks());
    head_gain_->put(std::vector<T>(gain.begin(), gain.end()));
    logits_ = std::make_unique<Tensor>("logits", s_.tokens * (head.size() / s_.hidden), program_.checks());
  }
  void put_input(const std::vector<float>& x) { x_->put(std::vector<T>(x.begin(), x.end())); }
  unsigned kernels() const { return log_.kernels(); }

  void run() {
    for (unsigned l = 0; l < s_.layers; ++l) {
      prefix_ = "layer" + std::to_string(l) + "_";
      const Layer& layer = layers_[l];
      norm("attention_norm", *layer.attention_gain);
      linear("wq", *layer.m.wq, *normed_, *q_, false);
      linear("wk", *layer.m.wk, *normed_, *k_, false);
      linear("wv", *layer.m.wv, *normed_, *v_, false);
      rotate(layer);
      decoding_ ? attention_decode(layer) : attention_prefill(layer);
      linear("wo", *layer.m.wo, *attended_, *x_, true);
      norm("ffn_norm", *layer.feed_forward_gain);
      linear("w1", *layer.m.w1, *normed_, *gate_, false);
      linear("w3", *layer.m.w3, *normed_, *up_, false);
      silu();
      linear("w2", *layer.m.w2, *gate_, *x_, true);
    }
    if (head_ == nullptr) return;
    prefix_ = "head_";
    norm("norm", *head_gain_);
    linear("product", *head_, *normed_, *logits_, false);
  }

 private:
  using Kernel = Kernels<T>;
  struct Layer {
    Matrices<Pointer> m;
    Pointer attention_gain, feed_forward_gain, keys, values;
  };
  /// Memory for partial sums, which grows on demand.
  struct Scratch {
    float* operator()(std::size_t count) {
      if (!memory || memory->size() < count) {
        memory.reset();
        memory = std::make_unique<workload::DeviceArray<float>>("products and parts of sums", count);
      }
      return memory->data();
    }
    std::unique_ptr<workload::DeviceArray<float>> memory;
  };

  unsigned chunks() const { return workload::groups(s_.positions(), kChunk); }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(s_.dimensions())); }
  void begin(const std::string& name) {
    name_ = prefix_ + name;
    log_.begin(name_, decoding_ ? "decode" : "prefill");
  }
  void check(const std::vector<T>& got, const Expected& expected) {
    program_.check_near(name_, got, expected.values,
                        [&](std::size_t i) { return expected.bound(i) + storage_error<T>(expected.values[i]); });
  }

  void norm(const std::string& name, const Tensor& gain) {
    begin(name);
    log_.launch(Kernel::rms_norm, dim3(s_.tokens), dim3(256), x_->data(), gain.data(), normed_->target(), s_.hidden);
    if (program_.checks()) check(normed_->get(), rms_norm_of(x_->get(), gain.get(), s_.tokens));
  }
  void linear(const std::string& name, const Tensor& weights, const Tensor& x, Tensor& y, bool accumulate) {
    begin(name);
    const auto rows = static_cast<unsigned>(y.size() / s_.tokens), depth = static_cast<unsigned>(x.size() / s_.tokens);
    const std::vector<T> before = program_.checks() && accumulate ? y.get() : std::vector<T>();
    if (form_ == gemm::Form::kWords) {
      linear_by_words(weights, x, y, rows, depth, accumulate);
    } else if (decoding_) {
      log_.launch(Kernel::gemv, dim3(workload::groups(rows, 4)), dim3(256), weights.data(), x.data(), y.target(), rows, depth,
                  accumulate);
    } else {
      gemm::multiply(log_, Kernel::product(), form_, Kernel::helpers(),
                     gemm::Arguments<T, T>{x.data(), weights.data(), y.target(), s_.tokens, rows, depth, depth, depth, rows,
                                           accumulate, 0, nullptr},
                     parts_);
    }
    if (program_.checks()) check(y.get(), linear_of(weights.get(), x.get(), before, s_.tokens, rows, depth));
  }
  /// Computes Y^T = W X^T: the weights are operand A of the product, as in convolutions, so each load of weights by a wavefront
  /// reads one word from each of a few rows.
  void linear_by_words(const Tensor& weights, const Tensor& x, Tensor& y, unsigned rows, unsigned depth, bool accumulate) {
    const dim3 group(gemm::kEdge, gemm::kEdge);
    if (s_.tokens == 1) {  // X^T and Y^T have the layout of X and Y
      log_.launch(
          Kernel::product().words, gemm::edges(rows, 1), group,
          gemm::Arguments<T, T>{weights.data(), x.data(), y.target(), rows, 1, depth, depth, 1, 1, accumulate, 0, nullptr},
          1.0f);
      return;
    }
    T* const columns = reinterpret_cast<T*>(columns_(x.size()));
    float* const product = parts_(y.size());
    log_.launch(Kernel::transpose, gemm::edges(depth, s_.tokens), group, x.data(), columns, s_.tokens, depth, depth, false);
    log_.launch(Kernel::words_to_float, gemm::edges(rows, s_.tokens), group,
                gemm::Arguments<T, float>{weights.data(), columns, product, rows, s_.tokens, depth, depth, s_.tokens, s_.tokens,
                                          false, 0, nullptr},
                1.0f);
    log_.launch(Kernel::transpose_from_float, gemm::edges(s_.tokens, rows), group, product, y.target(), rows, s_.tokens,
                s_.tokens, accumulate);
  }
  void rotate(const Layer& layer) {
    begin("rope");
    const std::vector<T> before = program_.checks() ? q_->get() : std::vector<T>();
    log_.launch(Kernel::rotate, dim3(workload::groups(s_.hidden / 2, 256), s_.tokens), dim3(256), q_->target(), k_->data(),
                v_->data(), layer.keys->target(), layer.values->target(), rotations_.data(), s_.heads, s_.dimensions(),
                s_.context, s_.positions());
    if (!program_.checks()) return;
    check(q_->get(), rotate_of(before, table_, s_));
    check(newest(layer.keys->get(), s_), rotate_of(k_->get(), table_, s_));
    program_.check_equal(name_, newest(layer.values->get(), s_), v_->get());
  }
  void attention_decode(const Layer& layer) {
    begin("attention");
    float* const parts = parts_(std::size_t{s_.heads} * chunks() * (2 + s_.dimensions()));
    log_.launch(Kernel::attention_decode, dim3(chunks(), s_.heads), dim3(256), q_->data(), layer.keys->data(),
                layer.values->data(), parts, s_.dimensions(), s_.positions(), s_.positions(), scale());
    log_.launch(Kernel::attention_combine, dim3(s_.heads), dim3(kMostDimensions), parts, attended_->target(), s_.dimensions(),
                chunks());
    check_attention(layer);
  }
  void attention_prefill(const Layer& layer) {
    begin("attention");
    log_.launch(Kernel::attention_prefill, dim3(workload::groups(s_.tokens, kQueries), s_.heads), dim3(256), q_->data(),
                layer.keys->data(), layer.values->data(), attended_->target(), s_.heads, s_.dimensions(), s_.tokens, s_.context,
                s_.positions(), scale());
    check_attention(layer);
  }
  void check_attention(const Layer& layer) {
    if (program_.checks()) check(attended_->get(), attention_of(q_->get(), layer.keys->get(), layer.values->get(), s_));
  }
  void silu() {
    begin("silu");
    const std::vector<T> before = program_.checks() ? gate_->get() : std::vector<T>();
    const auto count = static_cast<unsigned>(gate_->size());
    log_.launch(Kernel::silu_multiply, dim3(workload::groups(count, 256)), dim3(256), gate_->target(), up_->data(), count);
    if (program_.checks()) check(gate_->get(), silu_multiply_of(before, up_->get()));
  }

  workload::Program& program_;
  Sizes s_;
  bool decoding_;
  gemm::Form form_;
  std::vector<float2> table_;
  workload::DeviceArray<float2> rotations_;
  std::vector<Layer> layers_;
  Pointer x_, normed_, q_, k_, v_, attended_, gate_, up_;
  Pointer head_, head_gain_, logits_;  ///< null without put_head()
  Scratch parts_, columns_;
  workload::LayerLog log_;
  std::string prefix_, name_;
};

}  // namespace llama7b
