// Which lines of x, w and z the buffer holds in each step, and what is fetched, spilled and read back for them.
//
// Vectors take their lines first, the CSR space what is left (spec "Consequences"; a choice). Two ways:
//   all fit   The lines that live (lifetimes.h) fit beside the CSC space in every step. A line of x is fetched once, sums and w
//             stay until their last use. O(1) a line, nothing for an entry.
//   cached    They do not: the lines of all three share what the CSC space leaves (line_cache.h). A line of x
//             is fetched again; a sum is written ("spilled") and read back when it is used; w is written once and read back.
//             One look-up an entry and core. x of the next sub-tensor is looked up in the step before, as it is fetched then;
//             a value stays in the OS core's operand queue if its line has left before OS comes to it (ours).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/sida/pipeline/lifetimes.h"
#include "models/sida/pipeline/line_cache.h"
#include "models/sida/pipeline/pass_memory.h"

namespace lacuna::sida {

struct LineCounts {
  std::uint64_t x_fetched = 0;     ///< lines, the first time
  std::uint64_t x_refetched = 0;   ///< again
  std::uint64_t sums_spilled = 0;  ///< lines of z written before they were finished
  std::uint64_t sums_read_back = 0;
  std::uint64_t w_spilled = 0;
  std::uint64_t w_read_back = 0;
};

/// Bytes of the buffer by vector.
struct LineBytes {
  std::uint64_t x = 0, w = 0, z = 0;
  std::uint64_t all() const { return x + w + z; }
};

class VectorLines {
 public:
  /// `capacity`: bytes for lines; none: without limit, and lines are not counted as part of the buffer.
  VectorLines(const PassShape& shape, std::uint64_t sub_tensor, std::uint64_t steps, unsigned line_bytes,
              std::optional<std::uint64_t> capacity);

  bool all_fit() const { return !cache_.has_value(); }
  /// The most bytes of lines that live in one step, whether they fit or not.
  std::uint64_t peak_bytes() const { return peak_; }
  /// Held after the uses of a step.
  LineBytes held(std::uint64_t step) const;
  const LineCounts& counts() const { return counts_; }

  /// All of x has been loaded before step 0 (preload).
  void load_all_x();
  /// x for a sub-tensor: appends the reads.
  void fetch_x(std::uint64_t sub_tensor, std::vector<MemoryRequest>& reads);
  /// Rows of a sub-tensor go through E-wise.
  void make_w(std::uint64_t sub_tensor);
  /// IS uses w of a row; the sum of a column.
  void use_w(Index row);
  void use_sum(Index column);
  /// Columns [first, last) with the rows that IS uses: those below `known`.
  void use_column(Index column, std::span<const Index> known_rows);
  /// Lines of z that are finished in a step, ascending; those that have been spilled are read back.
  std::span<const Index> finish_sums(std::uint64_t step);
  /// After all uses of a step: lines whose last use it was leave.
  void end_step(std::uint64_t step);
  /// Spills and reads back since the last call. Valid until the next use.
  std::vector<MemoryRequest>& spills() { return spills_; }
  std::vector<MemoryRequest>& read_backs() { return read_backs_; }

  /// All fit only: a sum is used by an eagerly fetched entry in `step`. False if its line does not live yet and `may_begin` is
  /// false; else the line lives from now on.
  bool use_early(Index column, std::uint64_t step, bool may_begin);
  std::uint64_t early_bytes() const { return early_bytes_; }
  const LineGeometry& z_lines() const { return z_.lines; }

 private:
  enum Vector : std::uint8_t { kX, kW, kZ };
  Index id(Vector vector, Index line) const { return base_[vector] + line; }
  void use(Vector vector, Index line);
  std::uint64_t leaves(Index id);
  MemoryRequest part(Vector vector, Index line) const;
  void read_x(Index line, std::vector<MemoryRequest>& reads);
  void add_live(const LineLives& lives, std::uint64_t LineBytes::*member, std::uint64_t lead, std::uint64_t steps);

  const PassShape& shape_;
  std::uint64_t sub_tensor_;
  LineLives x_, w_, z_;
  StepLists x_by_need_, x_by_end_, w_by_end_, z_by_begin_, z_by_end_;
  std::vector<LineBytes> live_;  ///< of each step
  std::uint64_t peak_ = 0;
  bool counted_;  ///< lines are part of the buffer
  bool preloaded_ = false;
  LineCounts counts_;

  std::optional<LineCache> cache_;
  std::array<Index, 4> base_{};      ///< first number of each vector's lines in the cache, and their number
  std::vector<std::uint8_t> state_;  ///< of each line in the cache: kFetched, kSpilled
  LineBytes cached_;
  std::vector<MemoryRequest> spills_, read_backs_;

  std::vector<std::uint8_t> early_;  ///< of each line of z; empty until the first one
  std::uint64_t early_bytes_ = 0;
};

}  // namespace lacuna::sida
