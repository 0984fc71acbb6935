// Eager loading: rows whose w is known are fetched ahead of OS when a core and not memory decides a step.
//
// With R entries to fetch, S the highest row up to which IS has finished all, E the number of rows that E-wise has finished:
// each row r with S < r < E that has entries in columns that neither loader has requested, in ascending order, until R entries
// have been fetched. T(i): entries of row i that have been fetched, by column or by row, those that this step
// fetches included.
//   mean      from the next entry on max(1, sum(T(i), i = S..r) / (r - S + 1)) entries
//   printed   from the next entry on, in column c, those up to column c + sum(T(i), i = S..r) / r (r = 0: by 1)
// A fetched entry is used by IS in the next step and converted to its column, where OS finds it. A conversion is discarded if
// the column lacks an entry of a lower row; the CSC loader fetches the entry again. The loader stops when the room for
// converted columns is used up, or that for sums that begin to live early.
//
// Sources: thesis, section 4.4.4, CSR loader; spec "Machine". S as the end of the finished rows, not the highest of them, and a
// row's use in the next step are ours. Memory: 16 bytes a row or column, allocated by the first fetch.
// Cost: one access a fetched entry, and amortised one a row.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/pipeline/parameters.h"
#include "models/sida/pipeline/pass_memory.h"
#include "models/sida/pipeline/vector_lines.h"

namespace lacuna::sida {

/// Entries [begin, end) of the IS order, of one row.
struct RowSegment {
  std::uint64_t begin, end;
};

struct EagerRequest {
  std::uint64_t step;
  std::uint64_t entries;     ///< R
  std::uint64_t known_rows;  ///< E
  /// First column of which the CSC loader has requested nothing, and will request nothing in this step: IS waits for the
  /// entries in the next step, OS comes to them after that.
  std::uint64_t frontier;
  std::uint64_t room_bytes;  ///< for converted columns and early sums together
};

class CsrLoader {
 public:
  CsrLoader(const PassShape& shape, std::uint64_t sub_tensor, Balance balance)
      : shape_(shape), sub_tensor_(sub_tensor), balance_(balance) {}

  /// Fetches up to R entries; segments() has them afterwards. Returns how many.
  std::uint64_t fetch(const EagerRequest& request, VectorLines& lines);
  const std::vector<RowSegment>& segments() const { return segments_; }
  void clear_segments() { segments_.clear(); }

  bool any() const { return !held_.empty(); }
  /// First entries of a column that are in the buffer, converted.
  std::uint64_t held(std::uint64_t column) const { return held_.empty() ? 0 : held_[column]; }
  std::uint64_t held_in(std::uint64_t sub_tensor) const { return sub_tensor < held_in_.size() ? held_in_[sub_tensor] : 0; }
  /// Entries of a column that IS has used, or will use in the next step, ahead of OS.
  std::uint64_t used_early(std::uint64_t column) const { return used_early_.empty() ? 0 : used_early_[column]; }
  /// OS has used the columns of a sub-tensor.
  void release(std::uint64_t sub_tensor);

  std::uint64_t held_now() const { return held_now_; }  ///< entries
  std::uint64_t converted() const { return converted_; }
  std::uint64_t discarded() const { return discarded_; }

 private:
  void allocate();
  Index unfinished(Index row);
  void skip_requested(Index row, std::uint64_t frontier);
  bool fetch_entry(Index row, Index column, const EagerRequest& request, VectorLines& lines);
  std::uint64_t row_end(Index row, std::uint64_t begin, std::uint64_t sum, Index first, std::uint64_t left) const;

  const PassShape& shape_;
  std::uint64_t sub_tensor_;
  Balance balance_;
  std::vector<Index> position_;  ///< entries of each row that have been requested, as far as they have been looked at
  std::vector<Index> next_;      ///< of each row: itself while it has entries to fetch, else one after it
  std::vector<Index> held_, used_early_;
  std::vector<Index> held_in_;  ///< of each sub-tensor
  std::vector<RowSegment> segments_;
  std::uint64_t held_now_ = 0, converted_ = 0, discarded_ = 0;
};

}  // namespace lacuna::sida
