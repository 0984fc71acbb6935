#include "models/common/slot_calendar.h"

#include <algorithm>

namespace lacuna {

void SlotCalendar::retire(std::uint64_t horizon) {
  const std::uint64_t word = horizon >> 6;
  if (word <= first_word_) return;
  if (word - first_word_ >= words_.size()) {
    std::fill(words_.begin(), words_.end(), 0);
  } else {
    for (std::uint64_t w = first_word_; w < word; ++w) words_[w & (words_.size() - 1)] = 0;
  }
  first_word_ = word;
}

void SlotCalendar::reset() {
  std::fill(words_.begin(), words_.end(), 0);
  first_word_ = 0;
  busy_ = 0;
}

void SlotCalendar::grow(std::uint64_t word) {
  std::vector<std::uint64_t> larger(std::bit_ceil(word - first_word_ + 1));
  for (std::uint64_t w = first_word_; w < first_word_ + words_.size(); ++w) {
    larger[w & (larger.size() - 1)] = words_[w & (words_.size() - 1)];
  }
  words_ = std::move(larger);
}

}  // namespace lacuna
