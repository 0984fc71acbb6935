// Products of a sparse matrix with a dense vector, row by row, with the element-wise operations that follow. A Step says what
// an entry contributes and what becomes of a row's sum:
//
//   using Sum = double;                          of terms, by +
//   static constexpr unsigned totals = 2;        sums over all rows, at least 1
//   __device__ Sum term(unsigned entry, unsigned column) const;
//   __device__ void row(unsigned row, Sum sum, double* totals) const;    once for each row
//
//   vector     1, 2, 4, ... or 64 neighbouring lanes share a row (Bell and Garland, SC '09), by the mean length of rows
//   adaptive   a workgroup has as many rows as together have at most `slab` entries, whose terms it leaves in LDS with
//   coalesced
//              loads; its work-items then add up as many terms each. A longer row has a workgroup of its own (CSR-Adaptive:
//              Greathouse and Daga, SC '14, with the sums of COO kernels: Bell and Garland)
#pragma once

#include <hip/hip_runtime.h>

#include <string>
#include <vector>

#include "workloads/sparse_programs/application.h"
#include "workloads/sparse_programs/totals.h"

namespace workload {

/// Most entries and most rows of a workgroup of the adaptive form.
constexpr unsigned slab = 1024, slab_rows = group_size;

/// A matrix by rows in the GPU's memory, for kernels.
struct Rows {
  const unsigned *offsets, *columns;
  unsigned count;
};

template <unsigned lanes, typename Step>
__global__ void __launch_bounds__(group_size) vector_product(Rows rows, Step step, double* partials) {
  const unsigned item = blockIdx.x * group_size + threadIdx.x, row = item / lanes, lane = item % lanes;
  // All lanes take part in the sum: one that has no row has an empty one.
  const unsigned begin = row < rows.count ? rows.offsets[row] : 0, end = row < rows.count ? rows.offsets[row + 1] : 0;
  typename Step::Sum sum{};
  for (unsigned entry = begin + lane; entry < end; entry += lanes) sum += step.term(entry, rows.columns[entry]);
  sum = sum_of_lanes<lanes>(sum);
  double totals[Step::totals] = {};
  if (row < rows.count && lane == 0) step.row(row, sum, totals);
  store_partials(totals, partials);
}

/// The sum of a row that goes on behind some entries; `ends`: a row has ended among them.
template <typename Sum>
struct Piece {
  Sum sum;
  bool ends;
};

/// sums[row] of the terms [ends[row - 1], ends[row]) of at most `slab_rows` rows, by a workgroup whose work-items have as many
/// terms each, wherever rows end (segmented scan: Blelloch, CMU-CS-93-173). `pieces`: LDS with one for each wavefront.
template <typename Sum>
__device__ inline void segment_sums(const Sum* terms, unsigned entries, const unsigned* ends, unsigned count, Sum* sums,
                                    Piece<Sum>* pieces) {
  constexpr unsigned each = slab / group_size;
  const unsigned lane = threadIdx.x % 64, wavefront = threadIdx.x / 64;
  const unsigned start = threadIdx.x * each, stop = start + each < entries ? start + each : entries;
  if (threadIdx.x < count) sums[threadIdx.x] = Sum{};
  // The row of the first term: the first one that ends behind it.
  unsigned row = 0;
#pragma unroll
  for (unsigned step = slab_rows / 2; step > 0; step /= 2) {
    if (row + step <= count && ends[row + step - 1] <= start) row += step;
  }
  if (row < count && ends[row] <= start) ++row;
  __syncthreads();
  unsigned first = count;  // row that ends here and may have begun before
  Sum first_sum{}, sum{};
  for (unsigned at = start; at < stop; ++at) {
    sum += terms[at];
    if (at + 1 != ends[row]) continue;
    if (first == count) {
      first = row;
      first_sum = sum;
    } else {
      sums[row] = sum;
    }
    sum = Sum{};
    do ++row;
    while (row < count && ends[row] == at + 1);
  }
  // What the work-items before this one have of its first row.
  bool has_end = first != count;
#pragma unroll
  for (unsigned distance = 1; distance < 64; distance *= 2) {
    const Sum before = __shfl_up(sum, distance);
    const bool before_ends = __shfl_up(static_cast<int>(has_end), distance) != 0;
    if (lane >= distance && !has_end) {
      sum += before;
      has_end = before_ends;
    }
  }
  if (lane == 63) pieces[wavefront] = {sum, has_end};
  Sum carried = __shfl_up(sum, 1);
  bool complete = __shfl_up(static_cast<int>(has_end), 1) != 0;
  if (lane == 0) carried = Sum{}, complete = false;
  __syncthreads();
  for (unsigned i = wavefront; i > 0 && !complete; --i) {
    carried += pieces[i - 1].sum;
    complete = pieces[i - 1].ends;
  }
  if (first != count) sums[first] = first_sum + carried;
}

/// Workgroup g has the rows [starts[g], starts[g + 1]).
template <typename Step>
__global__ void __launch_bounds__(group_size)
    adaptive_product(Rows rows, const unsigned* __restrict__ starts, Step step, double* partials) {
  using Sum = typename Step::Sum;
  __shared__ Sum terms[slab], sums[slab_rows];
  __shared__ unsigned ends[slab_rows];
  __shared__ Piece<Sum> pieces[wavefronts];
  const unsigned first = starts[blockIdx.x], last = starts[blockIdx.x + 1], count = last - first;
  const unsigned begin = rows.offsets[first], end = rows.offsets[last], entries = end - begin;
  double totals[Step::totals] = {};
  if (entries > slab) {  // one row
    constexpr unsigned together = 4;
    Sum parts[together] = {};
    unsigned entry = begin + threadIdx.x;
    for (; entry + (together - 1) * group_size < end; entry += together * group_size) {
#pragma unroll
      for (unsigned i = 0; i < together; ++i) {
        const unsigned at = entry + i * group_size;
        parts[i] += step.term(at, rows.columns[at]);
      }
    }
    for (; entry < end; entry += group_size) parts[0] += step.term(entry, rows.columns[entry]);
    const Sum sum = sum_of_group(parts[0] + parts[1] + parts[2] + parts[3], terms);
    if (threadIdx.x == 0) step.row(first, sum, totals);
  } else {
#pragma unroll
    for (unsigned i = 0; i < slab / group_size; ++i) {
      const unsigned at = i * group_size + threadIdx.x;
      if (at < entries) terms[at] = step.term(begin + at, rows.columns[begin + at]);
    }
    if (threadIdx.x < count) ends[threadIdx.x] = rows.offsets[first + threadIdx.x + 1] - begin;
    __syncthreads();
    segment_sums(terms, entries, ends, count, sums, pieces);
    __syncthreads();
    if (threadIdx.x < count) step.row(first + threadIdx.x, sums[threadIdx.x], totals);
  }
  store_partials(totals, partials);
}

/// The host's part of a matrix by rows.
class Product {
 public:
  /// `form`: vector, adaptive or auto: adaptive where rows are skewed or too short for a lane each.
  Product(const SparseValues& matrix, const std::string& form)
      : offsets_("the row offsets", matrix.pattern.offsets),
        columns_("the columns", matrix.pattern.columns),
        values_("the values", matrix.values),
        lanes_(lanes_for(matrix.pattern)),
        adaptive_(form == "adaptive" || (form == "auto" && suits_adaptive(matrix.pattern))),
        starts_("the first rows", slabs(matrix.pattern)),
        longest_(static_cast<unsigned>(matrix.pattern.longest_row())),
        rows_{offsets_.data(), columns_.data(), static_cast<unsigned>(matrix.pattern.rows())} {}

