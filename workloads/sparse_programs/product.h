// Products of a sparse matrix with a dense vector, row by row, with the element-wise operations that follow. A Step defines
// the contribution of an entry and the use of a row's sum:
//
//   using Sum = double;                          type of the sum of terms, with operator +
//   static constexpr unsigned totals = 2;        number of sums over all rows, at least 1
//   __device__ Sum term(unsigned entry, unsigned column) const;
//   __device__ void row(unsigned row, Sum sum, double* totals) const;    called once for each row
//
// Forms:
//
//   vector     1, 2, 4, ... or 64 adjacent lanes share a row (Bell and Garland, SC '09), depending on the mean length of rows
//   adaptive   rows in bins by their length: the number of lanes per row depends on the bin, up to a workgroup for the longest
//              rows (ACSR: Ashari et al., SC '14). One kernel processes all bins: a workgroup processes rows of one bin
//   stream     a workgroup reads the entries of consecutive rows in the order of memory, several per work-item, writes their
//              terms to LDS, and adds them by rows; a row with too many entries gets a workgroup (CSR-Adaptive: Greathouse and
//              Daga, SC '14)
//   lanes      adaptive if the lengths of rows are skewed, otherwise vector
//   auto       stream if the lengths of rows are not skewed, but differ so much that more than three eighths of the lanes of
//              form vector would have no entry; otherwise as lanes. On sida-kernels, stream is then up to 1.2 times as fast,
//              and otherwise slower. Where f64 takes longer than memory, as on rtx4070-like, lanes is faster: vector fuses the
//              multiplications with the additions.
#pragma once

#include <hip/hip_runtime.h>

#include <string>
#include <vector>

#include "workloads/sparse_programs/application.h"
#include "workloads/sparse_programs/totals.h"

