// Lines of x, w and z in the buffer in each step, and the requests to fetch, spill and read them back.
//
// Vectors take precedence; the CSR space gets the remaining space (our choice). There are two modes:
//   all fit   The live lines (lifetimes.h) and the CSC space fit together in every step. A line of x is fetched once; sums and
//             w stay until their last use. Host cost: O(1) per line, none per entry.
//   cached    They do not fit: the lines of x, w and z share the space outside the CSC space (line_cache.h). A line of x may be
//             fetched again. A line of sums or of w may be written ("spilled") and read back when it is used; a line of w is
//             not written if memory holds its contents. Host cost: one look-up per entry and core. x of the next sub-tensor is
//             looked up in the step before, in which x is fetched; if a line is replaced before OS uses it, the values stay in
//             the OS core's operand queue (our choice).
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
  std::uint64_t x_fetched = 0;     ///< lines of x fetched for the first time
  std::uint64_t x_refetched = 0;   ///< lines of x fetched again
  std::uint64_t sums_spilled = 0;  ///< lines of z written before they were finished
  std::uint64_t sums_read_back = 0;
  std::uint64_t w_spilled = 0;
  std::uint64_t w_read_back = 0;
};

/// Bytes of the buffer, by vector.
struct LineBytes {
  std::uint64_t x = 0, w = 0, z = 0;
  std::uint64_t all() const { return x + w + z; }
};

class VectorLines {
 public:
  /// `capacity`: bytes for lines. Without a value it is unlimited, and lines are not counted as part of the buffer.
  VectorLines(const PassShape& shape, std::uint64_t sub_tensor, std::uint64_t steps, unsigned line_bytes,
              std::optional<std::uint64_t> capacity);

  bool all_fit() const { return !cache_.has_value(); }
  /// Maximum over the steps of the bytes of live lines, whether they fit or not.
  std::uint64_t peak_bytes() const { return peak_; }
  /// Bytes of the lines held after all uses of a step.
  LineBytes held(std::uint64_t step) const;
  const LineCounts& counts() const { return counts_; }

  /// Marks all of x as loaded before step 0 (preload).
  void load_all_x();
  /// Looks up the lines of x for a sub-tensor, and appends the reads of those that must be fetched.
  void fetch_x(std::uint64_t sub_tensor, std::vector<MemoryRequest>& reads);
  /// Creates the lines of w for the rows of a sub-tensor that E-wise processes.
  void make_w(std::uint64_t sub_tensor);
  /// Records that IS uses a row's element of w.
  void use_w(Index row);
  /// Records that IS uses a column's sum.
  void use_sum(Index column);
  /// Records that IS uses those entries of a column whose rows are known.
  void use_column(Index column, std::span<const Index> known_rows);
  /// Returns the lines of z that are finished in a step, ascending; spilled lines are read back.
  std::span<const Index> finish_sums(std::uint64_t step);
  /// Removes lines after their last use, at the end of a step.
  void end_step(std::uint64_t step);
  /// Requests that spill lines; the caller makes them and clears the vector.
  std::vector<MemoryRequest>& spills() { return spills_; }
  /// Requests that read spilled lines back; the caller makes them and clears the vector.
  std::vector<MemoryRequest>& read_backs() { return read_backs_; }

  /// Records the use of a sum by an eagerly fetched entry in `step`. Call only if all_fit(). Returns false if the sum's line is
  /// not live and `may_begin` is false; otherwise the line is live from then on.
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
  std::vector<LineBytes> live_;  ///< bytes of live lines in each step
  std::uint64_t peak_ = 0;
  bool counted_;  ///< whether lines count as part of the buffer
  bool preloaded_ = false;
  LineCounts counts_;

  std::optional<LineCache> cache_;
  std::array<Index, 4> base_{};      ///< number of the first line of each vector in the cache, and total number of lines
  std::vector<std::uint8_t> state_;  ///< state of each line in the cache: kFetched, kSpilled
  LineBytes cached_;
  std::vector<MemoryRequest> spills_, read_backs_;

  std::vector<std::uint8_t> early_;  ///< whether each line of z is live early; empty before the first early use
  std::uint64_t early_bytes_ = 0;
};

}  // namespace lacuna::sida
