// STREAM cluster: computes the gain from opening a centre, as in Rodinia's streamcluster (pgain). Each point's distance to the
// candidate is compared with the point's current cost; a point that would gain is marked, and other points add to the savings
// from closing their centre. As in Rodinia, each point writes a row of `centres` + 1 numbers, which the host sums. Rodinia's
// default is 65536 points of 256 dimensions and 10 to 20 centres. Coordinates are stored dimension by dimension, so that
// adjacent lanes read adjacent values.
//
//   tuned   the candidate's coordinates, the same for all lanes, are read by scalar loads
//   suite   all coordinates are read by vector loads, as by Rodinia's kernel on a GPU without scalar loads
#include <hip/hip_runtime.h>

#include "workloads/common/program.h"
#include "workloads/suite/operands.h"

constexpr unsigned group_size = 256;

// Adds the cost of moving a point to the candidate at this distance (negative: a gain) to the point's row of `work`.
static __device__ __forceinline__ void add_cost(float distance, const float* __restrict__ weights,
                                                const float* __restrict__ costs, const unsigned* __restrict__ assigned,
                                                float* __restrict__ work, unsigned char* __restrict__ switches,
                                                unsigned centres, unsigned point) {
  const float change = distance * weights[point] - costs[point];
  float* const row = work + size_t{point} * (centres + 1);
  if (change < 0) {
    switches[point] = 1;
    row[centres] += change;
  } else {
    row[assigned[point]] += change;
  }
}

extern "C" __global__ void __launch_bounds__(group_size)
    compute_cost(const float* __restrict__ coordinates, const float* __restrict__ weights, const float* __restrict__ costs,
                 const unsigned* __restrict__ assigned, float* __restrict__ work, unsigned char* __restrict__ switches,
                 unsigned points, unsigned dimensions, unsigned centres, unsigned candidate) {
  const unsigned point = blockIdx.x * group_size + threadIdx.x;
  if (point >= points) return;
  float distance = 0;
#pragma unroll 4
  for (unsigned d = 0; d < dimensions; ++d) {
    const float difference = coordinates[size_t{d} * points + point] - coordinates[size_t{d} * points + candidate];
    distance += difference * difference;
  }
  add_cost(distance, weights, costs, assigned, work, switches, centres, point);
}

extern "C" __global__ void __launch_bounds__(group_size)
    pgain(const float* __restrict__ coordinates, const float* __restrict__ weights, const float* __restrict__ costs,
          const unsigned* __restrict__ assigned, float* __restrict__ work, unsigned char* __restrict__ switches,
          unsigned points, unsigned dimensions, unsigned centres, unsigned candidate) {
  const unsigned point = blockIdx.x * group_size + threadIdx.x;
  if (point >= points) return;
  float distance = 0;
  for (unsigned d = 0; d < dimensions; ++d) {
    const float difference =
        coordinates[size_t{d} * points + point] - coordinates[workload::unknown(size_t{d} * points + candidate)];
    distance += difference * difference;
  }
  add_cost(distance, weights, costs, assigned, work, switches, centres, point);
}

int main(int argc, char** argv) {
  workload::Program program("streamcluster", "Gain from opening a centre of a clustering",
                            "Opportunistic computing in GPU architectures (ISCA '19), Table 3: STREAM cluster of Rodinia");
  int points = 0, dimensions = 0, centres = 0;
  std::string form;
  program.size(points, "points", "points", {2000, 8192, 65536}, 2, 1 << 24);
  program.size(dimensions, "dimensions", "dimensions of a point", {16, 64, 256}, 1, 1 << 14);
  program.size(centres, "centres", "open centres", {5, 15, 15}, 1, 1024);
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  return program.run(argc, argv, [&] {
    if (centres >= points) throw workload::UsageError("--centres has to be less than --points");
    const auto n = static_cast<size_t>(points), width = static_cast<size_t>(centres) + 1;
    const std::vector<float> coordinates = program.random().uniform_values(n * dimensions, 0, 1);
    const std::vector<float> weights = program.random().uniform_values(n, 0.5f, 1.5f);
    const auto distance = [&](size_t a, size_t b) {
      double sum = 0;
      for (int d = 0; d < dimensions; ++d)
        sum += std::pow(static_cast<double>(coordinates[d * n + a]) - coordinates[d * n + b], 2);
      return sum;
    };
    // The first points are the centres; the last point is the candidate.
    std::vector<float> costs(n);
    std::vector<unsigned> assigned(n);
    for (size_t i = 0; i < n; ++i) {
      double least = INFINITY;
      for (unsigned centre = 0; centre < static_cast<unsigned>(centres); ++centre) {
        const double here = distance(i, centre);
        if (here < least) least = here, assigned[i] = centre;
      }
      costs[i] = static_cast<float>(least * weights[i]);
    }
    const workload::DeviceArray<float> device_coordinates("the points", coordinates), device_weights("the weights", weights),
        device_costs("the costs", costs), work("the gains", n * width);
    const workload::DeviceArray<unsigned> device_assigned("the centres", assigned);
    const workload::DeviceArray<unsigned char> switches("the switches", n);
    program.measure(
        [&] {
          work.clear();
          switches.clear();
        },
        [&] {
          (form == "suite" ? pgain : compute_cost)<<<workload::groups(n, group_size), group_size>>>(
              device_coordinates.data(), device_weights.data(), device_costs.data(), device_assigned.data(), work.data(),
              switches.data(), points, dimensions, centres, points - 1);
        });
    const std::vector<float> got = work.download();
    double gain = 0;
    for (size_t i = width - 1; i < got.size(); i += width) gain -= got[i];
    program.report("gain", gain);
    if (!program.checks()) return;
    const std::vector<unsigned char> switched = switches.download();
    std::vector<double> expected(got.size()), bounds(got.size());
    for (size_t i = 0; i < n; ++i) {
      const double there = distance(i, n - 1) * weights[i], change = there - costs[i];
      // Each difference and each square is rounded. If the error bound leaves the sign of the change open, the GPU's choice for
      // the point is accepted.
      const double error = workload::sum_error(dimensions + 5.0) * (there + costs[i] + dimensions * 0x1p-23);
      const bool switches_here = std::fabs(change) <= error ? switched[i] != 0 : change < 0;
      const size_t slot = i * width + (switches_here ? width - 1 : assigned[i]);
      expected[slot] = change;
      bounds[slot] = error;
      program.check_true("whether a point switches", (switched[i] != 0) == switches_here);
    }
    program.check_near("the gains", got, expected, [&](size_t i) { return bounds[i]; });
  });
}
