#include "models/common/slot_calendars.h"

#include <algorithm>
#include <utility>

namespace lacuna {

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
