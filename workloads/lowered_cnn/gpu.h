// Operations of a network on the GPU. With checks, every operation is compared with the reference for the operation's actual
// inputs, so that errors of earlier layers, and activations that switch because of them, do not accumulate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/common/layer_log.h"
#include "workloads/common/program.h"
#include "workloads/common/tensor.h"
#include "workloads/lowered_cnn/products.h"
#include "workloads/lowered_cnn/reference.h"

namespace lowered_cnn {

using FloatTensor = workload::Tensor<float>;
using HalfTensor = workload::Tensor<Half>;
using ByteArray = workload::DeviceArray<unsigned char>;

/// Arrays of a normalisation; if there is only a bias, all except `beta` are null.
struct NormalisationArrays {
  std::unique_ptr<FloatTensor> mean, variance, gamma, beta;
  Normalisation device() const {
    if (!gamma) return {nullptr, nullptr, nullptr, beta->data()};
    return {mean->data(), variance->data(), gamma->data(), beta->data()};
  }
  HostNormalisation host() const {
    static const Floats kEmpty;
    if (!gamma) return {kEmpty, kEmpty, kEmpty, beta->get()};
    return {mean->get(), variance->get(), gamma->get(), beta->get()};
  }
};

class Gpu {
 public:
  Gpu(workload::Program& program, const Form& form, const std::vector<Layer>& layers, bool training)
      : program_(program),
        checks_(program.checks()),
        keeps_(program.checks()),
        products_(log_, form, layers, training),
        sums_("sums over rows", 2 * kMostParts * most_channels(layers)) {}
  unsigned kernels() const { return log_.kernels(); }
  size_t workspace_bytes() const { return products_.workspace_bytes(); }
  /// Enables or disables the comparison with the reference. Initially set by --check.
  void set_checks(bool checks) { checks_ = checks; }

  std::unique_ptr<FloatTensor> floats(const std::string& name, size_t count) const {
    return std::make_unique<FloatTensor>(name, count, keeps_);
  }
  std::unique_ptr<HalfTensor> halves(const std::string& name, size_t count) const {
    return std::make_unique<HalfTensor>(name, count, keeps_);
  }
  void begin(const std::string& layer, const char* pass) {
    log_.begin(layer, pass);
    layer_ = layer + " " + pass;
  }

  void convolution(const Layer& layer, const HalfTensor& x, const HalfTensor& weights, FloatTensor& z) {
    const unsigned parts = products_.convolve(layer.shape, x.data(), weights.data(), z.target(), false);
    if (!checks_) return;
    check("convolution", z.get(),
          conv::convolved(layer.shape, layer.channels, factors(x), factors(weights), Products::pitch_of(layer.shape), parts));
  }
  /// Computes the gradient with respect to x, added to the contents of `dx` if `accumulate`. `turned` is memory for the rotated
  /// weights, whose last columns are zeros.
  void backward_data(const Layer& layer, const HalfTensor& dz, const HalfTensor& weights, Half* turned, FloatTensor& dx,
                     bool accumulate) {
    const Convolution &c = layer.shape, back = backward_by_data(layer);
    const unsigned pitch = Products::pitch_of(c);
    const Floats before = checks_ && accumulate ? dx.get() : Floats();
    log_.launch(
        turn_weights,
        dim3(workload::groups(layer.padded, kTurned), workload::groups(c.channels, kTurned), c.filter_height * c.filter_width),
        dim3(kItems), c, weights.data(), pitch, turned, layer.padded, Products::pitch_of(back));
    const unsigned parts = products_.convolve(back, dz.data(), turned, dx.target(), accumulate);
    if (!checks_) return;
    check("gradient by data", dx.get(),
          convolved_backward_data(c, layer.channels, factors(dz), layer.padded, factors(weights), pitch, before, parts));
  }
  void backward_weights(const Layer& layer, const HalfTensor& dz, const HalfTensor& x, FloatTensor& dw) {
    const unsigned parts = products_.convolve_for_weights(layer.shape, x.data(), dz.data(), layer.padded, dw.target());
    if (!checks_) return;
    check("gradient by weights", dw.get(),
          convolved_backward_weights(layer.shape, layer.channels, factors(dz), layer.padded, factors(x), parts));
  }

