// Tags, states and replacement order of a set-associative cache, in flat arrays. A line has one tag and one or more sectors,
// which are filled and become dirty independently. An empty slot is all zero bytes, so only the used parts of a large table
// occupy memory of the host.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "models/cache/replacement.h"
#include "models/common/host/host_prefetch.h"
#include "models/common/host/zeroed_array.h"
#include "models/common/time/units.h"
#include "models/common/transport/byte_mask.h"

namespace lacuna {

namespace detail {
struct CachePrefetch;
}

/// Lines are identified by their number (address / line size); the caller chooses the set.
class TagArray {
 public:
  using Slot = std::uint32_t;  // set * ways + way
  static constexpr Slot kNone = ~Slot{0};
  static constexpr std::uint32_t kNoFill = ~std::uint32_t{0};

  /// Number of a pending fill, stored inverted so that kNoFill is zero bytes.
  class FillNumber {
   public:
    FillNumber(std::uint32_t number = kNoFill) : inverted_(~number) {}  // NOLINT(google-explicit-constructor)
    operator std::uint32_t() const { return ~inverted_; }               // NOLINT(google-explicit-constructor)

   private:
    std::uint32_t inverted_;
  };

  // Half a cache line of the host: see detail/host_prefetch.h.
  struct alignas(32) Sector {
    Tick ready{};                     ///< arrival of the last fill
    Tick locked{};                    ///< end of the last fill or write, before which the way is not free
    std::uint64_t dirty = 0;          ///< dirty bytes among the sector's first 64; TagArray::dirty() returns all dirty bytes
    FillNumber pending{};             ///< pending fill of a cache that responds later; until then, ready and locked are unknown
    std::uint32_t fetch_ps : 31 = 0;  ///< duration of the last fill; saturates at 2 ms
    bool complete : 1 = false;        ///< whether all bytes are valid, not only the dirty bytes

    /// Time at which the miss of the last fill was found; its request may have left later.
    Tick requested() const { return {ready.ps - fetch_ps}; }
    void filled(Tick from, Tick until) {
      constexpr std::uint64_t kMost = ~std::uint32_t{0} >> 1;
      ready = until;
      fetch_ps = static_cast<std::uint32_t>(std::min(until.ps - from.ps, kMost) & kMost);
    }
  };
  static_assert(sizeof(Sector) == 32);

  /// `sector_bytes`: at most ByteMask::kBytes.
  TagArray(std::uint32_t sets, unsigned ways, unsigned sectors = 1, const ReplacementPolicy& policy = ReplacementPolicy::lru,
           std::uint64_t seed = 0, unsigned sector_bytes = 64);

  std::uint32_t sets() const { return sets_; }
  std::uint32_t slots() const { return sets_ * ways_; }
  unsigned ways() const { return ways_; }
  unsigned sectors() const { return sectors_count_; }

  /// The slot of a line that is present, or kNone. Does not change the replacement order.
  [[gnu::always_inline]] Slot find(std::uint32_t set, std::uint64_t line) const { return find_tag(set, ~line); }
  /// An empty slot of the set, or else the slot to be replaced.
  Slot victim(std::uint32_t set) {
    const Slot empty = empty_ != 0 ? find_tag(set, kEmpty) : kNone;
    return empty != kNone ? empty : victim_of_full(set);
  }
  /// Like victim(), for a set without an empty slot.
  Slot victim_of_full(std::uint32_t set) { return set * ways_ + replacement_.victim(set); }
  /// The slot that victim_of_full() would return, if the host can find it at nearly no cost; otherwise kNone.
  Slot cheap_victim(std::uint32_t set) { return replacement_.is_cheap() ? set * ways_ + replacement_.victim(set) : kNone; }
  /// Whether `slot` of a full set is replaced before `other`; neither is the victim. Always false if the policy does not order
  /// them.
  bool goes_before(Slot slot, Slot other) const {
    const std::uint32_t set = set_of(slot);
    return replacement_.goes_before(set, slot - set * ways_, other - set * ways_);
  }
  /// Set of a slot. A shift if the number of ways is a power of two: a division would take the host as long as the rest of a
  /// hit.
  std::uint32_t set_of(Slot slot) const { return way_bits_ >= 0 ? slot >> way_bits_ : slot / ways_; }
  /// The slot `count` ways after a slot of the same set, cyclically. `count` is less than ways().
  Slot ways_on(std::uint32_t set, Slot slot, unsigned count) const {
    const Slot on = slot + count;
    return on - set * ways_ < ways_ ? on : on - ways_;
  }
  /// Reports a use to the replacement policy.
  [[gnu::always_inline]] void touch(Slot slot) {
    const std::uint32_t set = set_of(slot);
    replacement_.touch(set, slot - set * ways_);
  }

