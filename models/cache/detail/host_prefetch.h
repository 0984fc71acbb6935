// Prefetches of the state of simulated caches to the host's caches. They do not affect simulated results. For models/cache and
// the memory phase only.
//
// Performance notes
//   - Tags and sectors of a GPU's caches do not fit into the host's caches. Requests are therefore served in stages
//     (in_stages() in models/common/host/host_prefetch.h): while a request is served, the set of a later request is prefetched
//     (set()), and the line of a request in between (line()), which is known only once the set's tags have been loaded.
//   - Sets of a multiple of 8 ways are searched by one-byte signatures of the tags, eight at a time (TagArray::find()).
//   - Sizes: when there are many misses, most wait for an MSHR. Their records do not fit into the nearest caches, nor do the
//     sectors of all tag arrays. A FirstLevelCache::Miss is one cache line of the host; two TagArray::Sector share one.
//   - FirstLevelCache::read_hit(), look_up() and their callees are force-inlined: a call per request is measurable.
#pragma once

#include "models/cache/first_level_cache.h"

namespace lacuna::detail {

struct CachePrefetch {
  /// Prefetches the replacement state of a set and its signatures or, without signatures, its first tags and sectors.
  static void set(const TagArray& tags, std::uint32_t set) {
    const std::size_t first = std::size_t{set} * tags.ways_;
    tags.replacement_.prefetch(set);
    if (!tags.signatures_.empty()) {
      // Which tags and sectors will be read depends on whether the line is present.
      fetch_to_host(&tags.signatures_[first]);
      return;
    }
    fetch_to_host(&tags.tags_[first]);
    constexpr unsigned kMost = TagArray::kPerWord;
    for (unsigned sector = 0; sector < tags.ways_ * tags.sectors_count_ && sector < kMost;
         sector += 64 / sizeof(TagArray::Sector))
      fetch_to_host(&tags.sectors_[first * tags.sectors_count_ + sector]);
  }
  /// `local_line`: Cache::local_line().
  static void set(const Cache& cache, std::uint64_t local_line) { set(cache.tags_, cache.set_of(local_line)); }
  /// Prefetches the slot that probably holds the line, or else the slot that will be replaced. Call it when the set has been
  /// loaded by set(). Returns the slot, or kNone.
  static TagArray::Slot line(Cache& cache, std::uint64_t address, std::uint64_t local_line) {
    TagArray& tags = cache.tags_;
    const std::uint32_t set = cache.set_of(local_line);
    TagArray::Slot slot = tags.first_candidate(set, address >> cache.line_shift_);
    if (slot == TagArray::kNone) {
      slot = tags.cheap_victim(set);
      if (slot == TagArray::kNone) return TagArray::kNone;
    }
    fetch_to_host(&tags.tags_[slot]);
    fetch_to_host(&tags.sectors_[std::size_t{slot} * tags.sectors_count_]);
    return slot;
  }
  /// Prefetches the record of the victim's pending fill, for a line that misses in a set that may be full of pending fills.
  [[gnu::always_inline]] static void victim(FirstLevelCache& cache, std::uint32_t set) {
    const TagArray::Slot slot = cache.tags_.cheap_victim(set);
    if (slot == TagArray::kNone) return;
    const std::uint32_t pending = cache.tags_.sector(slot, 0).pending;
    if (pending != TagArray::kNoFill) fetch_to_host(&cache.misses_[pending]);
  }
  /// Prefetches the record of a miss. Call it before downstream_request() or complete().
  static void miss(const FirstLevelCache& cache, std::uint32_t number) { fetch_to_host(&cache.misses_[number]); }
  /// Prefetches the filled sector and the miss that waits for its way. Call it when the miss has been loaded by miss(), before
  /// complete().
  static void fill(const FirstLevelCache& cache, std::uint32_t number) {
    const FirstLevelCache::Miss& miss = cache.misses_[number];
    if (miss.kind != FirstLevelCache::Kind::fill) return;
    if (miss.fill.slot != TagArray::kNone) fetch_to_host(&cache.tags_.sector(miss.fill.slot, miss.sector));
    if (miss.fill.successor != FirstLevelCache::kNone) fetch_to_host(&cache.misses_[miss.fill.successor]);
  }
  /// Prefetches the record of the `number`-th miss to which resume() will assign an MSHR.
  static void waiting(const FirstLevelCache& cache, std::size_t number) {
    if (number < cache.mshr_queue_.size()) fetch_to_host(&cache.misses_[cache.mshr_queue_[number]]);
  }
};

}  // namespace lacuna::detail
