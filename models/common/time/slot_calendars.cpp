#include "models/common/time/slot_calendars.h"

#include <algorithm>
#include <utility>

namespace lacuna {

std::uint64_t SlotCalendars::first_run(std::size_t a, std::size_t b, std::uint64_t not_before, unsigned count) {
  std::uint64_t cycle = std::max(not_before, first_word_ << 6);
  std::uint64_t first = cycle;
  while (cycle - first < count) {
    if ((cycle >> 6) - first_word_ >= ring_) grow(cycle >> 6);
    const unsigned shift = cycle & 63;
    const std::uint64_t taken = (word(a, cycle >> 6) | word(b, cycle >> 6)) >> shift;
    // Number of consecutive free cycles from here on, limited to this word.
    const unsigned free = taken != 0 ? static_cast<unsigned>(std::countr_zero(taken)) : 64 - shift;
    cycle += free;
    if (cycle - first >= count || free == 64 - shift) continue;
    cycle += static_cast<unsigned>(std::countr_one(taken >> free));
    first = cycle;
  }
  return first;
}

void SlotCalendars::fill(std::size_t calendar, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t end = first + count;
  for (std::uint64_t cycle = std::max(first, first_word_ << 6); cycle < end;) {
    if ((cycle >> 6) - first_word_ >= ring_) grow(cycle >> 6);
    const unsigned shift = cycle & 63;
    const std::uint64_t part = std::min<std::uint64_t>(end - cycle, 64 - shift);
    word(calendar, cycle >> 6) |= (kAll >> (64 - part)) << shift;
    cycle += part;
  }
}

bool SlotCalendars::retire(std::uint64_t horizon) {
  const std::uint64_t now = horizon >> 6;
  if (now <= first_word_) return false;
  const std::uint64_t dropped = std::min<std::uint64_t>(now - first_word_, ring_);
  for (std::size_t calendar = 0; calendar < count_; ++calendar) {
    for (std::uint64_t w = first_word_; w < first_word_ + dropped; ++w) word(calendar, w) = 0;
  }
  first_word_ = now;
  return true;
}

void SlotCalendars::reset() {
  std::fill(words_.begin(), words_.end(), 0);
  first_word_ = 0;
}

void SlotCalendars::grow(std::uint64_t word) {
  const std::size_t larger = std::bit_ceil(word - first_word_ + 1);
  std::vector<std::uint64_t> words(count_ * larger);
  for (std::size_t calendar = 0; calendar < count_; ++calendar) {
    for (std::uint64_t w = first_word_; w < first_word_ + ring_; ++w) {
      words[calendar * larger + (w & (larger - 1))] = words_[calendar * ring_ + (w & (ring_ - 1))];
    }
  }
  words_ = std::move(words);
  ring_ = larger;
}

}  // namespace lacuna
