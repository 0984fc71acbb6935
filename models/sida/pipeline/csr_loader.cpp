#include "models/sida/pipeline/csr_loader.h"

#include <algorithm>
#include <numeric>

namespace lacuna::sida {

void CsrLoader::allocate() {
  const std::uint64_t rows = shape_.is.lines();
  position_.resize(rows);
  next_.resize(rows + 1);
  std::iota(next_.begin(), next_.end(), Index{0});
  held_.resize(shape_.os.lines());
  used_early_.resize(shape_.os.lines());
  held_in_.resize((shape_.os.lines() + sub_tensor_ - 1) / sub_tensor_);
}

/// The first row from `row` on that may have entries to fetch, or the number of rows.
Index CsrLoader::unfinished(Index row) {
  while (next_[row] != row) {
    next_[row] = next_[next_[row]];
    row = next_[row];
  }
  return row;
}

void CsrLoader::skip_requested(Index row, std::uint64_t frontier) {
  const auto columns = shape_.is.line(row).subspan(position_[row]);
  position_[row] += static_cast<Index>(std::lower_bound(columns.begin(), columns.end(), frontier) - columns.begin());
}

/// End of the entries to fetch in `row`, which begin at `begin`. `sum`: entries fetched so far in rows `first` to `row`.
std::uint64_t CsrLoader::row_end(Index row, std::uint64_t begin, std::uint64_t sum, Index first, std::uint64_t left) const {
  std::uint64_t end = std::min(shape_.is.offsets[row + 1], begin + left);
  if (balance_ == Balance::mean)
    return std::min(end, begin + std::max<std::uint64_t>(1, sum / (row - first + std::uint64_t{1})));
  const std::uint64_t last = shape_.is.coordinates[begin] + sum / std::max<Index>(row, 1);
  const auto columns = shape_.is.coordinates.subspan(begin, end - begin);
  return begin + static_cast<std::uint64_t>(std::upper_bound(columns.begin(), columns.end(), last) - columns.begin());
}

/// Fetches one entry. Returns false if there is no room for the converted entry or for its sum.
bool CsrLoader::fetch_entry(Index row, Index column, const EagerRequest& request, VectorLines& lines) {
  const std::uint64_t bytes = (held_now_ + 1) * shape_.entry_bytes + lines.early_bytes();
  if (bytes > request.room_bytes) return false;
  if (!lines.use_early(column, request.step + 1, bytes + lines.z_lines().bytes <= request.room_bytes)) return false;
  ++used_early_[column];
  const std::uint64_t next = shape_.os.offsets[column] + held_[column];
  if (shape_.os.coordinates[next] != row) {
    ++discarded_;
    return true;
  }
  ++held_[column];
  ++held_in_[column / sub_tensor_];
  ++held_now_;
  ++converted_;
  return true;
}

std::uint64_t CsrLoader::fetch(const EagerRequest& request, VectorLines& lines) {
  segments_.clear();
  if (request.entries == 0 || request.known_rows == 0 || request.frontier >= shape_.os.lines()) return 0;
  if (!any()) allocate();
  const Index end = static_cast<Index>(request.known_rows);
  std::uint64_t fetched = 0;
  // Removes finished rows from the list, from `row` on. The first row that remains in the list is S + 1.
  const auto settled = [&](Index row) {
    for (row = unfinished(row); row < end; row = unfinished(row)) {
      skip_requested(row, request.frontier);
      if (position_[row] < shape_.is.length(row)) break;
      next_[row] = row + 1;
    }
    return std::min(row, end);
  };
  Index row = settled(0);
  const Index first = row == 0 ? 0 : row - 1;
  std::uint64_t sum = 0;
  Index counted = first;  // first row that is not included in the sum
  for (; row < end && fetched < request.entries; row = settled(row + 1)) {
    sum += shape_.is.offsets[row] - shape_.is.offsets[counted] + position_[row];
    counted = row + 1;
    const std::uint64_t begin = shape_.is.offsets[row] + position_[row];
    const std::uint64_t stop = row_end(row, begin, sum, first, request.entries - fetched);
    std::uint64_t entry = begin;
    while (entry < stop && fetch_entry(row, shape_.is.coordinates[entry], request, lines)) ++entry;
    if (entry != begin) segments_.push_back({begin, entry});
    position_[row] += static_cast<Index>(entry - begin);
    fetched += entry - begin;
    sum += entry - begin;
    if (entry < stop) break;
  }
  return fetched;
}

void CsrLoader::release(std::uint64_t sub_tensor) { held_now_ -= held_in(sub_tensor); }

}  // namespace lacuna::sida
