// The host as a backend of Network: the reference's values, rounded to single precision.
#pragma once

#include <algorithm>

#include "workloads/resnet18/network.h"

namespace resnet18 {

class Host {
 public:
  using Array = Floats;
  using ByteArray = Bytes;

  std::unique_ptr<Array> make(const std::string&, std::size_t count) { return std::make_unique<Array>(count); }
  std::unique_ptr<ByteArray> make_bytes(const std::string&, std::size_t count) { return std::make_unique<ByteArray>(count); }
  void put(Array& array, const Floats& values) { array = values; }
  Floats get(const Array& array) const { return array; }
  void begin(const std::string&, const char*) {}

  void convolution(const Shape& s, const Array& x, const Array& weights, Array& z) {
    set(z, resnet18::convolution(s, x, weights));
  }
  void convolution_backward_data(const Shape& s, const Array& dz, const Array& weights, Array& dx, bool accumulate) {
    set(dx, resnet18::convolution_backward_data(s, dz, weights, dx, accumulate));
  }
  void convolution_backward_weights(const Shape& s, const Array& dz, const Array& x, Array& dw) {
    set(dw, resnet18::convolution_backward_weights(s, dz, x));
  }
  /// Does not update the running statistics, as the host's run ends before the next step.
  void statistics(const Array& x, Array& mean, Array& variance, Array&, Array&, std::size_t channels, std::size_t count) {
    const Statistics s = batch_norm_statistics_of(x, channels, count);
    set(mean, s.mean);
    set(variance, s.variance);
  }
  void normalise(const Array& x, const Array& mean, const Array& variance, const Array& gamma, const Array& beta,
                 const Array* residual, Array& y, std::size_t channels, std::size_t count, bool relu) {
    set(y, batch_norm_relu_of(x, mean, variance, gamma, beta, residual, channels, count, relu));
  }
  void normalise_backward(const Array& dy, const Array& y, const Array& x, const Array& mean, const Array& variance,
                          const Array& gamma, Array& g, Array& dgamma, Array& dbeta, Array& dx, std::size_t channels,
                          std::size_t count, bool relu) {
    g = relu_backward(dy, y, channels * count, relu);
    const auto sums = batch_norm_backward_sums(g, x, mean, variance, channels, count);
    set(dgamma, sums.first);
    set(dbeta, sums.second);
    set(dx, batch_norm_backward_data_of(g, x, mean, variance, gamma, dgamma, dbeta, channels, count));
  }
  void max_pooling(const Shape& s, const Array& x, Array& y, ByteArray& taps) { y = max_pooling_of(s, x, taps); }
  void max_pooling_backward(const Shape& s, const Array& dy, const ByteArray& taps, Array& dx) {
    set(dx, max_pooling_backward_of(s, dy, taps));
  }
  void average_pooling(const Shape& s, const Array& x, Array& y) {
    set(y, average_pooling_of(x, s.inputs * s.images, s.height * s.width));
  }
  void average_pooling_backward(const Shape& s, const Array& dy, Array& dx) {
    set(dx, average_pooling_backward_of(dy, s.inputs * s.images, s.height * s.width));
  }
  void fully_connected(const Shape& s, const Array& weights, const Array& bias, const Array& x, Array& y) {
    Expected expected = resnet18::convolution(s, x, weights);
    add_bias(expected, bias, s.images);
    set(y, expected);
  }
  void fully_connected_backward(const Shape& s, const Array& weights, const Array& x, const Array& dy, Array& dw, Array& dbias,
                                Array& dx) {
    set(dw, resnet18::convolution_backward_weights(s, dy, x));
    set(dbias, row_sums(dy, s.outputs, s.images));
    set(dx, resnet18::convolution_backward_data(s, dy, weights, dx, false));
  }
  void loss(const Array& y, const std::vector<unsigned>& labels, Array& loss, Array& dy, std::size_t classes) {
    const auto both = softmax_cross_entropy_of(y, labels, classes);
    set(loss, both.first);
    set(dy, both.second);
  }
  void descend(Array& weights, const Array& gradient, Array& velocity, float decay, bool pruned) {
    const auto both = gradient_descent_of(weights, gradient, velocity, decay, pruned);
    set(weights, both.first);
    set(velocity, both.second);
  }

 private:
  static void set(Array& array, const Expected& expected) { array.assign(expected.values.begin(), expected.values.end()); }
};

}  // namespace resnet18
