// First-level caches: requests to the next level, their responses, and maintenance.
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

MemoryRequest FirstLevelCache::downstream_request(std::uint32_t number) const {
  const Miss& miss = misses_[number];
  return {.address = miss.address,
          .byte_mask = miss.kind == Kind::fill ? ByteMask::all() : miss.byte_mask,
          .bytes = miss.bytes,
          .requester = miss.requester,
          .kind = miss.request,
          .write = miss.write,
          .atomic = miss.kind == Kind::atomic,
          .bypass_l1 = miss.bypass};
}

void FirstLevelCache::complete(std::uint32_t number, Tick at, const LatencyBreakdown& below) {
  Miss& miss = misses_[number];
  Tick for_mshr{};
  std::uint32_t waiters = kNone;
  if (miss.kind == Kind::fill) {
    free_mshrs_.insert(at);
    for_mshr = miss.fill.for_mshr.time();
    waiters = miss.fill.waiters;
    if (miss.fill.slot != TagArray::kNone) {
      TagArray::Sector& sector = tags_.sector(miss.fill.slot, miss.sector);
      sector.ready = at;
      sector.locked = at + lock_;
      sector.pending = TagArray::kNoFill;
      if (!is_filling(miss.fill.slot)) --filling_[tags_.set_of(miss.fill.slot)];
    }
    if (const std::uint32_t successor = miss.fill.successor; successor != kNone) {
      Miss& next = misses_[successor];
      next.room = later(next.room, at + lock_);
      if (--next.waits_for == 0) {
        statistics_.way_stall += next.room - (next.start + tag_);
        mshr_queue_.push(successor);
      }
    }
  }
  // Release the record first: the client may make another request from within its callback.
  const bool write = miss.kind == Kind::write;
  const bool counted = !miss.write;
  const Waiter own{miss.start - miss.on_its_way.time(), miss.start - miss.at_bank.time(), miss.start, miss.tag, miss.client};
  const MemoryResponse response{.made = own.made,
                                .arrived = own.arrived,
                                .done = write ? at : at + fill_,
                                .queueing = miss.at_bank.time() + (miss.room + for_mshr - (miss.start + tag_)),
                                .service = write ? tag_ : tag_ + fill_,
                                .mshr = for_mshr,
                                .level = level_,
                                .below = &below};
  misses_.release(number);
  respond(own, response, counted);
  if (waiters != kNone) [[unlikely]]
    complete_waiters(waiters, at, counted);
}

void FirstLevelCache::complete_waiters(std::uint32_t last, Tick at, bool counted) {
  waiters_.take_all(last, [&](const Waiter& waiter) {
    const Tick done = lock_ > Tick{} ? later(waiter.start + tag_, at) + fill_ : later(waiter.start + hit_, at + fill_);
    // The rest of the pending fill's latency is service time, not queueing time.
    respond(waiter,
            {.made = waiter.made,
             .arrived = waiter.arrived,
             .done = done,
             .queueing = waiter.start - waiter.arrived,
             .service = done - waiter.start,
             .level = level_},
            counted);
  });
}

// -- maintenance

// Blocked requests have yet to book their banks, for their arrivals or later. A blocking miss, when it departs, books its bank
// for the time for which it has blocked the bank. Bookings from the earliest of these times on are therefore kept.
void FirstLevelCache::retire(Tick horizon) {
  horizon_ = blocks_ == kNone ? horizon : earlier(horizon, blocks_from_);
  for (std::size_t i = 0; i < held_back_.size(); ++i) horizon_ = earlier(horizon_, held_back_[i].arrived);
}

void FirstLevelCache::drop_bookings() {
  for (ClockedCalendar& bank : banks_) bank.retire(horizon_);
  forgotten_ = horizon_;
}

void FirstLevelCache::drop_line(TagArray::Slot slot) {
  for (unsigned i = 0; i < tags_.sectors(); ++i) {
    const std::uint32_t pending = tags_.sector(slot, i).pending;
    if (pending != TagArray::kNoFill) misses_[pending].fill.slot = TagArray::kNone;
  }
  if (is_filling(slot)) --filling_[tags_.set_of(slot)];
  tags_.drop(slot);
}

Tick FirstLevelCache::invalidate(Tick at) {
  if (tags_.used()) {
    for (Miss& miss : misses_) {
      if (miss.kind == Kind::fill) miss.fill.slot = TagArray::kNone;
    }
    std::fill(filling_.begin(), filling_.end(), std::uint16_t{0});
  }
  return Cache::invalidate(at);
}

void FirstLevelCache::drop_clean(std::uint64_t address, std::uint64_t bytes) {
  each_held(address, bytes, [this](TagArray::Slot slot) { drop_line(slot); });
}

void FirstLevelCache::reset() {
  Cache::reset();
  misses_.clear();
  waiters_.clear();
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
  splits_.clear();
  horizon_ = forgotten_ = {};
}

}  // namespace lacuna
