#include "models/common/time/slot_calendar.h"

#include <algorithm>

namespace lacuna {

std::uint64_t SlotCalendar::reserve_further(std::uint64_t not_before) {
  const std::uint64_t from = clamp(not_before);
  std::uint64_t cycle = from;
  for (;;) {
    if (cycle >= full_from_ && cycle < full_to_) cycle = full_to_;
    std::uint64_t& word = at(cycle);
    const std::uint64_t free = ~word & (kAll << (cycle & 63));
    if (free != 0) {
      const std::uint64_t found = (cycle & ~std::uint64_t{63}) + static_cast<unsigned>(std::countr_zero(free));
      word |= free & (~free + 1);
      // Extend the known range if the search began within it; otherwise replace it.
      full_from_ = from >= full_from_ && from < full_to_ ? full_from_ : from;
      full_to_ = found + 1;
      return found;
    }
    cycle = (cycle | 63) + 1;
  }
}

std::uint64_t SlotCalendar::take_scattered(std::uint64_t not_before, unsigned count) {
  for (std::uint64_t cycle = clamp(not_before);;) {
    std::uint64_t& word = at(cycle);
    std::uint64_t free = ~word & (kAll << (cycle & 63));
    const auto have = static_cast<unsigned>(std::popcount(free));
    if (have >= count) {
      for (; count > 1; --count) free &= free - 1;
      const auto last = static_cast<unsigned>(std::countr_zero(free));
      // Book the last needed cycles: every cycle of this word from `cycle` to `last` is then booked.
      word |= (kAll << (cycle & 63)) & (kAll >> (63 - last));
      return (cycle & ~std::uint64_t{63}) + last;
    }
    word |= free;
    count -= have;
    cycle = (cycle | 63) + 1;
  }
}

void SlotCalendar::drop_before(std::uint64_t first) {
  if (!is_kept(first)) {
    clear();
  } else {
    const auto begin = words_.begin() + static_cast<std::ptrdiff_t>((first_ & ring_) >> 6);
    const auto end = words_.begin() + static_cast<std::ptrdiff_t>((first & ring_) >> 6);
    if (begin <= end) {
      std::fill(begin, end, 0);
    } else {
      std::fill(begin, words_.end(), 0);
      std::fill(words_.begin(), end, 0);
    }
  }
  first_ = first;
}

std::size_t SlotCalendar::booked() const {
  std::size_t count = 0;
  for (const std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

void SlotCalendar::clear() {
  // Shrink a ring that a booking far ahead has enlarged, as clearing a large ring repeatedly would be slow.
  if (words_.size() > kMostWords) words_.resize(kMostWords);
  ring_ = words_.size() * 64 - 1;
  std::fill(words_.begin(), words_.end(), 0);
}

void SlotCalendar::reset() {
  clear();
  first_ = 0;
  full_from_ = full_to_ = 0;
}

void SlotCalendar::grow(std::uint64_t cycle) {
  std::vector<std::uint64_t> larger(std::bit_ceil(((cycle - first_) >> 6) + 1));
  const std::uint64_t ring = larger.size() * 64 - 1;
  for (std::uint64_t c = first_; is_kept(c); c += 64) larger[(c & ring) >> 6] = words_[(c & ring_) >> 6];
  words_ = std::move(larger);
  ring_ = ring;
}

}  // namespace lacuna
