// The initialisation of k-means++: rows of the matrix are points; each iteration chooses another centre, with a probability
// proportional to its squared distance from the nearest of the previous centres. "Distance" below is the squared one, computed
// over stored entries only.
#pragma once

#include <utility>

#include "workloads/sparse_programs/product.h"
#include "workloads/sparse_programs/run.h"

namespace workload {

struct CentreState {
  unsigned long long seed;
  unsigned centre, before;
};

/// Removes the previous centre's row from the dense point, and inserts the current centre's row.
template <unsigned size>
__global__ void __launch_bounds__(size)
    place_centre(Rows rows, const double* __restrict__ values, CentreState* state, double* point) {
  for (unsigned entry = rows.offsets[state->before] + threadIdx.x, end = rows.offsets[state->before + 1]; entry < end;
       entry += size)
    point[rows.columns[entry]] = 0;
  __syncthreads();
  for (unsigned entry = rows.offsets[state->centre] + threadIdx.x, end = rows.offsets[state->centre + 1]; entry < end;
       entry += size)
    point[rows.columns[entry]] = values[entry];
}

/// Sets each row's distance to its distance from the point if that is smaller.
struct NearestStep {
  using Sum = double;
  static constexpr unsigned totals = 1;
  const double *values, *point;
  double* nearest;

  __device__ double term(unsigned entry, unsigned column) const {
    const double difference = point[column] - values[entry];
    return difference * difference;
  }
  __device__ void row(unsigned row, double sum, double*) const { nearest[row] = fmin(nearest[row], sum); }
};

/// Number of successive rows whose distances a workgroup sums for the choice of a centre.
constexpr unsigned choice_rows = 4 * group_size;

template <unsigned rows_each>
__global__ void __launch_bounds__(group_size)
    sum_distances(const double* __restrict__ nearest, unsigned count, double* __restrict__ sums) {
  __shared__ double scratch[group_size];
  double sum = 0;
  for (unsigned i = 0; i < rows_each; ++i) {
    const unsigned row = blockIdx.x * rows_each * group_size + i * group_size + threadIdx.x;
    if (row < count) sum += nearest[row];
  }
  sum = sum_of_group(sum, scratch);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Inclusive prefix sum over the workgroup. `scratch`: LDS with one element per work-item.
__device__ inline double sum_up_to(double value, double* scratch) {
  scratch[threadIdx.x] = value;
  __syncthreads();
  for (unsigned distance = 1; distance < group_size; distance *= 2) {
    const double other = threadIdx.x >= distance ? scratch[threadIdx.x - distance] : 0;
    __syncthreads();
    scratch[threadIdx.x] += other;
    __syncthreads();
  }
  const double sum = scratch[threadIdx.x];
  __syncthreads();
  return sum;
}

/// Returns the index of the first of `count` values at which `base` plus the prefix sum exceeds `limit`, or `count` if there is
/// none; adds the sum of the preceding values to `base`.
__device__ inline unsigned first_beyond(const double* values, unsigned count, double limit, double& base, double* scratch) {
  __shared__ unsigned found;
  __shared__ double before;
  for (unsigned begin = 0; begin < count; begin += group_size) {
    const unsigned i = begin + threadIdx.x;
    const double value = i < count ? values[i] : 0, sum = base + sum_up_to(value, scratch);
    if (threadIdx.x == 0) found = count;
    __syncthreads();
    if (i < count && limit < sum) atomicMin(&found, i);
    __syncthreads();
    if (found == i) before = sum - value;
    if (threadIdx.x == group_size - 1) scratch[0] = sum;
    __syncthreads();
    base = found != count ? before : scratch[0];
    const unsigned result = found;
    __syncthreads();
    if (result != count) return result;
  }
  return count;
}

/// Chooses the next centre with the random generator of the accelerator's program kpp: one workgroup finds the partial sum in
/// which the limit lies, and then the row within that sum.
template <unsigned rows_each>
__global__ void __launch_bounds__(group_size)
    choose_centre(const double* __restrict__ nearest, unsigned count, const double* __restrict__ sums, unsigned groups,
                  CentreState* state) {
  __shared__ double scratch[group_size];
  __shared__ double total;
  double sum = 0;
  for (unsigned i = threadIdx.x; i < groups; i += group_size) sum += sums[i];
  sum = sum_of_group(sum, scratch);
  if (threadIdx.x == 0) total = sum;
  __syncthreads();
  const unsigned long long seed = state->seed * 6364136223846793005ull + 1442695040888963407ull;
  const double share = fabs(static_cast<double>(static_cast<long long>(seed) >> 11)) * 0x1p-52, limit = share * total;
  double base = 0;
  const unsigned group = first_beyond(sums, groups, limit, base, scratch);
  unsigned centre = count - 1;
  if (group < groups) {
    const unsigned first = group * rows_each * group_size, rows = min(rows_each * group_size, count - first);
    centre = min(first + first_beyond(nearest + first, rows, limit, base, scratch), count - 1);
  }
  if (threadIdx.x == 0) *state = {seed, centre, state->centre};
}

inline ProgramRun run_kpp(Program& program, const Application& application, const RunOptions& options) {
  const SparseValues matrix = application.by_rows();
  const auto rows = static_cast<unsigned>(matrix.pattern.rows());
  const Product product(matrix, options.form);
  const std::vector<double> infinite = application.contents<double>("nearest", rows);
  const DeviceArray<double> nearest("the distances", infinite), point("the centre", application.columns());
  const unsigned sum_groups = groups(rows, choice_rows);
  const DeviceArray<double> sums("the sums of distances", sum_groups);
  const DeviceArray<CentreState> state("the state", 1);
  Partials partials(std::max(product.groups(), Partials::most_groups));
  ProgramRun run;
  program.measure(
      [&] {
        nearest.upload(infinite);
        point.clear();
        state.upload({{88172645463325252ull, options.source, options.source}});
      },
      [&] {
        for (run.iterations = 0; run.iterations < application.limit(); ++run.iterations) {
          place_centre<group_size><<<1, group_size>>>(product.rows(), product.values(), state.data(), point.data());
          product.run(NearestStep{product.values(), point.data(), nearest.data()}, partials);
          sum_distances<4><<<sum_groups, group_size>>>(nearest.data(), rows, sums.data());
          choose_centre<4><<<1, group_size>>>(nearest.data(), rows, sums.data(), sum_groups, state.data());
        }
      });
  run.check = [&program, result = nearest.download(),
               longest = static_cast<double>(product.longest())](const ApplicationResult& expected) {
    // Distances are sums of squares: each square has two roundings, on the GPU and on the host, in addition to those of the
    // sum.
    const std::vector<double> right = expected.elements<double>();
    const double error = error_f64(2 * (longest + 4));
    program.check_near("the distance", result, right, [&](size_t i) { return error * right[i]; });
  };
  program.report("form", product.form());
  return run;
}

}  // namespace workload