namespace workload {

/// A matrix by rows in GPU memory, for kernels. `order` lists rows by bin; null: rows are not reordered.
struct Rows {
  const unsigned *offsets, *columns, *order;
};

/// The rows of a workgroup: positions [first, end) of the order, with `lanes` lanes per row. `streamed`: their terms are
/// computed first, together, and fit into LDS.
struct Share {
  unsigned first, end, lanes;
  bool streamed;
};

/// Maximum number of entries of a workgroup whose rows are streamed. Their terms take as much LDS as the partial sums of a
/// workgroup.
constexpr unsigned streamed_entries = 4 * group_size;

/// `scratch`: LDS with one element per work-item.
template <unsigned lanes, typename Step>
__device__ inline void rows_by_lanes(const Rows& rows, const Share& share, const Step& step, double* totals,
                                     typename Step::Sum* scratch) {
  constexpr unsigned at_a_time = group_size / lanes, together = 2;
  using Sum = typename Step::Sum;
  const unsigned lane = threadIdx.x % lanes;
  for (unsigned first = share.first; first < share.end; first += at_a_time) {
    const unsigned place = first + threadIdx.x / lanes;
    const bool has_row = place < share.end;
    const unsigned row = has_row && rows.order != nullptr ? rows.order[place] : place;
    // All lanes take part in the sum; a lane without a row has an empty range of entries.
    const unsigned end = has_row ? rows.offsets[row + 1] : 0;
    unsigned entry = has_row ? rows.offsets[row] + lane : 0;
    // Two sums, so that two loads are in flight.
    Sum sums[together] = {};
    for (; entry + (together - 1) * lanes < end; entry += together * lanes) {
#pragma unroll
      for (unsigned i = 0; i < together; ++i) sums[i] += step.term(entry + i * lanes, rows.columns[entry + i * lanes]);
    }
    for (; entry < end; entry += lanes) sums[0] += step.term(entry, rows.columns[entry]);
    Sum sum = sums[0] + sums[1];
    if constexpr (lanes <= 64) {
      sum = sum_of_lanes<lanes>(sum);
    } else {
      sum = sum_of_group(sum, scratch);
    }
    if (has_row && lane == 0) step.row(row, sum, totals);
  }
}

/// `terms`: LDS with streamed_entries elements.
template <typename Step>
__device__ inline void streamed_rows(const Rows& rows, const Share& share, const Step& step, double* totals,
                                     typename Step::Sum* terms) {
  constexpr unsigned together = streamed_entries / group_size;
  const unsigned begin = rows.offsets[share.first], count = rows.offsets[share.end] - begin;
  if (count != 0) {
    // A work-item without an entry repeats the last one, so that no load depends on a branch.
    unsigned entries[together], columns[together];
#pragma unroll
    for (unsigned i = 0; i < together; ++i) {
      entries[i] = begin + min(threadIdx.x + i * group_size, count - 1);
      columns[i] = rows.columns[entries[i]];
    }
#pragma unroll
    for (unsigned i = 0; i < together; ++i) {
      const typename Step::Sum term = step.term(entries[i], columns[i]);
      if (threadIdx.x + i * group_size < count) terms[threadIdx.x + i * group_size] = term;
    }
  }
  __syncthreads();
  const unsigned lane = threadIdx.x % share.lanes, at_a_time = group_size / share.lanes;
  for (unsigned row = share.first + threadIdx.x / share.lanes; row < share.end; row += at_a_time) {
    const unsigned start = rows.offsets[row] - begin, end = rows.offsets[row + 1] - begin;
    typename Step::Sum sum{};
    for (unsigned entry = start + lane; entry < end; entry += share.lanes) sum += terms[entry];
    if (share.lanes == 1) {
      step.row(row, sum, totals);
      continue;
    }
    for (unsigned distance = share.lanes / 2; distance > 0; distance /= 2) sum += __shfl_xor(sum, static_cast<int>(distance));
    if (lane == 0 && start != end) terms[start] = sum;
  }
  __syncthreads();
  if (share.lanes == 1) return;
  // Adjacent work-items use the sums, which are in the places of the rows' first terms.
  const unsigned row = share.first + threadIdx.x;
  if (row < share.end) {
    const unsigned start = rows.offsets[row];
    step.row(row, start != rows.offsets[row + 1] ? terms[start - begin] : typename Step::Sum{}, totals);
  }
  __syncthreads();
}

/// `streams`: for form stream, whose terms need more LDS than sums of work-items.
template <bool streams, typename Step>
__global__ void __launch_bounds__(group_size)
    product(Rows rows, const Share* __restrict__ shares, Step step, double* partials) {
  using Sum = typename Step::Sum;
  static_assert(sizeof(Sum) <= sizeof(double) && Step::totals * group_size <= streamed_entries);
  __shared__ double memory[streams ? streamed_entries : Step::totals * group_size];
  Sum* const sums = reinterpret_cast<Sum*>(memory);
  const Share share = shares[blockIdx.x];
  double totals[Step::totals] = {};
  if constexpr (streams) {
    if (share.streamed) {
      streamed_rows(rows, share, step, totals, sums);
    } else {
      rows_by_lanes<group_size>(rows, share, step, totals, sums);
    }
  } else {
    switch (share.lanes) {
      case 1:
        rows_by_lanes<1>(rows, share, step, totals, sums);
        break;
      case 2:
        rows_by_lanes<2>(rows, share, step, totals, sums);
        break;
      case 4:
        rows_by_lanes<4>(rows, share, step, totals, sums);
        break;
      case 8:
        rows_by_lanes<8>(rows, share, step, totals, sums);
        break;
      case 16:
        rows_by_lanes<16>(rows, share, step, totals, sums);
        break;
      case 32:
        rows_by_lanes<32>(rows, share, step, totals, sums);
        break;
      case 64:
        rows_by_lanes<64>(rows, share, step, totals, sums);
        break;
      default:
        rows_by_lanes<group_size>(rows, share, step, totals, sums);
    }
  }
  store_partials(totals, partials, memory);
}

/// Host side of products with a matrix stored by rows.
class Product {
 public:
  Product(const SparseValues& matrix, const std::string& form)
      : plan_(matrix.pattern, form),
        offsets_("the row offsets", matrix.pattern.offsets),
        columns_("the columns", matrix.pattern.columns),
        order_("the order of rows", plan_.order),
        shares_("the workgroups' shares", plan_.shares),
        values_("the values", matrix.values) {}

  Rows rows() const { return {offsets_.data(), columns_.data(), plan_.adaptive ? order_.data() : nullptr}; }
  const double* values() const { return values_.data(); }
  std::string form() const {
    return plan_.streamed ? "stream" : plan_.adaptive ? "adaptive" : "vector_" + std::to_string(plan_.lanes);
  }
  /// Number of lanes for a row of mean length.
  unsigned lanes() const { return plan_.lanes; }
  /// Number of entries of the longest row.
  size_t longest() const { return plan_.longest; }
  unsigned groups() const { return static_cast<unsigned>(shares_.size()); }

  template <typename Step>
  void run(const Step& step, Partials& sums) const {
    const auto kernel = plan_.streamed ? product<true, Step> : product<false, Step>;
    kernel<<<groups(), group_size>>>(rows(), shares_.data(), step, sums.begin(groups()));
  }

