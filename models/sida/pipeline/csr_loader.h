// Eager loading: when a core rather than memory limits a step, rows whose w is known are fetched ahead of OS.
//
// R: entries to fetch. S: IS has finished all rows up to S. E: number of rows that E-wise has finished. Rows r with S < r < E
// that have entries in columns not requested by either loader are fetched in ascending order, until R entries have been
// fetched. T(i): entries of row i fetched so far by column or by row, including those of this step. Of row r, sida.balance
// selects:
//   mean      the next max(1, sum(T(i), i = S..r) / (r - S + 1)) entries
//   printed   entries from the next entry, in column c, to column c + sum(T(i), i = S..r) / max(r, 1)
// A fetched entry is used by IS in the next step and is also converted to column order for OS. The conversion is discarded if
// an entry of a lower row in its column has not been fetched; the CSC loader then fetches the entry again. The loader stops
// when there is no room left for converted columns, or for sums that fetched entries use before OS has requested their columns.
//
// Source: thesis, section 4.4.4, CSR loader. Our choices: S is the end of the contiguous finished rows, not the highest
// finished row; a fetched row is used in the next step. Host memory: 8 bytes per row and 8 per column, allocated by the first
// fetch. Host cost: one access per fetched entry and, amortised, per row.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/pipeline/parameters.h"
#include "models/sida/pipeline/pass_memory.h"
#include "models/sida/pipeline/vector_lines.h"

namespace lacuna::sida {

/// Entries [begin, end) of one row in IS order.
struct RowSegment {
  std::uint64_t begin, end;
};

struct EagerRequest {
  std::uint64_t step;
  std::uint64_t entries;     ///< R: maximum number of entries to fetch
  std::uint64_t known_rows;  ///< E: number of rows whose w is known
  /// First column of which the CSC loader has requested no entry and requests none in this step. Entries of the columns from
  /// here on can be fetched: IS uses them in the next step, OS later.
  std::uint64_t frontier;
  std::uint64_t room_bytes;  ///< space for converted columns and early sums together, in bytes
};

class CsrLoader {
 public:
  CsrLoader(const PassShape& shape, std::uint64_t sub_tensor, Balance balance)
      : shape_(shape), sub_tensor_(sub_tensor), balance_(balance) {}

  /// Fetches up to R entries, which segments() then lists. Returns their number.
  std::uint64_t fetch(const EagerRequest& request, VectorLines& lines);
  const std::vector<RowSegment>& segments() const { return segments_; }
  void clear_segments() { segments_.clear(); }

  bool any() const { return !held_.empty(); }
  /// Number of a column's leading entries that have been fetched and converted to column order.
  std::uint64_t held(std::uint64_t column) const { return held_.empty() ? 0 : held_[column]; }
  std::uint64_t held_in(std::uint64_t sub_tensor) const { return sub_tensor < held_in_.size() ? held_in_[sub_tensor] : 0; }
  /// Number of a column's entries that IS has used, or will use in the next step, ahead of OS.
  std::uint64_t used_early(std::uint64_t column) const { return used_early_.empty() ? 0 : used_early_[column]; }
  /// Frees the converted entries of a sub-tensor that OS has used.
  void release(std::uint64_t sub_tensor);

  std::uint64_t held_now() const { return held_now_; }  ///< converted entries in the buffer
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
  std::vector<Index> position_;  ///< first entry of each row that may not have been requested
  std::vector<Index> next_;      ///< each row's own number while it has entries to fetch, then a later row
  std::vector<Index> held_, used_early_;
  std::vector<Index> held_in_;  ///< converted entries of each sub-tensor
  std::vector<RowSegment> segments_;
  std::uint64_t held_now_ = 0, converted_ = 0, discarded_ = 0;
};

}  // namespace lacuna::sida