  bool valid(Slot slot) const { return tags_[slot] != kEmpty; }
  /// Line of a valid slot.
  std::uint64_t tag(Slot slot) const { return ~tags_[slot]; }
  Sector& sector(Slot slot, unsigned index) { return sectors_[std::size_t{slot} * sectors_count_ + index]; }
  const Sector& sector(Slot slot, unsigned index) const { return sectors_[std::size_t{slot} * sectors_count_ + index]; }
  /// Installs a line without any valid bytes in an empty slot.
  void install(Slot slot, std::uint64_t line) {
    set_tag(slot, ~line);
    --empty_;
    note_install(slot);
    const std::uint32_t set = set_of(slot);
    replacement_.replace(set, slot - set * ways_);
  }
  void drop(Slot slot);
  /// Replaces the line of a slot by a line of which a single sector is present. Equivalent to drop() and install(), but only
  /// for a cache without dirty bytes.
  [[gnu::always_inline]] void replace(std::uint32_t set, Slot slot, std::uint64_t line, unsigned index, const Sector& present) {
    empty_ -= tags_[slot] == kEmpty ? 1 : 0;
    note_install(slot);
    set_tag(slot, ~line);
    Sector* const sectors = &sectors_[std::size_t{slot} * sectors_count_];
    if (sectors_count_ > 1) std::fill_n(sectors, sectors_count_, Sector{});
    sectors[index] = present;
    replacement_.replace(set, slot - set * ways_);
  }
  /// Drops all lines. Costs the host almost nothing if few lines were installed since the last call. This matters because the
  /// start of every GPU kernel invalidates all first-level caches.
  void drop_all();
  /// Whether a line has been installed since drop_all().
  bool used() const { return installed_ != 0; }

  /// Bytes of a sector of this array that downstream does not have.
  ByteMask dirty(const Sector& sector) const {
    return ByteMask(sector.dirty, dirty_high_.empty() ? 0 : dirty_high_[number_of(sector)]);
  }
  bool is_dirty(const Sector& sector) const {
    return sector.dirty != 0 || (!dirty_high_.empty() && dirty_high_[number_of(sector)] != 0);
  }
  void mark_dirty(Sector& sector, ByteMask bytes) {
    dirty_sectors_ += bytes.any() && !is_dirty(sector) ? 1 : 0;
    sector.dirty |= bytes.low();
    if (!dirty_high_.empty()) [[unlikely]]
      dirty_high_[number_of(sector)] |= bytes.high();
  }
  void clean(Sector& sector) {
    dirty_sectors_ -= is_dirty(sector) ? 1 : 0;
    sector.dirty = 0;
    if (!dirty_high_.empty()) [[unlikely]]
      dirty_high_[number_of(sector)] = 0;
  }
  std::uint32_t dirty_sectors() const { return dirty_sectors_; }

 private:
  friend struct detail::CachePrefetch;

