// First-level caches: what leaves for the level behind, what its answers bring, and maintenance.
#include <algorithm>

#include "models/cache/first_level_cache.h"

namespace lacuna {

void FirstLevelCache::departures(Tick end, std::vector<Departure>& out) {
  if (next_departure_ >= end) return;
  Tick next = kNever;
  Departure* kept = departures_.data();
  for (const Departure& departure : departures_) {
    if (departure.at < end) {
      out.push_back(departure);
    } else {
      next = earlier(next, departure.at);
      *kept++ = departure;
    }
  }
  next_departure_ = next;
  departures_.resize(static_cast<std::size_t>(kept - departures_.data()));
}

LineAccess FirstLevelCache::request(std::uint32_t number) const {
  const Miss& miss = misses_[number];
  return {.address = miss.address,
          .byte_mask = miss.kind == Kind::fill ? ~std::uint64_t{0} : miss.byte_mask,
          .bytes = miss.bytes,
          .kind = miss.request,
          .write = miss.write,
          .atomic = miss.kind == Kind::atomic,
          .bypass_l1 = miss.bypass,
          .requester = miss.requester};
}

void FirstLevelCache::answer(std::uint32_t number, Tick at, const LatencyBreakdown& below) {
  Miss& miss = misses_[number];
  if (miss.kind == Kind::fill) {
    free_mshrs_.insert(at);
    if (miss.way.slot != TagArray::kNone) {
      TagArray::Sector& sector = tags_.sector(miss.way.slot, miss.sector);
      sector.ready = at;
      sector.locked = at + lock_;
      sector.pending = TagArray::kNoFill;
      if (!is_filling(miss.way.slot)) --filling_[tags_.set_of(miss.way.slot)];
    }
    if (const std::uint32_t successor = miss.way.successor; successor != kNone) {
      Miss& next = misses_[successor];
      next.room = later(next.room, at + lock_);
      if (--next.waits_for == 0) {
        statistics_.way_stall += next.room - (next.start + tag_);
        mshr_queue_.push(successor);
      }
    }
  }
  // Those who are told may ask for something else: the record is theirs already.
  const bool write = miss.kind == Kind::write;
  const bool counted = !miss.write;
  const std::uint32_t waiters = miss.waiters;
  const Waiter own{
      miss.start - miss.on_its_way.time(), miss.start - miss.at_bank.time(), miss.start, miss.tag, kNone, miss.client};
  const LineAnswer told{.made = own.made,
                        .arrived = own.arrived,
                        .done = write ? at : at + fill_,
                        .queueing = miss.at_bank.time() + (miss.room + miss.for_mshr.time() - (miss.start + tag_)),
                        .service = write ? tag_ : tag_ + fill_,
                        .mshr = miss.for_mshr.time(),
                        .level = level_,
                        .below = &below};
  misses_.give_back(number);
  tell(own, told, counted);
  if (waiters != kNone) [[unlikely]]
    answer_others(waiters, at, counted);
}

void FirstLevelCache::answer_others(std::uint32_t last, Tick at, bool counted) {
  std::uint32_t told = kNone;
  for (std::uint32_t next = waiters_[last].next; told != last;) {
    const Waiter waiter = waiters_[next];
    free_waiters_.push_back(next);
    told = std::exchange(next, waiter.next);
    const Tick done = lock_ > Tick{} ? later(waiter.start + tag_, at) + fill_ : later(waiter.start + hit_, at + fill_);
    // The latency of the fill under way, not a queue.
    tell(waiter,
         {.made = waiter.made,
          .arrived = waiter.arrived,
          .done = done,
          .queueing = waiter.start - waiter.arrived,
          .service = done - waiter.start,
          .mshr = {},
          .level = level_,
          .below = nullptr},
         counted);
  }
}

// -- maintenance

// What is held back will be looked at behind bookings from its arrival on, and the bank that holds it back will be blocked from
// then on.
void FirstLevelCache::retire(Tick horizon) {
  horizon_ = blocks_ == kNone ? horizon : earlier(horizon, blocks_from_);
  for (std::size_t i = 0; i < held_back_.size(); ++i) horizon_ = earlier(horizon_, held_back_[i].arrived);
}

void FirstLevelCache::forget_bookings() {
  for (ClockedCalendar& bank : banks_) bank.retire(horizon_);
  forgotten_ = horizon_;
}

void FirstLevelCache::drop_line(TagArray::Slot slot) {
  for (unsigned i = 0; i < tags_.sectors(); ++i) {
    const std::uint32_t pending = tags_.sector(slot, i).pending;
    if (pending != TagArray::kNoFill) misses_[pending].way.slot = TagArray::kNone;
  }
  if (is_filling(slot)) --filling_[tags_.set_of(slot)];
  tags_.drop(slot);
}

Tick FirstLevelCache::invalidate(Tick at) {
  if (tags_.used()) {
    for (Miss& miss : misses_) {
      if (miss.kind == Kind::fill) miss.way.slot = TagArray::kNone;
    }
    std::fill(filling_.begin(), filling_.end(), std::uint16_t{0});
  }
  return Cache::invalidate(at);
}

void FirstLevelCache::forget(std::uint64_t address, std::uint64_t bytes) {
  each_held(address, bytes, [this](TagArray::Slot slot) { drop_line(slot); });
}

void FirstLevelCache::reset() {
  Cache::reset();
  misses_.clear();
  waiters_.clear();
  free_waiters_.clear();
  departures_.clear();
  next_departure_ = kNever;
  free_mshrs_.assign(parameters_.mshrs);
  std::fill(filling_.begin(), filling_.end(), std::uint16_t{0});
  mshr_queue_.clear();
  free_transactions_.assign(parameters_.transactions);
  held_back_.clear();
  early_.clear();
  entered_ = false;
  blocks_ = kNone;
  joins_.clear();
  free_joins_.clear();
  horizon_ = forgotten_ = {};
}

}  // namespace lacuna
