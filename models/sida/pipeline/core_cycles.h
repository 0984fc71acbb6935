// Cycles of the three cores. P: PEs of a core, p: products of an entry (features), q: products of a PE in a cycle.
//
//   OS      ceil(entries p / (P q)) of a sub-tensor, and log2(P) stages of the Forwarding Adder Tree when there are any
//   entries.
//           Columns of any length share the PE row; one longer than the row takes several passes; empty ones are free.
//   E-wise  ceil(elements instructions / P), and as many cycles of latency as there are instructions. A reduction keeps one
//           partial scalar a PE and ends with a tree of log2(P) stages, once a pass.
//   IS      groups of floor(P q / p) entries (at least one), ceil(p / (P q)) cycles each, and log2(P) stages of the scatter
//           network when there are any. Products of one group for one sum wait for each other (`Scatter`):
//             rows that waited in the CSR space, and rows fetched eagerly: in order of rows and columns, counted by coordinate;
//             m products for one sum cost m - 1 cycles (serial) or ceil(log2 m) (tree) of the group.
//             columns that OS uses in the same step come column by column: the products of a column are neighbours and are
//             added as the segments of OS are, so that a group has one for each sum.
//
// Sources: spec "Machine"; SIGMA's adder tree, thesis section 4.4.3. The latency of the scatter network, the addition
// by column and both ways of charging conflicts are ours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/sida/pipeline/parameters.h"
#include "models/sida/pipeline/pass_memory.h"

namespace lacuna::sida {

/// Stages of a tree over `leaves`.
unsigned tree_stages(std::uint64_t leaves);

/// Throughput of OS, without its tree's latency.
Time os_cycles(std::uint64_t entries, const PassShape& shape, unsigned pes);

/// `elements` of one code, latency included; 0 without elements or instructions.
Time ewise_cycles(std::uint64_t elements, const ElementCode& code, unsigned pes);

/// Counts the groups of the IS core and what waits within them.
class ScatterGroups {
 public:
  ScatterGroups(const PassShape& shape, unsigned pes, Scatter scatter);

  /// Products of a row, one for each sum whose coordinate it has.
  void add(std::span<const Index> sums);
  /// The same, but only those below `limit`. Returns how many there were.
  std::uint64_t add_below(std::span<const Index> sums, Index limit);
  /// Ends the last group, which may be incomplete. Returns cycles since the last call.
  Time end();

  /// Groups of `entries` without a conflict.
  Time plain(std::uint64_t entries) const { return (entries + group_ - 1) / group_ * cycles_per_group_; }

  std::uint64_t conflicts() const { return conflicts_; }     ///< products that met others of their group for their sum
  Time conflict_cycles() const { return conflict_cycles_; }  ///< charged for them

 private:
  void count(Index sum);
  void close_group();

  std::uint64_t group_;  ///< entries
  Time cycles_per_group_;
  Scatter scatter_;
  unsigned count_bits_;              ///< of a mark; the others number groups
  std::vector<std::uint32_t> mark_;  ///< of each sum: group in which it was last used, and how often in it
  std::uint32_t number_ = 1;         ///< of the group
  std::uint64_t filled_ = 0;         ///< entries of the group
  std::uint32_t most_ = 0;           ///< products of the group for one sum
  Time cycles_ = 0;
  std::uint64_t conflicts_ = 0;
  Time conflict_cycles_ = 0;
};

}  // namespace lacuna::sida
