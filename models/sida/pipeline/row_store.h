// The CSR space: entries that have been used by OS and wait until IS uses their row, with reservation, repacking and eviction.
//
// After step s it holds the entries in columns below (s + 1) T and rows from (s - 1) T on (occupancy.h); for a pair (A, A^T),
// those in the lines of sub-tensors s - 1 and s. A step uses the rows of sub-tensor s - 2, adds the entries that OS has used,
// and makes space:
//   repack    Used entries take space until the next repack, which begins when they exceed a share of the space and moves all
//             waiting entries, P (PEs of IS) per cycle. It uses idle cycles of IS; the space is free when it ends. With a
//             threshold of 0, or when used entries alone exceed the capacity, IS repacks before anything else.
//   evict     With `element`, only as many entries as needed, from the end of the highest row. With `row`, the highest row as a
//             whole: this releases its reservation, and its later entries are not kept. Evicted entries are loaded again when
//             the row is used. For a space of fixed size, results equal those of reloads() in eviction.h.
// Source: thesis, section 4.4.4. The cost and time of repacking and the threshold are our choice. Repacking in each step would
// cost more than reloading: W waiting entries take W / 1,024 cycles to move, reloading d of them takes d 12 / 512; with a
// threshold of 1/16, d = W / 16, above the break-even of W / 24.
//
// Counting entries by row costs one access per entry and begins with the first eviction; until then the number of waiting
// entries follows from the offsets and the diagonal. Host memory: 32 bytes per step and, once counting has begun, 8 per row.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/pipeline/parameters.h"
#include "models/sida/pipeline/pass_memory.h"

namespace lacuna::sida {

struct RowUse {
  std::uint64_t kept = 0;      ///< entries that waited in the space
  std::uint64_t reloaded = 0;  ///< entries that must be loaded again
};

class RowStore {
 public:
  RowStore(const PassShape& shape, std::uint64_t sub_tensor, std::uint64_t steps, CsrReserve reserve, double repack_threshold);

  /// Uses the rows of sub-tensor step - 2; appends a read for each row with evicted entries.
  RowUse use(std::uint64_t step, std::vector<MemoryRequest>& reads);
  /// Adds the entries that wait for their rows, from the columns of sub-tensor `step`, which OS has used. Returns their number.
  std::uint64_t take_in(std::uint64_t step);
  struct Repack {
    std::uint64_t moved = 0;  ///< entries to move, if a repack begins in this step; otherwise 0
    bool immediate = false;   ///< IS completes the repack before its other work
  };
  /// Begins to repack if necessary, and evicts entries until the space holds at most `room` entries.
  Repack make_room(std::uint64_t step, std::uint64_t room);
  bool repacking() const { return dropped_ != 0; }
  /// Ends a repack: frees the space of the entries that were already used when the repack began.
  void end_repack();

  std::uint64_t waiting() const { return waiting_now_; }  ///< waiting entries
  /// Occupied space in entries, including reserved space and used entries not yet dropped.
  std::uint64_t space() const { return used_ + dead_; }
  std::uint64_t evictions() const { return evictions_; }
  std::uint64_t repacks() const { return repacks_; }

  /// First entry of `column` whose row is not available to IS yet when OS uses the column in step column / T.
  std::uint64_t first_unknown(std::uint64_t column) const;

 private:
  struct Profile {
    std::uint64_t added = 0;    ///< entries that the step adds
    std::uint64_t removed = 0;  ///< entries of the rows that the step uses
    std::uint64_t space = 0;    ///< occupied space after the step
    std::uint64_t freed = 0;    ///< space that the used rows free
  };
  std::uint64_t row_space(Index row) const {
    return reserve_ == CsrReserve::row ? (waiting_[row] != 0 ? shape_.is_order().length(row) : 0) : waiting_[row];
  }
  void count_by_row(std::uint64_t step);
  void take_in_row(Index row, Index entries);
  void evict(std::uint64_t room);
  Index end_of(std::uint64_t sub_tensor) const;

  const PassShape& shape_;
  std::uint64_t sub_tensor_;
  CsrReserve reserve_;
  double repack_threshold_;
  std::vector<Profile> profile_;
  bool by_row_ = false;
  std::vector<Index> waiting_, missing_;  ///< numbers of each row's entries in the buffer, and of its evicted entries
  std::vector<std::uint64_t> occupied_;   ///< one bit per row; set at least for all rows with entries in the buffer
  Index highest_word_ = 0;                ///< no later word of `occupied_` has a bit set
  std::uint64_t waiting_now_ = 0, used_ = 0;
  std::uint64_t dead_ = 0;     ///< used entries that have not been dropped
  std::uint64_t dropped_ = 0;  ///< used entries that the current repack drops
  std::uint64_t evictions_ = 0, repacks_ = 0;
};

}  // namespace lacuna::sida
