#include "models/sida/pipeline/row_store.h"

#include <algorithm>
#include <bit>

namespace lacuna::sida {
namespace {

constexpr unsigned kWordRows = 64;  ///< bits in a word of `occupied_`

}  // namespace

RowStore::RowStore(const PassShape& shape, std::uint64_t sub_tensor, std::uint64_t steps, CsrReserve reserve,
                   double repack_threshold)
    : shape_(shape), sub_tensor_(sub_tensor), reserve_(reserve), repack_threshold_(repack_threshold), profile_(steps + 1) {
  if (!shape.has_is) return;
  for (std::uint64_t column = 0; column < shape.os.lines(); ++column)
    profile_[column / sub_tensor].added += shape.os.offsets[column + 1] - first_unknown(column);
  const LineOrder& rows = shape.is_order();
  // Space of the rows whose first waiting entry arrives in each step.
  std::vector<std::uint64_t> begun(reserve == CsrReserve::row ? steps : 0);
  for (std::uint64_t row = 0; row < rows.lines(); ++row) {
    const std::uint64_t length = rows.length(row), due = row / sub_tensor + 2;
    if (length == 0) continue;
    std::uint64_t waits = length;
    std::uint64_t begins = row / sub_tensor;
    if (!shape.same_lines) {
      const auto columns = rows.line(row);
      waits = static_cast<std::uint64_t>(std::lower_bound(columns.begin(), columns.end(), due * sub_tensor) - columns.begin());
      begins = columns.front() / sub_tensor;
    }
    if (waits == 0) continue;
    profile_[due].removed += waits;
    profile_[due].freed += reserve == CsrReserve::row ? length : waits;
    if (reserve == CsrReserve::row) begun[begins] += length;
  }
  std::uint64_t space = 0;
  for (std::uint64_t step = 0; step < steps; ++step) {
    space += (reserve == CsrReserve::row ? begun[step] : profile_[step].added) - profile_[step].freed;
    profile_[step].space = space;
  }
}

std::uint64_t RowStore::first_unknown(std::uint64_t column) const {
  const std::uint64_t step = column / sub_tensor_;
  const std::uint64_t known = step == 0 || shape_.same_lines ? 0 : (step - 1) * sub_tensor_;
  const auto rows = shape_.os.line(column);
  if (known == 0) return shape_.os.offsets[column];
  return shape_.os.offsets[column] +
         static_cast<std::uint64_t>(std::lower_bound(rows.begin(), rows.end(), known) - rows.begin());
}

/// Starts counting entries by row. Called after a step has added its entries and before the first eviction.
void RowStore::count_by_row(std::uint64_t step) {
  const LineOrder& rows = shape_.is_order();
  by_row_ = true;
  waiting_.resize(rows.lines());
  missing_.resize(rows.lines());
  occupied_.resize(rows.lines() / kWordRows + 1);
  highest_word_ = static_cast<Index>(occupied_.size() - 1);
  const std::uint64_t known = step == 0 ? 0 : std::min((step - 1) * sub_tensor_, rows.lines());
  for (std::uint64_t row = known; row < rows.lines(); ++row) {
    if (shape_.same_lines) {
      waiting_[row] = row < (step + 1) * sub_tensor_ ? static_cast<Index>(rows.length(row)) : 0;
    } else {
      const auto columns = rows.line(row);
      waiting_[row] =
          static_cast<Index>(std::lower_bound(columns.begin(), columns.end(), (step + 1) * sub_tensor_) - columns.begin());
    }
    if (waiting_[row] != 0) occupied_[row / kWordRows] |= std::uint64_t{1} << row % kWordRows;
  }
}

Index RowStore::end_of(std::uint64_t sub_tensor) const {
  return static_cast<Index>(std::min((sub_tensor + 1) * sub_tensor_, shape_.y_length));
}

RowUse RowStore::use(std::uint64_t step, std::vector<MemoryRequest>& reads) {
  RowUse result;
  if (step < 2) return result;
  if (!by_row_) {
    result.kept = profile_[step].removed;
    waiting_now_ -= result.kept;
    used_ -= profile_[step].freed;
    dead_ += profile_[step].freed;
    return result;
  }
  const LineOrder& rows = shape_.is_order();
  for (Index row = static_cast<Index>(std::min((step - 2) * sub_tensor_, shape_.y_length)); row < end_of(step - 2); ++row) {
    const std::uint64_t space = row_space(row);
    used_ -= space;
    dead_ += space;
    result.kept += waiting_[row];
    waiting_now_ -= waiting_[row];
    if (missing_[row] != 0) {
      result.reloaded += missing_[row];
      reads.push_back({MemoryKind::csr_reload, shape_.same_lines ? Operand::os_order : Operand::is_order,
                       (rows.offsets[row] + waiting_[row]) * shape_.entry_bytes,
                       std::uint64_t{missing_[row]} * shape_.entry_bytes});
    }
    waiting_[row] = missing_[row] = 0;
  }
  return result;
}

inline void RowStore::take_in_row(Index row, Index entries) {
  if (reserve_ == CsrReserve::row && missing_[row] != 0) {
    // The row has been evicted and will be loaded again as a whole.
    missing_[row] += entries;
    evictions_ += entries;
    return;
  }
  if (reserve_ == CsrReserve::row) {
    used_ += waiting_[row] == 0 ? shape_.is_order().length(row) : 0;
  } else {
    used_ += entries;
  }
  waiting_[row] += entries;
  occupied_[row / kWordRows] |= std::uint64_t{1} << row % kWordRows;
  waiting_now_ += entries;
  highest_word_ = std::max(highest_word_, row / kWordRows);
}

std::uint64_t RowStore::take_in(std::uint64_t step) {
  const std::uint64_t added = profile_[step].added;
  if (!by_row_) {
    waiting_now_ += added;
    used_ = profile_[step].space;
    return added;
  }
  for (std::uint64_t column = std::min(step * sub_tensor_, shape_.y_length); column < end_of(step); ++column) {
    if (shape_.same_lines) {
      if (shape_.os.length(column) != 0) take_in_row(static_cast<Index>(column), static_cast<Index>(shape_.os.length(column)));
      continue;
    }
    for (std::uint64_t entry = first_unknown(column); entry < shape_.os.offsets[column + 1]; ++entry)
      take_in_row(shape_.os.coordinates[entry], 1);
  }
  return added;
}

void RowStore::evict(std::uint64_t room) {
  while (used_ > room) {
    while (occupied_[highest_word_] == 0) --highest_word_;
    std::uint64_t& word = occupied_[highest_word_];
    const auto bit = static_cast<unsigned>(std::bit_width(word)) - 1;
    const Index row = highest_word_ * kWordRows + bit;
    const std::uint64_t space = row_space(row);
    Index& waiting = waiting_[row];
    const Index evicted =
        reserve_ == CsrReserve::row ? waiting : static_cast<Index>(std::min<std::uint64_t>(waiting, used_ - room));
    waiting -= evicted;
    if (waiting == 0) word &= ~(std::uint64_t{1} << bit);
    missing_[row] += evicted;
    waiting_now_ -= evicted;
    evictions_ += evicted;
    used_ -= space - row_space(row);
  }
}

void RowStore::end_repack() {
  dead_ -= dropped_;
  dropped_ = 0;
}

RowStore::Repack RowStore::make_room(std::uint64_t step, std::uint64_t room) {
  Repack repack;
  if (dropped_ == 0 && static_cast<double>(dead_) > repack_threshold_ * static_cast<double>(room)) {
    dropped_ = dead_;
    ++repacks_;
    repack.moved = waiting_now_;
  }
  repack.immediate = dropped_ != 0 && (repack_threshold_ == 0 || dead_ > room);
  if (repack.immediate) {
    dropped_ = dead_;
    end_repack();
  }
  if (used_ + dead_ > room) {
    if (!by_row_) count_by_row(step);
    evict(room - dead_);
  }
  return repack;
}

}  // namespace lacuna::sida
