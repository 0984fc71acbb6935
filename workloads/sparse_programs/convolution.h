// Graph convolution network of lacuna/sida_applications.h: features of 8 bits are summed over neighbours, multiplied by a
// layer's weights and passed through a ReLU, in one kernel.
#pragma once

#include <utility>

#include "workloads/common/error.h"
#include "workloads/sparse_programs/product.h"
#include "workloads/sparse_programs/run.h"

namespace workload {

constexpr unsigned layers = 2, most_features = 64;
constexpr int feature_shift = 4;

__device__ inline int saturated_8(int value) { return max(-128, min(127, value)); }

/// `width` adjacent lanes share a vertex: each lane computes one feature of the sums and of the result.
template <unsigned width>
__global__ void __launch_bounds__(group_size)
    convolve(Rows rows, const signed char* __restrict__ features, const signed char* __restrict__ weights, unsigned count,
             unsigned vertices, signed char* __restrict__ next) {
  constexpr unsigned at_a_time = group_size / width;
  __shared__ signed char layer[most_features * most_features];
  __shared__ int gathered[at_a_time][width];
  for (unsigned i = threadIdx.x; i < count * count; i += group_size) layer[i] = weights[i];
  const unsigned feature = threadIdx.x % width, place = threadIdx.x / width;
  for (unsigned first = blockIdx.x * at_a_time; first < vertices; first += gridDim.x * at_a_time) {
    const unsigned vertex = first + place;
    const bool has_one = vertex < vertices && feature < count;
    int sum = 0;
    if (has_one) {
#pragma unroll 4
      for (unsigned entry = rows.offsets[vertex], end = rows.offsets[vertex + 1]; entry < end; ++entry)
        sum += features[size_t(rows.columns[entry]) * count + feature];
    }
    __syncthreads();
    gathered[place][feature] = saturated_8(sum >> feature_shift);
    __syncthreads();
    if (!has_one) continue;
    int mixed = 0;
    for (unsigned i = 0; i < count; ++i) mixed += gathered[place][i] * layer[i * count + feature];
    next[size_t(vertex) * count + feature] = static_cast<signed char>(saturated_8(max(mixed >> feature_shift, 0)));
  }
}

inline ProgramRun run_gcn(Program& program, const Application& application, const RunOptions& options) {
  const unsigned vertices = application.rows(), count = application.features();
  if (count > most_features) throw UsageError("--features: kernels take at most " + std::to_string(most_features));
  const Product product(application.by_columns(), options.form);
  const std::vector<signed char> start = application.contents<signed char>("features", size_t(vertices) * count);
  const DeviceArray<signed char> features("the features", start), next("the next features", start.size());
  const DeviceArray<signed char> weights("the weights",
                                         application.contents<signed char>("weights", size_t(layers) * count * count));
  unsigned width = 1;
  while (width < count) width *= 2;
  const unsigned workgroups = std::min(groups(size_t(vertices) * width, group_size), Partials::most_groups);
  const auto kernel = width <= 8 ? convolve<8> : width == 16 ? convolve<16> : width == 32 ? convolve<32> : convolve<64>;
  ProgramRun run;
  program.measure([&] { features.upload(start); },
                  [&] {
                    signed char *from = features.data(), *to = next.data();
                    for (run.iterations = 0; run.iterations < application.limit(); ++run.iterations) {
                      const signed char* const of_layer = weights.data() + run.iterations % layers * count * count;
                      kernel<<<workgroups, group_size>>>(product.rows(), from, of_layer, count, vertices, to);
                      std::swap(from, to);
                    }
                  });
  run.check = [&program, result = (run.iterations % 2 == 0 ? features : next).download()](const ApplicationResult& expected) {
    program.check_equal("the feature", result, expected.elements<signed char>());
  };
  program.report("form", "features_" + std::to_string(width));
  return run;
}

}  // namespace workload
