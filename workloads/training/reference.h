// Expected results of a layer's training step.
#pragma once

#include <cmath>

#include "workloads/common/program.h"
#include "workloads/common/tensor.h"
#include "workloads/training/layers.h"

namespace training {

constexpr float kRate = 0x1p-7f;  ///< learning rate

/// A layer's tensors without gaps: X and its gradient [in][pixel], Y and its gradient [out][pixel], weights [out][in, tap].
struct Input {
  std::vector<float> x, weights, gradient;
};
struct Output {
  std::vector<float> y, of_input, of_weights, weights;
};

/// Returns random input; X and weights are 0 or normal f16 numbers.
inline Input make_input(workload::Random& random, const Layer& layer) {
  Input input{std::vector<float>(size_t{1} * layer.in * layer.in_pixels()),
              std::vector<float>(size_t{1} * layer.out * layer.in * layer.taps()),
              random.uniform_values(size_t{1} * layer.out * layer.out_pixels(), -1, 1)};
  for (float& value : input.x) value = static_cast<float>(static_cast<int>(random.below(257)) - 128) / 128;
  for (float& value : input.weights) value = static_cast<float>(static_cast<int>(random.below(513)) - 256) / 1024;
  return input;
}

/// Calls visit(out, in, tap, pixel of Y, pixel of X) for every product of a convolution.
template <class Visit>
void each_product(const Layer& layer, Visit visit) {
  const int size = layer.out_size();
  for (int out = 0; out < layer.out; ++out) {
    for (int in = 0; in < layer.in; ++in) {
      for (int tap = 0; tap < layer.taps(); ++tap) {
        for (int pixel = 0; pixel < layer.out_pixels(); ++pixel) {
          const int row = pixel / size % size * layer.stride - layer.padding + tap / layer.kernel;
          const int column = pixel % size * layer.stride - layer.padding + tap % layer.kernel;
          if (row < 0 || row >= layer.size || column < 0 || column >= layer.size) continue;
          visit(out, in, tap, pixel, (pixel / (size * size) * layer.size + row) * layer.size + column);
        }
      }
    }
  }
}

/// Checks Y against X and the weights; the gradients against the Y that the GPU has computed, whose signs define which elements
/// pass the ReLU; and the new weights against the gradient that the GPU has computed.
inline void check(workload::Program& program, const Layer& layer, const Input& input, const Output& output, bool in_halves) {
  workload::Expected y(output.y.size()), of_input(output.of_input.size()), of_weights(output.of_weights.size());
  const size_t in_pixels = layer.in_pixels(), out_pixels = layer.out_pixels(), taps = layer.taps();
  const auto add = [](workload::Expected& to, size_t i, double a, double b) {
    to.values[i] += a * b;
    to.magnitudes[i] += std::fabs(a * b);
  };
  each_product(layer, [&](size_t out, size_t in, size_t tap, size_t pixel_out, size_t pixel_in) {
    const size_t weight = (out * layer.in + in) * taps + tap, from = in * in_pixels + pixel_in,
                 to = out * out_pixels + pixel_out;
    add(y, to, input.weights[weight], input.x[from]);
    const float gradient = output.y[to] > 0 ? input.gradient[to] : 0.0f;
    add(of_weights, weight, gradient, input.x[from]);
    if (!layer.first()) add(of_input, from, gradient, input.weights[weight]);
  });
  for (double& value : y.values) value = std::max(value, 0.0);
  y.factor = workload::sum_factor(static_cast<double>(layer.in) * static_cast<double>(taps));
  of_weights.factor = workload::sum_factor(static_cast<double>(out_pixels));
  of_input.factor = workload::sum_factor(static_cast<double>(layer.out) * static_cast<double>(taps));
  // A result in f16 is rounded once: half a unit in the last place, or half the smallest denormal number.
  const double rounding = in_halves ? 1.01 * 0x1p-11 : 0, denormal = in_halves ? 0x1p-25 : 0;
  program.check_near(layer.name + ": Y", output.y, y.values,
                     [&](size_t i) { return y.bound(i) + rounding * std::fabs(y.values[i]) + denormal; });
  program.check_near(layer.name + ": the input's gradient", output.of_input, of_input.values,
                     [&](size_t i) { return of_input.bound(i); });
  program.check_near(layer.name + ": the weights' gradient", output.of_weights, of_weights.values,
                     [&](size_t i) { return of_weights.bound(i); });
  std::vector<double> weights(output.weights.size());
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = input.weights[i] - double{kRate} * output.of_weights[i];
  program.check_near(layer.name + ": the weights", output.weights, weights, [&](size_t i) {
    return 0x1p-23 * (std::fabs(input.weights[i]) + kRate * std::fabs(output.of_weights[i]));
  });
}

}  // namespace training
