// The CSR space: entries that OS has used and that wait for their row, with reservation, repacking and eviction.
//
// After step s there wait those of columns below (s + 1) T in rows from (s - 1) T on (occupancy.h); of a pair (A, A^T) those of
// the lines of sub-tensors s - 1 and s. A step uses the rows of sub-tensor s - 2, takes in what OS has used, and makes room:
//   repack    Used entries take room until the space is repacked, which begins when they exceed a share of it and moves all
//             entries that wait, P (PEs of IS) a cycle. It goes on in the cycles that IS has to spare; the room is there when
//             it ends. With a threshold of 0, or when used entries alone are more than there is room for, IS repacks before
//             anything else.
//   evict     From the end of the highest row, only as many as needed (`element`), or the row as a whole (`row`, whose
//             reservation is given back only then, and whose later entries are not kept). Evicted entries are loaded when the
//             row is due. Equal to reloads() of eviction.h for a space of fixed size.
// Sources: thesis, section 4.4.4; spec "Machine", repacking and out of memory. The cost of repacking, its
// time and the threshold are ours. Repacking for each step moves more than reloading costs: W waiting entries take W / 1,024
// cycles, reloading d of them d 12 / 512; the threshold of a sixteenth has d = W / 16, above the break-even of W / 24.
//
// Counting entries by row costs one access an entry and begins with the first eviction: until then what waits in each step is
// known from the offsets and the diagonal. Memory: 8 bytes a row from then on, and 32 a step.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/pipeline/parameters.h"
#include "models/sida/pipeline/pass_memory.h"

namespace lacuna::sida {

struct RowUse {
  std::uint64_t kept = 0;      ///< entries that waited
  std::uint64_t reloaded = 0;  ///< entries that have to be loaded again
};

class RowStore {
 public:
  RowStore(const PassShape& shape, std::uint64_t sub_tensor, std::uint64_t steps, CsrReserve reserve, double repack_threshold);

  /// The rows of sub-tensor step - 2 are used; appends a read for each row that has lost entries.
  RowUse use(std::uint64_t step, std::vector<MemoryRequest>& reads);
  /// OS has used the columns of sub-tensor `step`. Returns entries converted, or kept, for their rows.
  std::uint64_t take_in(std::uint64_t step);
  /// Begins to repack if there is reason to, and evicts until the space has at most `room` entries. Returns entries to move
  /// from now on; `immediate`: before anything else.
  struct Repack {
    std::uint64_t moved = 0;
    bool immediate = false;
  };
  Repack make_room(std::uint64_t step, std::uint64_t room);
  bool repacking() const { return dropped_ != 0; }
  /// Used entries are dropped as of the begin of the repack.
  void end_repack();

  std::uint64_t waiting() const { return waiting_now_; }  ///< entries
  std::uint64_t space() const { return used_ + dead_; }   ///< entries, those reserved and those used but not dropped included
  std::uint64_t evictions() const { return evictions_; }
  std::uint64_t repacks() const { return repacks_; }

  /// First entry of column `c` whose row IS does not know when OS uses it in step c / T.
  std::uint64_t first_unknown(std::uint64_t column) const;

 private:
  struct Profile {
    std::uint64_t added = 0;    ///< entries taken in
    std::uint64_t removed = 0;  ///< entries of the rows that are used
    std::uint64_t space = 0;    ///< after the step
    std::uint64_t freed = 0;    ///< room of the rows that are used
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
  std::vector<Index> waiting_, missing_;  ///< entries of each row: in the buffer, and evicted
  std::vector<std::uint64_t> occupied_;   ///< a bit for each row that has entries in the buffer, and for some that are used
  Index highest_word_ = 0;                ///< no later word of `occupied_` has a bit
  std::uint64_t waiting_now_ = 0, used_ = 0;
  std::uint64_t dead_ = 0;     ///< used entries that have not been dropped
  std::uint64_t dropped_ = 0;  ///< those of them that the current repack drops
  std::uint64_t evictions_ = 0, repacks_ = 0;
};

}  // namespace lacuna::sida
