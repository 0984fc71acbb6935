#include "models/cache/tag_array.h"

#include <algorithm>
#include <cstring>

namespace lacuna {

TagArray::TagArray(std::uint32_t sets, unsigned ways, unsigned sectors, ReplacementPolicy policy, std::uint64_t seed)
    : sets_(sets),
      ways_(ways),
      sectors_count_(sectors),
      tags_(std::size_t{sets} * ways, kEmpty),
      sectors_(std::size_t{sets} * ways * sectors),
      replacement_(policy, sets, ways, seed),
      empty_(sets * ways) {}

// Four tags at a time and without asking each of them: the host could not predict which way it is.
TagArray::Slot TagArray::find_among_many(Slot first, std::uint64_t line) const {
  using Block [[gnu::vector_size(32)]] = std::int64_t;
  constexpr unsigned kBlock = sizeof(Block) / sizeof(std::int64_t);
  const Block wanted = Block{} + static_cast<std::int64_t>(line);
  unsigned way = 0;
  for (; way + 2 * kBlock <= ways_; way += 2 * kBlock) {
    Block low;
    Block high;
    std::memcpy(&low, &tags_[first + way], sizeof low);
    std::memcpy(&high, &tags_[first + way + kBlock], sizeof high);
    // A tag that is equal has all bits set.
    const Block equal_low = low == wanted;
    const Block equal_high = high == wanted;
    const Block either = equal_low | equal_high;
    if ((either[0] | either[1] | either[2] | either[3]) == 0) continue;
    unsigned found = way;
    while (tags_[first + found] != line) ++found;
    return first + found;
  }
  for (; way < ways_; ++way) {
    if (tags_[first + way] == line) return first + way;
  }
  return kNone;
}

TagArray::Slot TagArray::victim(std::uint32_t set) {
  const Slot empty = empty_ != 0 ? find(set, kEmpty) : kNone;
  return empty != kNone ? empty : set * ways_ + replacement_.victim(set);
}

void TagArray::drop(Slot slot) {
  for (unsigned i = 0; i < sectors_count_; ++i) {
    Sector& dropped = sector(slot, i);
    clean(dropped);
    dropped = {};
  }
  empty_ += tags_[slot] != kEmpty ? 1 : 0;
  tags_[slot] = kEmpty;
}

void TagArray::drop_all() {
  if (!used_) return;
  used_ = false;
  empty_ = slots();
  std::fill(tags_.begin(), tags_.end(), kEmpty);
  std::fill(sectors_.begin(), sectors_.end(), Sector{});
  replacement_.reset();
  dirty_sectors_ = 0;
}

}  // namespace lacuna