  void statistics(const Layer& layer, const FloatTensor& z, NormalisationArrays& n, FloatTensor& running_mean,
                  FloatTensor& running_variance) {
    const Rows x = summed_rows(layer);
    log_.launch(batch_norm_parts, x.grid(), dim3(kItems), z.data(), sums_.data(), x);
    log_.launch(batch_norm_statistics, dim3(workload::groups(x.channels, kItems)), dim3(kItems), sums_.data(), n.mean->target(),
                n.variance->target(), running_mean.target(), running_variance.target(), x, x.parts());
    if (!checks_) return;
    const Statistics expected = statistics_of(z.get(), x.channels);
    check("mean", n.mean->get(), expected.mean);
    check("variance", n.variance->get(), expected.variance);
  }
  void activate(const Layer& layer, const FloatTensor& z, const NormalisationArrays& n, const HalfTensor* residual,
                HalfTensor& y) {
    const Rows x = rows(layer.shape.rows(), layer.shape.filters, layer.padded);
    log_.launch(::activate, x.grid(), dim3(kItems), z.data(), n.device(), residual ? residual->data() : nullptr, y.target(), x,
                layer.activation);
    if (!checks_) return;
    check_halves("output", y.get(),
                 activated(z.get(), n.host(), residual ? &residual->get() : nullptr, x.channels, x.padded, layer.activation));
  }
  void add_bias(const Layer& layer, const FloatTensor& z, const NormalisationArrays& n, FloatTensor& y) {
    const unsigned filters = layer.shape.filters;
    const Rows x = rows(layer.shape.rows(), filters, filters);
    log_.launch(::add_bias, x.grid(), dim3(kItems), z.data(), n.beta->data(), y.target(), x);
    if (checks_) check("output", y.get(), activated(z.get(), n.host(), nullptr, filters, filters, kIdentity));
  }
  /// Computes `g`, the gradient with respect to the activation's input, and the gradients with respect to beta (or the bias)
  /// and, unless `dgamma` is null, gamma. `y` is null for the last layer, which has no activation. `g` and `dy` may be the same
  /// array.
  void activation_backward(const Layer& layer, const FloatTensor& dy, const HalfTensor* y, const FloatTensor& z,
                           const NormalisationArrays& n, FloatTensor& g, FloatTensor& dbeta, FloatTensor* dgamma) {
    const Rows x = summed_rows(layer);
    const Floats dy_before = checks_ ? dy.get() : Floats();
    log_.launch(::activation_backward, x.grid(), dim3(kItems), dy.data(), y ? y->data() : nullptr, z.data(), n.device(),
                g.target(), sums_.data(), x, layer.activation);
    log_.launch(sum_gradients, dim3(workload::groups(x.channels, kItems)), dim3(kItems), sums_.data(), dbeta.target(),
                dgamma ? dgamma->target() : nullptr, x.channels, x.parts());
    if (!checks_) return;
    check("gradient in front of the activation", g.get(),
          activation_backward_of(dy_before, y ? &y->get() : nullptr, x.channels, x.padded, layer.activation));
    const auto expected = gradient_sums(g.get(), z.get(), n.host(), x.channels);
    check("gradient by beta", dbeta.get(), expected.first);
    if (dgamma) check("gradient by gamma", dgamma->get(), expected.second);
  }
  void batch_norm_backward(const Layer& layer, const FloatTensor& g, const FloatTensor& z, const NormalisationArrays& n,
                           const FloatTensor* dgamma, const FloatTensor& dbeta, HalfTensor& dz) {
    const Rows x = rows(layer.shape.rows(), layer.shape.filters, layer.padded);
    log_.launch(::batch_norm_backward, x.grid(), dim3(kItems), g.data(), z.data(), n.device(),
                dgamma ? dgamma->data() : nullptr, dbeta.data(), dz.target(), x);
    if (!checks_) return;
    check_halves("gradient by the convolution's output", dz.get(),
                 batch_norm_backward_of(g.get(), z.get(), n.host(), dgamma ? dgamma->get() : Floats(), dbeta.get(), x.channels,
                                        x.padded));
  }

  void max_pooling(const Layer& layer, const HalfTensor& from, HalfTensor& y, const ByteArray& taps) {
    const Rows x = rows(layer.shape.rows(), layer.channels, layer.padded);
    log_.launch(::max_pooling, x.grid(), dim3(kItems), from.data(), y.target(), taps.data(), layer.shape, x);
    if (!checks_) return;
    Bytes expected;
    program_.check_equal(layer_ + ": output", y.get(), max_pooled(layer.shape, from.get(), expected));
    program_.check_equal(layer_ + ": largest of the window", taps.download(), expected);
  }
  void max_pooling_backward(const Layer& layer, const FloatTensor& dy, const ByteArray& taps, FloatTensor& dx) {
    const Convolution& window = layer.shape;
    const Rows x = rows(window.images * window.height * window.width, layer.channels, layer.padded);
    log_.launch(::max_pooling_backward, x.grid(), dim3(kItems), dy.data(), taps.data(), dx.target(), window, x);
    if (checks_) check("gradient", dx.get(), max_pooled_backward(window, dy.get(), taps.download(), layer.channels));
  }
  void average_pooling(const Layer& layer, const HalfTensor& from, HalfTensor& y) {
    const unsigned area = layer.shape.height * layer.shape.width;
    const Rows x = rows(layer.shape.images, layer.channels, layer.padded);
    log_.launch(::average_pooling, x.grid(), dim3(kItems), from.data(), y.target(), area, x);
    if (checks_) check_halves("output", y.get(), average_pooled(from.get(), area, layer.padded));
  }
  void average_pooling_backward(const Layer& layer, const FloatTensor& dy, FloatTensor& dx) {
    const unsigned area = layer.shape.height * layer.shape.width;
    const Rows x = rows(layer.shape.images * area, layer.channels, layer.padded);
    log_.launch(::average_pooling_backward, x.grid(), dim3(kItems), dy.data(), dx.target(), area, x);
    if (checks_) check("gradient", dx.get(), average_pooled_backward(dy.get(), area, layer.channels));
  }

