#include "models/cache/tag_array.h"

#include <algorithm>

namespace lacuna {

TagArray::TagArray(std::uint32_t sets, unsigned ways)
    : sets_(sets),
      ways_(ways),
      tags_(std::size_t{sets} * ways, kEmpty),
      used_(std::size_t{sets} * ways, 0),
      dirty_(std::size_t{sets} * ways, 0),
      lines_(std::size_t{sets} * ways) {}

TagArray::Slot TagArray::victim(std::uint32_t set) const {
  const auto first = used_.begin() + static_cast<std::ptrdiff_t>(std::size_t{set} * ways_);
  return static_cast<Slot>(std::min_element(first, first + ways_) - used_.begin());
}

void TagArray::drop_all() {
  std::fill(tags_.begin(), tags_.end(), kEmpty);
  std::fill(used_.begin(), used_.end(), 0);
  if (dirty_lines_ != 0) std::fill(dirty_.begin(), dirty_.end(), 0);
  dirty_lines_ = 0;
}

}  // namespace lacuna
