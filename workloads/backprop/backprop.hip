// One training step of a network with one hidden layer of 16 units and one output. As in Rodinia's Backprop, the GPU sums the
// hidden layer's inputs by workgroup and, after the host has computed the hidden units' errors, adjusts the first layer's
// weights. Learning rate and momentum are Rodinia's, 0.3 each; the default size is MGPUSim's.
//
//   tuned   a workgroup sums the products of 256 input units in registers before it adds them in LDS; a work-item adjusts four
//           weights of a unit
//   suite   the kernels of Rodinia: one weight per work-item, 16 x 16 in a workgroup. In the first, inputs and products pass
//           through LDS, where products are added. Rodinia's also stores the products over the weights, which are then copied
//           to the GPU again; here they are not stored
#include <hip/hip_runtime.h>

#include "workloads/common/program.h"

// units_of_group is that of the tuned form; the suite's is rows_of_group.
constexpr unsigned hidden = 16, group_size = 256, units_of_group = 256, rows_of_group = group_size / hidden;
constexpr float rate = 0.3f, momentum = 0.3f;

// parts[group][h] = the sum over the group's units of x[unit] * weights[unit][h]. Adjacent lanes read adjacent weights.
__global__ void __launch_bounds__(group_size)
    layer_forward(const float* __restrict__ x, const float* __restrict__ weights, float* __restrict__ parts, unsigned units) {
  __shared__ float sums[rows_of_group][hidden];
  const unsigned h = threadIdx.x % hidden, row = threadIdx.x / hidden;
  float sum = 0;
#pragma unroll 8
  for (unsigned i = row; i < units_of_group; i += rows_of_group) {
    const unsigned unit = blockIdx.x * units_of_group + i;
    if (unit < units) sum += x[unit] * weights[size_t{unit} * hidden + h];
  }
  sums[row][h] = sum;
  __syncthreads();
#pragma unroll
  for (unsigned distance = rows_of_group / 2; distance > 0; distance /= 2) {
    if (row < distance) sums[row][h] += sums[row + distance][h];
    __syncthreads();
  }
  if (row == 0) parts[blockIdx.x * hidden + h] = sums[0][h];
}

// change = rate * delta[h] * x[unit] + momentum * change; weight += change. A work-item updates four weights of a unit.
__global__ void __launch_bounds__(group_size)
    adjust_weights(const float* __restrict__ x, const float4* __restrict__ deltas, float4* __restrict__ weights,
                   float4* __restrict__ changes, unsigned units) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i >= units * (hidden / 4)) return;
  const float4 delta = deltas[i % (hidden / 4)];
  const float step = rate * x[i / (hidden / 4)];
  float4 change = changes[i], weight = weights[i];
  change.x = step * delta.x + momentum * change.x, weight.x += change.x;
  change.y = step * delta.y + momentum * change.y, weight.y += change.y;
  change.z = step * delta.z + momentum * change.z, weight.z += change.z;
  change.w = step * delta.w + momentum * change.w, weight.w += change.w;
  changes[i] = change, weights[i] = weight;
}

// As layer_forward, with a product per work-item.
__global__ void __launch_bounds__(group_size)
    layer_forward_words(const float* __restrict__ x, const float* __restrict__ weights, float* __restrict__ parts,
                        unsigned units) {
  __shared__ float inputs[rows_of_group], products[rows_of_group][hidden];
  const unsigned h = threadIdx.x % hidden, row = threadIdx.x / hidden, unit = blockIdx.x * rows_of_group + row;
  if (h == 0) inputs[row] = unit < units ? x[unit] : 0;
  products[row][h] = unit < units ? weights[size_t{unit} * hidden + h] : 0;
  __syncthreads();
  products[row][h] *= inputs[row];
  __syncthreads();
#pragma unroll
  for (unsigned distance = 1; distance < rows_of_group; distance *= 2) {
    if (row % (2 * distance) == 0) products[row][h] += products[row + distance][h];
    __syncthreads();
  }
  if (row == 0) parts[blockIdx.x * hidden + h] = products[0][h];
}

// As adjust_weights, with a weight per work-item.
__global__ void __launch_bounds__(group_size)
    adjust_words(const float* __restrict__ x, const float* __restrict__ deltas, float* __restrict__ weights,
                 float* __restrict__ changes, unsigned units) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i >= units * hidden) return;
  const float change = rate * deltas[i % hidden] * x[i / hidden] + momentum * changes[i];
  changes[i] = change;
  weights[i] += change;
}

static double squash(double x) { return 1 / (1 + std::exp(-x)); }

