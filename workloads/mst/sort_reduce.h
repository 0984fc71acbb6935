// Minimum spanning forest by sorting and reduction, as in the CUDA MST programs that the SIMD2 thesis names as the baseline
// (section 3.5.2). Implemented from the description of the algorithm (V. Vineet et al., HPG 2009), not from a program.
//
// Each edge of the graph is represented by two directed edges. A round
//   1. sorts the edges by vertex and weight (radix sort, 4 bits per pass): the first edge of each vertex is its lightest;
//   2. makes the other end of that edge the vertex's successor; of two vertices that chose each other, the lower one is a root;
//   3. follows successors to their root until none changes, which the host tests after each step;
//   4. numbers the roots (scan), which are the vertices of the next round; the host reads their number;
//   5. drops edges within a vertex (scan); the host reads the remaining number of edges.
// Rounds end when no edge is left.
#pragma once

#include <utility>

#include "workloads/common/program.h"
#include "workloads/common/scan.h"

namespace sort_reduce {

constexpr unsigned group_size = 256, digit_bits = 4, digits = 1 << digit_bits, weight_bits = 16;

/// Directed edges. `number`: number of the edge in the input; `key`: vertex, and rank of the edge's weight.
struct EdgesView {
  unsigned* from;
  unsigned* to;
  unsigned* number;
  unsigned* key;
};

__device__ inline unsigned work_item() { return blockIdx.x * group_size + threadIdx.x; }

/// Computes the sum of each group of `group_size` values, and for each value the sum of the values before it in its group.
__global__ void __launch_bounds__(group_size)
    scan_groups(const unsigned* values, unsigned count, unsigned* before, unsigned* sums) {
  __shared__ unsigned partial[group_size / 64];
  const unsigned at = work_item();
  unsigned all = 0;
  const unsigned sum = workload::sum_before(at < count ? values[at] : 0, partial, all);
  if (at < count) before[at] = sum;
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}
/// Replaces each group's sum by the sum of the groups before it, and appends the total. Runs as one workgroup.
__global__ void __launch_bounds__(group_size) scan_sums(unsigned* sums, unsigned groups) {
  __shared__ unsigned partial[group_size / 64];
  unsigned before = 0;
  for (unsigned first = 0; first < groups; first += group_size) {
    const unsigned at = first + threadIdx.x;
    unsigned all = 0;
    const unsigned sum = workload::sum_before(at < groups ? sums[at] : 0, partial, all);
    if (at < groups) sums[at] = before + sum;
    before += all;
  }
  if (threadIdx.x == 0) sums[groups] = before;
}
__global__ void add_sums(unsigned* before, unsigned count, const unsigned* sums) {
  const unsigned at = work_item();
  if (at < count) before[at] += sums[at / group_size];
}

/// Counts the keys of each group by digit. Counts are stored at digit * groups + group, so that a scan computes the first
/// position of each group's keys.
__global__ void __launch_bounds__(group_size)
    count_digits(const unsigned* keys, unsigned count, unsigned shift, unsigned groups, unsigned* counts) {
  __shared__ unsigned of_digit[digits];
  if (threadIdx.x < digits) of_digit[threadIdx.x] = 0;
  __syncthreads();
  const unsigned at = work_item();
  if (at < count) atomicAdd(&of_digit[keys[at] >> shift & (digits - 1)], 1U);
  __syncthreads();
  if (threadIdx.x < digits) counts[threadIdx.x * groups + blockIdx.x] = of_digit[threadIdx.x];
}
/// Moves edges to their positions in the order of one digit of their keys; stable.
__global__ void __launch_bounds__(group_size)
    move_by_digit(EdgesView from, EdgesView to, unsigned count, unsigned shift, unsigned groups, const unsigned* places) {
  __shared__ unsigned of_wavefront[group_size / 64][digits];
  const unsigned at = work_item(), lane = threadIdx.x % 64, wavefront = threadIdx.x / 64;
  const bool valid = at < count;
  const unsigned key = valid ? from.key[at] : 0, digit = key >> shift & (digits - 1);
  unsigned long same = __ballot(valid);
#pragma unroll
  for (unsigned bit = 0; bit < digit_bits; ++bit) {
    const unsigned long set = __ballot(digit >> bit & 1);
    same &= digit >> bit & 1 ? set : ~set;
  }
  if (lane < digits) of_wavefront[wavefront][lane] = 0;
  __syncthreads();
  const unsigned rank = __popcll(same & ((1UL << lane) - 1));
  if (valid && rank == 0) of_wavefront[wavefront][digit] = __popcll(same);
  __syncthreads();
  if (!valid) return;
  unsigned place = places[digit * groups + blockIdx.x] + rank;
  for (unsigned i = 0; i < wavefront; ++i) place += of_wavefront[i][digit];
  to.from[place] = from.from[at], to.to[place] = from.to[at], to.number[place] = from.number[at], to.key[place] = key;
}

__global__ void start_vertices(unsigned* successor, unsigned vertices) {
  if (work_item() < vertices) successor[work_item()] = work_item();
}
/// Selects the first edge of each vertex among the sorted edges.
__global__ void take_lightest(EdgesView edges, unsigned count, unsigned* successor, unsigned* in_forest) {
  const unsigned at = work_item();
  if (at >= count || (at != 0 && edges.from[at - 1] == edges.from[at])) return;
  successor[edges.from[at]] = edges.to[at];
  in_forest[edges.number[at]] = 1;
}
__global__ void break_pairs(const unsigned* successor, unsigned* next, unsigned vertices) {
  const unsigned vertex = work_item();
  if (vertex >= vertices) return;
  const unsigned other = successor[vertex];
  next[vertex] = successor[other] == vertex && vertex < other ? vertex : other;
}
__global__ void follow(const unsigned* successor, unsigned* next, unsigned vertices, unsigned* changed) {
  const unsigned vertex = work_item();
  if (vertex >= vertices) return;
  const unsigned other = successor[vertex], root = successor[other];
  next[vertex] = root;
  if (root != other) *changed = 1;
}
__global__ void mark_roots(const unsigned* root, unsigned* is_root, unsigned vertices) {
  if (work_item() < vertices) is_root[work_item()] = root[work_item()] == work_item();
}
/// Renames the edges' vertices, and marks edges between different new vertices.
__global__ void renumber(EdgesView edges, unsigned count, const unsigned* root, const unsigned* number_of_root,
                         unsigned* joins) {
  const unsigned at = work_item();
  if (at >= count) return;
  const unsigned from = number_of_root[root[edges.from[at]]], to = number_of_root[root[edges.to[at]]];
  edges.from[at] = from, edges.to[at] = to;
  edges.key[at] = from << weight_bits | (edges.key[at] & ((1U << weight_bits) - 1));
  joins[at] = from != to;
}
__global__ void compact(EdgesView from, EdgesView to, unsigned count, const unsigned* joins, const unsigned* places) {
  const unsigned at = work_item();
  if (at >= count || joins[at] == 0) return;
  const unsigned place = places[at];
  to.from[place] = from.from[at], to.to[place] = from.to[at], to.number[place] = from.number[at], to.key[place] = from.key[at];
}

/// `count` directed edges in GPU memory.
class EdgeArray {
 public:
  explicit EdgeArray(size_t count)
      : from_("the first ends", count),
        to_("the other ends", count),
        number_("the numbers of edges", count),
        key_("the keys", count) {}
  EdgesView view() const { return {from_.data(), to_.data(), number_.data(), key_.data()}; }
  void upload(const std::vector<unsigned>& from, const std::vector<unsigned>& to, const std::vector<unsigned>& number,
              const std::vector<unsigned>& key) const {
    from_.upload(from), to_.upload(to), number_.upload(number), key_.upload(key);
  }

