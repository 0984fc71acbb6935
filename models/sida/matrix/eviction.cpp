#include "models/sida/matrix/eviction.h"

#include <algorithm>

namespace lacuna::sida {
namespace {

class Buffer {
 public:
  Buffer(const SparseMatrix& matrix, Index width, std::uint64_t room, RowSpace space)
      : matrix_(matrix), width_(width), room_(room), waiting_(matrix.rows), missing_(matrix.rows), all_(matrix.rows) {
    if (space == RowSpace::whole) {
      for (Index c = 0; c < matrix.columns; ++c) {
        for (const Index r : matrix.column(c)) ++all_[r];
      }
      reserves_ = true;
    }
  }

  Reloads run() {
    const std::uint64_t sub_tensors = (std::uint64_t{matrix_.columns} + width_ - 1) / width_;
    Reloads result;
    // Two steps follow the last column, in which the rows of the last two sub-tensors are used.
    for (std::uint64_t step = 0; step < sub_tensors + 2; ++step) {
      result.steps.push_back(step >= 2 ? use(step - 2, result) : 0);
      if (step < sub_tensors) take_in(step);
      make_room();
      result.peak = std::max(result.peak, used_);
    }
    return result;
  }

 private:
  bool waits(Index row, Index column) const { return row / width_ + std::uint64_t{2} > column / width_; }
  Index end_of(std::uint64_t sub_tensor, Index last) const {
    return static_cast<Index>(std::min<std::uint64_t>((sub_tensor + 1) * width_, last));
  }
  std::uint64_t space(Index row) const { return reserves_ ? (waiting_[row] != 0 ? all_[row] : 0) : waiting_[row]; }

  /// Uses the rows of a sub-tensor. Returns the number of evicted entries, which must be loaded again.
  std::uint64_t use(std::uint64_t sub_tensor, Reloads& result) {
    std::uint64_t again = 0;
    for (Index row = static_cast<Index>(sub_tensor * width_); row < end_of(sub_tensor, matrix_.rows); ++row) {
      used_ -= space(row);
      result.kept += waiting_[row];
      again += missing_[row];
      waiting_[row] = missing_[row] = 0;
    }
    result.reloaded += again;
    return again;
  }

  void take_in(std::uint64_t sub_tensor) {
    for (Index c = static_cast<Index>(sub_tensor * width_); c < end_of(sub_tensor, matrix_.columns); ++c) {
      for (const Index row : matrix_.column(c)) {
        if (!waits(row, c)) continue;
        // The row has been evicted and will be loaded again as a whole.
        if (reserves_ && missing_[row] != 0) {
          ++missing_[row];
          continue;
        }
        const std::uint64_t before = space(row);
        ++waiting_[row];
        used_ += space(row) - before;
        highest_ = std::max(highest_, row);
      }
    }
  }

  void make_room() {
    while (used_ > room_) {
      while (waiting_[highest_] == 0) --highest_;
      Index& waiting = waiting_[highest_];
      const std::uint64_t too_much = used_ - room_, before = space(highest_);
      const auto evicted = reserves_ ? waiting : static_cast<Index>(std::min<std::uint64_t>(waiting, too_much));
      waiting -= evicted;
      missing_[highest_] += evicted;
      used_ -= before - space(highest_);
    }
  }

  const SparseMatrix& matrix_;
  const Index width_;
  const std::uint64_t room_;
  bool reserves_ = false;
  std::vector<Index> waiting_, missing_;  ///< numbers of each row's entries in the buffer, and of its evicted entries
  std::vector<Index> all_;                ///< number of entries of each row
  std::uint64_t used_ = 0;
  Index highest_ = 0;  ///< no higher row has an entry in the buffer
};

}  // namespace

Reloads reloads(const SparseMatrix& matrix, Index width, std::uint64_t room, RowSpace space) {
  if (!matrix.is_square()) throw MatrixError("only a square matrix can be used by two products of one pass");
  if (width == 0) throw MatrixError("a sub-tensor has at least one column");
  return Buffer(matrix, width, room, space).run();
}

}  // namespace lacuna::sida