  void loss(Loss kind, const FloatTensor& y, const FloatTensor& wanted, FloatTensor& loss, FloatTensor& dy) {
    const auto images = static_cast<unsigned>(loss.size()), outputs = static_cast<unsigned>(y.size() / images);
    if (kind == Loss::kSoftmaxCrossEntropy) {
      log_.launch(softmax_cross_entropy, dim3(images), dim3(kItems), y.data(), wanted.data(), loss.target(), dy.target(),
                  outputs, images);
    } else if (kind == Loss::kLogistic) {
      log_.launch(logistic_loss, dim3(workload::groups(images, kItems)), dim3(kItems), y.data(), loss.target(), dy.target(),
                  images);
    } else {
      log_.launch(squared_error, dim3(images), dim3(kItems), y.data(), wanted.data(), loss.target(), dy.target(), outputs,
                  images);
    }
    if (!checks_) return;
    const auto expected = loss_of(kind, y.get(), wanted.get(), images);
    check("loss", loss.get(), expected.first);
    check("gradient of the loss", dy.get(), expected.second);
  }
  /// Updates the weights by gradient descent. Unless `halves` is null, it receives a copy of the weights, in lines of `columns`
  /// elements that begin `pitch` elements apart.
  void descend(FloatTensor& weights, const FloatTensor& gradient, FloatTensor& velocity, HalfTensor* halves, unsigned columns,
               unsigned pitch, bool ascends, float decay) {
    const Floats before = checks_ ? weights.get() : Floats(), velocity_before = checks_ ? velocity.get() : Floats();
    const float share = (ascends ? -1.0f : 1.0f) / kLossScale;
    log_.launch(gradient_descent, dim3(workload::groups(weights.size(), kItems)), dim3(kItems), weights.target(),
                gradient.data(), velocity.target(), halves ? halves->target() : nullptr, static_cast<unsigned>(weights.size()),
                columns, pitch, share, decay);
    if (!checks_) return;
    const auto expected =
        gradient_descent_of(before, gradient.get(), velocity_before, static_cast<double>(share), static_cast<double>(decay));
    check("weights", weights.get(), expected.first);
    check("velocity", velocity.get(), expected.second);
    if (!halves) return;
    Halves lines(halves->size());
    for (size_t i = 0; i < weights.size(); ++i) lines[i / columns * pitch + i % columns] = static_cast<Half>(weights.get()[i]);
    program_.check_equal(layer_ + ": weights in halves", halves->get(), lines);
  }

 private:
  static size_t most_channels(const std::vector<Layer>& layers) {
    size_t most = 0;
    for (const Layer& layer : layers) most = std::max(most, size_t{layer.padded});
    return most;
  }
  /// Returns a distribution of rows with eight rows per work-item.
  static Rows rows(unsigned count, unsigned channels, unsigned padded) {
    unsigned shift = 4;
    while (shift < 6 && 1u << shift < padded) ++shift;
    return {count, channels, padded, shift, 8 * (kItems >> shift)};
  }
  /// Returns the distribution for sums over all rows of a layer's output, with at most kMostParts parts.
  static Rows summed_rows(const Layer& layer) {
    Rows x = rows(layer.shape.rows(), layer.shape.filters, layer.padded);
    x.part = std::max(x.part, workload::groups(x.rows, kMostParts));
    return x;
  }

  Factors factors(const HalfTensor& halves) const { return conv::factors(halves.get(), products_.on_matrix_units()); }
  void check(const std::string& what, const Floats& got, const Expected& expected) {
    program_.check_near(layer_ + ": " + what, got, expected.values, [&](size_t i) { return expected.bound(i); });
  }
  /// Compares results rounded to halves. `got` may be longer than `expected`: arrays shared by layers have the largest layer's
  /// size.
  void check_halves(const std::string& what, Halves got, const Expected& expected) {
    got.resize(expected.values.size());
    program_.check_near(layer_ + ": " + what, got, expected.values, [&](size_t i) {
      const double bound = expected.bound(i);
      return bound + half_rounding(std::fabs(expected.values[i]) + bound);
    });
  }

  workload::Program& program_;
  bool checks_, keeps_;
  workload::LayerLog log_;
  std::string layer_;
  Products products_;
  workload::DeviceArray<float> sums_;
};

}  // namespace lowered_cnn