  const Rows& rows() const { return rows_; }
  const double* values() const { return values_.data(); }
  unsigned lanes() const { return lanes_; }
  /// Entries of the longest row.
  unsigned longest() const { return longest_; }
  std::string form() const { return adaptive_ ? "adaptive" : "vector_" + std::to_string(lanes_); }
  unsigned groups() const {
    return adaptive_ ? static_cast<unsigned>(starts_.size() - 1) : workload::groups(size_t(rows_.count) * lanes_, group_size);
  }

  template <typename Step>
  void run(const Step& step, Partials& sums) const {
    double* const partials = sums.begin(groups());
    if (adaptive_) {
      adaptive_product<<<groups(), group_size>>>(rows_, starts_.data(), step, partials);
      return;
    }
    const auto kernel = lanes_ == 1    ? vector_product<1, Step>
                        : lanes_ == 2  ? vector_product<2, Step>
                        : lanes_ == 4  ? vector_product<4, Step>
                        : lanes_ == 8  ? vector_product<8, Step>
                        : lanes_ == 16 ? vector_product<16, Step>
                        : lanes_ == 32 ? vector_product<32, Step>
                                       : vector_product<64, Step>;
    kernel<<<groups(), group_size>>>(rows_, step, partials);
  }

 private:
  /// The largest power of two up to 64 that is no more than the mean row length.
  static unsigned lanes_for(const Csr& matrix) {
    unsigned lanes = 1;
    while (lanes < 64 && lanes * 2 * matrix.rows() <= matrix.entries()) lanes *= 2;
    return lanes;
  }
  static bool suits_adaptive(const Csr& matrix) {
    const size_t mean = matrix.entries() / matrix.rows() + 1;
    return mean < 8 || matrix.longest_row() > 16 * mean;
  }
  static std::vector<unsigned> slabs(const Csr& matrix) {
    std::vector<unsigned> starts{0};
    const auto rows = static_cast<unsigned>(matrix.rows());
    for (unsigned row = 0; row < rows; ++row) {
      const unsigned first = starts.back();
      const bool full = row - first == slab_rows || matrix.offsets[row + 1] - matrix.offsets[first] > slab;
      if (full && row != first) starts.push_back(row);
    }
    starts.push_back(rows);
    return starts;
  }

  DeviceArray<unsigned> offsets_, columns_;
  DeviceArray<double> values_;
  unsigned lanes_;
  bool adaptive_;
  DeviceArray<unsigned> starts_;
  unsigned longest_;
  Rows rows_;
};

}  // namespace workload
