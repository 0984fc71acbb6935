#include "models/gpu/translation_phase.h"

#include <algorithm>

#include "models/common/time/sort_by_time.h"

namespace lacuna {

void TranslationPhase::add(FirstLevelTlb& tlb, unsigned group) {
  while (groups_.size() <= group) groups_.emplace_back();
  tlbs_.push_back({&tlb, group});
  tlb.announce_departures(groups_[group].has_requests);
}

bool TranslationPhase::has_requests() const {
  return std::any_of(groups_.begin(), groups_.end(), [](const Group& group) { return group.has_requests; });
}

void TranslationPhase::translate() {
  if (!has_requests()) return;
  requests_.clear();
  for (const Translator& from : tlbs_) {
    if (!groups_[from.group].has_requests || !from.tlb->busy()) continue;
    departures_.clear();
    from.tlb->departures(departures_);
    for (const FirstLevelTlb::Departure& departure : departures_)
      requests_.push_back({departure.at, static_cast<std::uint32_t>(requests_.size()), departure.miss, from});
  }
  for (Group& group : groups_) group.has_requests = false;
  sort_by_time(requests_, sorted_);
  for (const Request& next : requests_) {
    FirstLevelTlb& tlb = *next.from.tlb;
    groups_[next.from.group].results.push_back({&tlb, next.miss, tlb.request_next_level(next.miss)});
  }
}

void TranslationPhase::deliver(unsigned group) {
  if (!has_results(group)) return;
  std::vector<Result>& results = groups_[group].results;
  for (const Result& result : results) result.tlb->complete(result.miss, result.response);
  results.clear();
}

void TranslationPhase::reset() {
  for (Group& group : groups_) {
    group.has_requests = false;
    group.results.clear();
  }
}

}  // namespace lacuna