  /// Maximum number of installed lines that drop_all() drops one by one.
  static constexpr unsigned kFew = 32;
  void note_install(Slot slot) {
    if (installed_ > kFew) return;
    if (installed_ < kFew) few_[installed_] = slot;
    ++installed_;
  }
  // A tag is the inverted number of a line. No line number is all ones, so 0 marks an empty slot.
  static constexpr std::uint64_t kEmpty = 0;
  // Sets of a multiple of 8 ways are searched by a signature of one byte per tag, eight at a time. For an absent line usually
  // no signature matches, and no tag is read.
  static constexpr unsigned kPerWord = 8;
  static constexpr unsigned kUnrolled = 4;  // ways that are searched per iteration in sets without signatures: most of these
                                            // sets have 4 ways
  static constexpr std::uint64_t kEach = 0x0101'0101'0101'0101;
  [[gnu::always_inline]] Slot find_tag(std::uint32_t set, std::uint64_t tag) const {
    const Slot first = set * ways_;
    if (signatures_.empty()) {
      const std::uint64_t* const tags = &tags_[first];
      unsigned way = 0;
      for (; way + kUnrolled <= ways_; way += kUnrolled) {
        for (unsigned i = 0; i < kUnrolled; ++i) {
          if (tags[way + i] == tag) return first + way + i;
        }
      }
      for (; way < ways_; ++way) {
        if (tags[way] == tag) return first + way;
      }
      return kNone;
    }
    const std::uint64_t wanted = kEach * signature(tag);
    for (Slot slot = first; slot < first + ways_; slot += kPerWord) {
      for (std::uint64_t equal = equal_bytes(slot, wanted); equal != 0; equal &= equal - 1) {
        const Slot found = slot + lowest_byte(equal);
        if (tags_[found] == tag) return found;  // tags with equal signatures may differ
      }
    }
    return kNone;
  }
  /// The first slot whose signature equals the line's; kNone: the line is absent, or there are no signatures.
  Slot first_candidate(std::uint32_t set, std::uint64_t line) const {
    if (signatures_.empty()) return kNone;
    const Slot first = set * ways_;
    const std::uint64_t wanted = kEach * signature(~line);
    for (Slot slot = first; slot < first + ways_; slot += kPerWord) {
      if (const std::uint64_t equal = equal_bytes(slot, wanted); equal != 0) return slot + lowest_byte(equal);
    }
    return kNone;
  }
  /// Returns a word in which the highest bit of byte i is set if signature `slot` + i equals the byte in `wanted`. Above a
  /// match, bits may be set falsely.
  std::uint64_t equal_bytes(Slot slot, std::uint64_t wanted) const {
    std::uint64_t others = 0;
    std::memcpy(&others, &signatures_[slot], sizeof others);
    others ^= wanted;
    return (others - kEach) & ~others & (kEach << 7);
  }
  static unsigned lowest_byte(std::uint64_t bits) { return static_cast<unsigned>(std::countr_zero(bits)) / 8; }
  std::size_t number_of(const Sector& sector) const { return static_cast<std::size_t>(&sector - &sectors_[0]); }
  static std::uint64_t signature(std::uint64_t tag) { return tag * 0x9e37'79b9'7f4a'7c15 >> 56; }
  void set_tag(Slot slot, std::uint64_t tag) {
    tags_[slot] = tag;
    if (!signatures_.empty()) signatures_[slot] = static_cast<std::uint8_t>(signature(tag));
  }

  std::uint32_t sets_;
  unsigned ways_;
  int way_bits_;  // -1: the number of ways is not a power of two
  unsigned sectors_count_;
  ZeroedArray<std::uint64_t> tags_;
  ZeroedArray<std::uint8_t> signatures_;  // signatures of the tags; empty: none are used
  ZeroedArray<Sector> sectors_;
  ZeroedArray<std::uint64_t> dirty_high_;  // dirty bytes from 64 on, by sector; empty: sectors have at most 64 bytes
  Replacement replacement_;
  std::uint32_t dirty_sectors_ = 0;
  std::uint32_t empty_;     ///< number of empty slots
  unsigned installed_ = 0;  ///< lines installed since drop_all(); at most kFew + 1
  std::array<Slot, kFew> few_{};
};

}  // namespace lacuna