 private:
  workload::DeviceArray<unsigned> from_, to_, number_, key_;
};

class Forest {
 public:
  /// `order`: rank of each edge's weight among all weights, below 2^16.
  Forest(unsigned vertices, const std::vector<unsigned>& from, const std::vector<unsigned>& to,
         const std::vector<unsigned>& order)
      : vertices_(vertices),
        edges_{EdgeArray(2 * from.size()), EdgeArray(2 * from.size())},
        successor_{{"the successors", vertices}, {"the next successors", vertices}},
        flags_("the flags", std::max<size_t>(2 * from.size(), vertices)),
        places_("the places", std::max<size_t>(2 * from.size(), vertices)),
        counts_("the digits", digits * size_t{workload::groups(2 * from.size(), group_size)}),
        sums_("the sums", workload::groups(std::max(counts_.size(), places_.size()), group_size) + 1),
        changed_("the flag", 1) {
    for (unsigned i = 0; i < from.size(); ++i) {
      for (const bool back : {false, true}) {
        from_.push_back(back ? to[i] : from[i]);
        to_.push_back(back ? from[i] : to[i]);
        number_.push_back(i);
        key_.push_back(from_.back() << weight_bits | order[i]);
      }
    }
  }

  void prepare() const { edges_[0].upload(from_, to_, number_, key_); }
  /// Runs all rounds and returns their number. `in_forest` must initially be 0 for each edge.
  unsigned run(unsigned* in_forest) {
    unsigned vertices = vertices_, count = static_cast<unsigned>(from_.size()), rounds = 0;
    now_ = 0;
    for (; count != 0; ++rounds) {
      sort(count, vertices);
      const unsigned of_vertices = workload::groups(vertices, group_size), of_edges = workload::groups(count, group_size);
      unsigned* root = successor_[0].data();
      unsigned* next = successor_[1].data();
      start_vertices<<<of_vertices, group_size>>>(root, vertices);
      take_lightest<<<of_edges, group_size>>>(edges(), count, root, in_forest);
      break_pairs<<<of_vertices, group_size>>>(root, next, vertices);
      do {
        std::swap(root, next);
        changed_.clear();
        follow<<<of_vertices, group_size>>>(root, next, vertices, changed_.data());
      } while (changed_.download()[0] != 0);
      std::swap(root, next);
      mark_roots<<<of_vertices, group_size>>>(root, flags_.data(), vertices);
      const unsigned roots = scan(flags_.data(), vertices, places_.data());
      renumber<<<of_edges, group_size>>>(edges(), count, root, places_.data(), flags_.data());
      const unsigned left = scan(flags_.data(), count, places_.data());
      if (left != 0) compact<<<of_edges, group_size>>>(edges(), other_edges(), count, flags_.data(), places_.data());
      now_ = 1 - now_;
      vertices = roots, count = left;
    }
    return rounds;
  }

