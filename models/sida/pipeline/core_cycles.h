// Cycles of the three cores. P: PEs of a core, p: products of an entry (features), q: products of a PE in a cycle.
//
//   OS      ceil(entries p / (P q)) per sub-tensor, plus log2(P) stages of the Forwarding Adder Tree if there are entries.
//           Columns of any length share the PE row; columns longer than the row take several passes; empty columns are free.
//   E-wise  ceil(elements instructions / P), and as many cycles of latency as there are instructions. A reduction keeps one
//           partial scalar per PE and ends with a tree of log2(P) stages, once per pass.
//   IS      groups of floor(P q / p) entries (at least one), ceil(p / (P q)) cycles each, and log2(P) stages of the scatter
//           network if there are groups. Products of one group for one sum wait for each other (`Scatter`):
//             rows from the CSR space, and rows fetched eagerly: in order of rows and columns. Conflicts are counted by
//             coordinate: m products for one sum cost m - 1 cycles (serial) or ceil(log2 m) (tree) of the group.
//             columns that OS uses in the same step: column by column; the products of a column are adjacent and are
//             added like the segments of OS, so a group has one product per sum.
//
// Source: thesis, section 4.4.3, with SIGMA's adder tree. The latency of the scatter network, the addition by column and both
// ways of charging conflicts are our choice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/sida/pipeline/parameters.h"
#include "models/sida/pipeline/pass_memory.h"

namespace lacuna::sida {

/// Stages of a tree with `leaves` leaves.
unsigned tree_stages(std::uint64_t leaves);

/// Cycles of OS without the latency of its adder tree.
Time os_cycles(std::uint64_t entries, const PassShape& shape, unsigned pes);

/// Cycles of a code over `elements` elements, including latency; 0 without elements or instructions.
Time ewise_cycles(std::uint64_t elements, const ElementCode& code, unsigned pes);

/// Counts the groups of the IS core and the conflicts within them.
class ScatterGroups {
 public:
  ScatterGroups(const PassShape& shape, unsigned pes, Scatter scatter);

  /// Adds the products of a row, one for each sum in `sums`.
  void add(std::span<const Index> sums);
  /// Adds only products for sums below `limit`. Returns their number.
  std::uint64_t add_below(std::span<const Index> sums, Index limit);
  /// Ends the last group, which may be incomplete. Returns the cycles of all groups since the previous call.
  Time end();

  /// Cycles of `entries` entries if there are no conflicts.
  Time plain(std::uint64_t entries) const { return (entries + group_ - 1) / group_ * cycles_per_group_; }

  std::uint64_t conflicts() const { return conflicts_; }     ///< products whose sum was already used in the same group
  Time conflict_cycles() const { return conflict_cycles_; }  ///< cycles charged for conflicts

 private:
  void count(Index sum);
  void close_group();

  std::uint64_t group_;  ///< maximum number of entries of a group
  Time cycles_per_group_;
  Scatter scatter_;
  unsigned count_bits_;              ///< low bits of a mark that count products; the others hold the group's number
  std::vector<std::uint32_t> mark_;  ///< last group that used each sum, and the sum's products in that group
  std::uint32_t number_ = 1;         ///< number of the current group
  std::uint64_t filled_ = 0;         ///< entries in the current group so far
  std::uint32_t most_ = 0;           ///< maximum number of the group's products for one sum
  Time cycles_ = 0;
  std::uint64_t conflicts_ = 0;
  Time conflict_cycles_ = 0;
};

}  // namespace lacuna::sida
