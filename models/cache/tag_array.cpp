#include "models/cache/tag_array.h"

#include <span>

namespace lacuna {

TagArray::TagArray(std::uint32_t sets, unsigned ways, unsigned sectors, const ReplacementPolicy& policy, std::uint64_t seed,
                   unsigned sector_bytes)
    : sets_(sets),
      ways_(ways),
      way_bits_(std::has_single_bit(ways) ? std::countr_zero(ways) : -1),
      sectors_count_(sectors),
      tags_(std::size_t{sets} * ways),
      signatures_(ways % kPerWord == 0 && std::endian::native == std::endian::little ? tags_.size() : 0),
      sectors_(std::size_t{sets} * ways * sectors),
      dirty_high_(sector_bytes > 64 ? sectors_.size() : 0),
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
  if (installed_ == 0) return;
  if (installed_ <= kFew) {
    for (const Slot slot : std::span(few_).first(installed_)) {
      set_tag(slot, kEmpty);
      for (unsigned i = 0; i < sectors_count_; ++i) {
        clean(sector(slot, i));
        sector(slot, i) = {};
      }
      replacement_.reset(set_of(slot));
    }
    replacement_.restart();
  } else {
    tags_.clear();
    signatures_.clear();
    sectors_.clear();
    dirty_high_.clear();
    replacement_.reset();
  }
  installed_ = 0;
  empty_ = slots();
  dirty_sectors_ = 0;
}

}  // namespace lacuna