 private:
  EdgesView edges() const { return edges_[now_].view(); }
  EdgesView other_edges() const { return edges_[1 - now_].view(); }
  /// Exclusive prefix sums; may be in place. Returns the total, which the host reads.
  unsigned scan(const unsigned* values, unsigned count, unsigned* before) const {
    const unsigned groups = launch_scan(values, count, before);
    unsigned total = 0;
    workload::require(hipMemcpy(&total, sums_.data() + groups, sizeof total, hipMemcpyDeviceToHost),
                      "copying a sum to the host");
    return total;
  }
  unsigned launch_scan(const unsigned* values, unsigned count, unsigned* before) const {
    const unsigned groups = workload::groups(count, group_size);
    scan_groups<<<groups, group_size>>>(values, count, before, sums_.data());
    scan_sums<<<1, group_size>>>(sums_.data(), groups);
    add_sums<<<groups, group_size>>>(before, count, sums_.data());
    return groups;
  }
  void sort(unsigned count, unsigned vertices) {
    unsigned bits = weight_bits;
    while (bits < 32 && (vertices - 1) >> (bits - weight_bits) != 0) ++bits;
    const unsigned groups = workload::groups(count, group_size);
    for (unsigned shift = 0; shift < bits; shift += digit_bits) {
      count_digits<<<groups, group_size>>>(edges().key, count, shift, groups, counts_.data());
      launch_scan(counts_.data(), digits * groups, counts_.data());
      move_by_digit<<<groups, group_size>>>(edges(), other_edges(), count, shift, groups, counts_.data());
      now_ = 1 - now_;
    }
  }

  unsigned vertices_;
  std::vector<unsigned> from_, to_, number_, key_;
  EdgeArray edges_[2];
  workload::DeviceArray<unsigned> successor_[2];
  workload::DeviceArray<unsigned> flags_, places_, counts_, sums_, changed_;
  unsigned now_ = 0;
};

}  // namespace sort_reduce