// Returns the errors of the hidden units, computed from their inputs, the output weights and the target.
static std::vector<float> hidden_deltas(const std::vector<double>& sums, const std::vector<float>& output_weights,
                                        double target) {
  double output_sum = output_weights[hidden];
  for (unsigned h = 0; h < hidden; ++h) output_sum += output_weights[h] * squash(sums[h]);
  const double output = squash(output_sum), output_delta = output * (1 - output) * (target - output);
  std::vector<float> deltas(hidden);
  for (unsigned h = 0; h < hidden; ++h) {
    deltas[h] = static_cast<float>(squash(sums[h]) * (1 - squash(sums[h])) * output_weights[h] * output_delta);
  }
  return deltas;
}

int main(int argc, char** argv) {
  workload::Program program("backprop", "A training step of a network with one hidden layer",
                            "LazyGPU (ISCA '25), Table 3: Backprop of Rodinia");
  int inputs = 0;
  program.size(inputs, "inputs", "input units", {10'000, 65536, 1 << 17}, 1, 1 << 26);
  std::string form;
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  program.takes_sparsity("the inputs");
  return program.run(argc, argv, [&] {
    // The first unit is the bias.
    const size_t units = size_t(inputs) + 1, count = units * hidden;
    std::vector<float> x = program.sparsified(program.random().uniform_values(inputs, 0, 1));
    x.insert(x.begin(), 1.0f);
    // Small weights, so that the hidden units do not saturate.
    const float scale = 1 / std::sqrt(static_cast<float>(units));
    const std::vector<float> weights = program.random().uniform_values(count, -scale, scale);
    const std::vector<float> changes = program.random().uniform_values(count, -scale / 100, scale / 100);
    const std::vector<float> output_weights = program.random().uniform_values(hidden + 1, -1, 1);

    const bool suite = form == "suite";
    const unsigned groups = workload::groups(units, suite ? rows_of_group : units_of_group);
    const workload::DeviceArray<float> device_x("the inputs", x), device_weights("the weights", count),
        device_changes("the changes", count);
    const workload::DeviceArray<float> parts("partial sums", size_t{groups} * hidden), device_deltas("the errors", hidden);
    std::vector<double> sums;
    std::vector<float> deltas;
    program.measure([&] { device_weights.upload(weights), device_changes.upload(changes); },
                    [&] {
                      (suite ? layer_forward_words : layer_forward)<<<groups, group_size>>>(
                          device_x.data(), device_weights.data(), parts.data(), units);
                      sums.assign(hidden, 0);
                      const std::vector<float> all_parts = parts.download();
                      for (size_t i = 0; i < all_parts.size(); ++i) sums[i % hidden] += all_parts[i];
                      deltas = hidden_deltas(sums, output_weights, 0.1);
                      device_deltas.upload(deltas);
                      if (suite) {
                        adjust_words<<<workload::groups(count, group_size), group_size>>>(
                            device_x.data(), device_deltas.data(), device_weights.data(), device_changes.data(), units);
                        return;
                      }
                      const auto four = [](float* data) { return reinterpret_cast<float4*>(data); };
                      adjust_weights<<<workload::groups(count / 4, group_size), group_size>>>(
                          device_x.data(), four(device_deltas.data()), four(device_weights.data()), four(device_changes.data()),
                          units);
                    });
    if (!program.checks()) return;
    std::vector<double> right_sums(hidden), magnitudes(hidden), right_weights(count), right_changes(count);
    for (size_t i = 0; i < count; ++i) {
      const double product = double{x[i / hidden]} * weights[i];
      right_sums[i % hidden] += product, magnitudes[i % hidden] += std::fabs(product);
      right_changes[i] = double{rate} * x[i / hidden] * deltas[i % hidden] + double{momentum} * changes[i];
      right_weights[i] = weights[i] + right_changes[i];
    }
    // A group's sum has at most 256 products; the sums of the groups are added in double precision.
    program.check_near("the hidden unit", sums, right_sums,
                       [&](size_t i) { return workload::sum_error(units_of_group) * magnitudes[i]; });
    const auto change_error = [&](size_t i) {
      return 3 * 0x1p-24 * (std::fabs(rate * x[i / hidden] * deltas[i % hidden]) + std::fabs(momentum * changes[i]));
    };
    program.check_near("the change", device_changes.download(), right_changes, change_error);
    program.check_near("the weight", device_weights.download(), right_weights,
                       [&](size_t i) { return change_error(i) + 0x1p-24 * std::fabs(right_weights[i]); });
  });
}