 private:
  struct Plan {
    Plan(const Csr& matrix, const std::string& form)
        : longest(matrix.longest_row()),
          lanes(std::min(64U, lanes_for((matrix.entries() + matrix.rows() - 1) / matrix.rows()))) {
      const auto rows = static_cast<unsigned>(matrix.rows());
      const bool skewed = longest > 16 * (matrix.entries() / rows + 1);
      adaptive = form == "adaptive" || (skewed && (form == "auto" || form == "lanes"));
      streamed = form == "stream" || (!skewed && form == "auto" && 8 * matrix.entries() < 5 * lane_steps(matrix));
      if (streamed) {
        order.resize(1);
        add_streamed(matrix);
        return;
      }
      if (!adaptive) {
        order.resize(1);
        add_shares(matrix, 0, rows, lanes);
        return;
      }
      // Bins are ordered from long rows to short ones, so that the workgroups with the longest rows do not start last.
      for (unsigned bin = group_size; bin > 0; bin /= 2) {
        const auto first = static_cast<unsigned>(order.size());
        for (unsigned row = 0; row < rows; ++row) {
          if (lanes_for(length(matrix, row)) == bin) order.push_back(row);
        }
        add_shares(matrix, first, static_cast<unsigned>(order.size()), bin);
      }
    }

    /// Number of lanes for a row, a power of two with about three entries per lane, since sums over lanes have a cost. Rows of
    /// more than 16 entries per lane of a wavefront get a workgroup.
    static unsigned lanes_for(size_t length) {
      if (length > 16 * 64) return group_size;
      unsigned lanes = 1;
      while (lanes < 64 && lanes * 2 <= (length + 2) / 3) lanes *= 2;
      return lanes;
    }
    /// Number of lanes, summed over the steps of all wavefronts of form `vector`: a wavefront takes as many steps as its
    /// longest row needs.
    size_t lane_steps(const Csr& matrix) const {
      size_t steps = 0;
      for (unsigned first = 0; first < matrix.rows(); first += 64 / lanes) {
        size_t most = 0;
        for (unsigned row = first; row < std::min<size_t>(first + 64 / lanes, matrix.rows()); ++row)
          most = std::max(most, (length(matrix, row) + lanes - 1) / lanes);
        steps += most;
      }
      return 64 * steps;
    }
    static size_t length(const Csr& matrix, unsigned row) { return matrix.offsets[row + 1] - matrix.offsets[row]; }
    /// Divides the positions [first, end) into shares of similar numbers of entries, for about twice as many workgroups as 64
    /// compute units hold.
    void add_shares(const Csr& matrix, unsigned first, unsigned end, unsigned with_lanes) {
      const size_t enough = matrix.entries() / (2 * Partials::most_groups) + 1;
      const unsigned at_a_time = group_size / with_lanes;
      size_t entries = 0;
      for (unsigned place = first; place < end; ++place) {
        entries += length(matrix, adaptive ? order[place] : place);
        const bool is_last = place + 1 == end;
        if (!is_last && ((place + 1 - first) % at_a_time != 0 || entries < enough)) continue;
        shares.push_back({first, place + 1, with_lanes, false});
        first = place + 1;
        entries = 0;
      }
    }
    /// Divides all rows, in their order, into shares of at most streamed_entries entries, and of single rows with more entries.
    void add_streamed(const Csr& matrix) {
      constexpr unsigned most_rows = 4 * group_size;  // of a share, for matrices with many empty rows
      const auto rows = static_cast<unsigned>(matrix.rows());
      for (unsigned first = 0, end = 0; first < rows; first = end) {
        while (end < rows && end - first < most_rows && matrix.offsets[end + 1] - matrix.offsets[first] <= streamed_entries)
          ++end;
        if (end == first) {
          shares.push_back({first, ++end, group_size, false});
          continue;
        }
        unsigned with_lanes = 1;
        while (with_lanes < 64 && 2 * with_lanes * (end - first) <= group_size) with_lanes *= 2;
        shares.push_back({first, end, with_lanes, true});
      }
    }

    size_t longest;
    unsigned lanes;
    bool adaptive = false, streamed = false;
    std::vector<unsigned> order;
    std::vector<Share> shares;
  };

  Plan plan_;
  DeviceArray<unsigned> offsets_, columns_, order_;
  DeviceArray<Share> shares_;
  DeviceArray<double> values_;
};

}  // namespace workload
