#include "models/cache/tag_array.h"

#include <algorithm>

namespace lacuna {

TagArray::TagArray(std::uint32_t sets, unsigned ways, unsigned sectors, ReplacementPolicy policy, std::uint64_t seed)
    : sets_(sets),
      ways_(ways),
      way_bits_(std::has_single_bit(ways) ? std::countr_zero(ways) : -1),
      sectors_count_(sectors),
      tags_(std::size_t{sets} * ways, kEmpty),
      signatures_(ways % kPerWord == 0 && std::endian::native == std::endian::little ? tags_.size() : 0,
                  static_cast<std::uint8_t>(signature(kEmpty))),
      sectors_(std::size_t{sets} * ways * sectors),
      replacement_(policy, sets, ways, seed),
      empty_(sets * ways) {}

void TagArray::drop(Slot slot) {
  for (unsigned i = 0; i < sectors_count_; ++i) {
    Sector& dropped = sector(slot, i);
    clean(dropped);
    dropped = {};
  }
  empty_ += tags_[slot] != kEmpty ? 1 : 0;
  set_tag(slot, kEmpty);
}

void TagArray::drop_all() {
  if (!used_) return;
  used_ = false;
  empty_ = slots();
  std::fill(tags_.begin(), tags_.end(), kEmpty);
  std::fill(signatures_.begin(), signatures_.end(), static_cast<std::uint8_t>(signature(kEmpty)));
  std::fill(sectors_.begin(), sectors_.end(), Sector{});
  replacement_.reset();
  dirty_sectors_ = 0;
}

}  // namespace lacuna
