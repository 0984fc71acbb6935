#include "models/tlb/first_level_tlb.h"

#include "models/common/containers/pooled_records.h"

namespace lacuna {

bool FirstLevelTlb::translate_or_defer(std::uint64_t address, Tick at, TranslationClient& client, std::uint32_t tag,
                                       Tick& known) {
  known = admit(at) + hit_;
  const std::uint64_t page = address >> page_shift_;
  if (is_last(page)) [[likely]] {
    const TagArray::Sector& entry = tags_.sector(last_, 0);
    if (entry.pending == TagArray::kNoFill && entry.ready <= known) {
      ++statistics_.hits;
      return true;
    }
  }
  return translate_slowly(address, at, client, tag, known);
}

// Handles all cases but a hit on the last page. `known`: time at which a hit would return the translation.
[[gnu::noinline]] bool FirstLevelTlb::translate_slowly(std::uint64_t address, Tick at, TranslationClient& client,
                                                       std::uint32_t tag, Tick& known) {
  const std::uint64_t page = address >> page_shift_;
  if (const TagArray::Slot slot = find(page); slot != TagArray::kNone) {
    const TagArray::Sector& entry = tags_.sector(slot, 0);
    if (entry.pending != TagArray::kNoFill) {
      ++statistics_.secondary_misses;
      waiters_.append(misses_[entry.pending].waiters, {&client, tag, known});
      return false;
    }
    ++(entry.ready <= known ? statistics_.hits : statistics_.secondary_misses);
    known = later(known, entry.ready);
    return true;
  }
  const std::uint32_t miss = take_record(misses_, free_misses_);
  misses_[miss] = {.address = address, .made = at, .at = known};
  waiters_.append(misses_[miss].waiters, {&client, tag, Tick{}});
  departures_.push_back({known, miss});
  if (announced_ != nullptr) *announced_ = true;

  tags_.sector(install(page), 0) = {.ready = kNever, .pending = miss, .complete = true};
  return false;
}

void FirstLevelTlb::departures(std::vector<Departure>& out) {
  out.insert(out.end(), departures_.begin(), departures_.end());
  departures_.clear();
}

FirstLevelTlb::Response FirstLevelTlb::request_next_level(std::uint32_t number) {
  const Miss& miss = misses_[number];
  Response response;
  response.ready = fetch(miss.address, miss.at, response.requested);
  statistics_.miss_latency += response.ready - miss.made;
  return response;
}

void FirstLevelTlb::complete(std::uint32_t number, const Response& response) {
  const Miss miss = misses_[number];
  // Fills the entry, unless it has been replaced or invalidated in the meantime.
  const std::uint64_t page = miss.address >> page_shift_;
  const TagArray::Slot slot = tags_.find(static_cast<std::uint32_t>(page & (tags_.sets() - 1)), page);
  if (slot != TagArray::kNone && tags_.sector(slot, 0).pending == number) {
    tags_.sector(slot, 0) = {.complete = true};
    tags_.sector(slot, 0).filled(response.requested, response.ready);
  }
  waiters_.take_all(miss.waiters,
                    [&](const Waiter& waiter) { waiter.client->translated(waiter.tag, later(waiter.known, response.ready)); });
  free_misses_.push_back(number);
}

}  // namespace lacuna
