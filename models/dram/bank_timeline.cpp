#include "models/dram/bank_timeline.h"

#include <algorithm>

namespace lacuna {
namespace {

// Past openings are dropped when there are more than so many.
constexpr std::size_t kManyOpenings = 8;

}  // namespace

std::size_t BankTimeline::place(Cycle at, const Timing& timing) const {
  std::size_t next = place_now(at);
  for (; next < openings_.size(); ++next) {
    const Opening& behind = openings_[next];
    if (at < behind.arrived) break;
    Cycle begin = at;
    if (next > 0) {
      const Opening& ahead = openings_[next - 1];
      begin = std::max(std::max(at, ahead.free) + timing.precharge, ahead.activate + timing.cycle);
    }
    if (begin + timing.cycle <= behind.activate) break;
  }
  return next;
}

std::size_t BankTimeline::insert(std::size_t place, const Opening& opening, Cycle precharge, const Timing& timing,
                                 Cycle horizon) {
  if (openings_.size() > kManyOpenings) {
    std::size_t past = 0;
    while (past + 1 < place && openings_[past].closed < horizon && openings_[past].activate + timing.cycle < horizon) ++past;
    openings_.erase(openings_.begin(), openings_.begin() + static_cast<std::ptrdiff_t>(past));
    place -= past;
  }
  if (place > 0) openings_[place - 1].closed = std::max(precharge, openings_[place - 1].free);
  if (place < openings_.size() && openings_[place].row == opening.row && openings_[place].activate < opening.limit) {
    // The one that was there becomes this one: its first request finds the row open.
    Opening& same = openings_[place];
    same.activate = std::min(same.activate, opening.activate);
    same.arrived = std::min(same.arrived, opening.arrived);
    same.limit = opening.limit;
  } else {
    openings_.insert(openings_.begin() + static_cast<std::ptrdiff_t>(place), opening);
  }
  settle(place, timing);
  return place;
}

void BankTimeline::use(std::size_t index, Cycle until, Cycle work, const Timing& timing) {
  Opening& opening = openings_[index];
  opening.work += work;
  if (until <= opening.free) return;
  opening.free = until <= opening.closed ? until : std::min(until, opening.free + work);
  if (opening.closed == kOpen) return;
  opening.closed = std::max(opening.closed, opening.free);
  settle(index, timing);
}

void BankTimeline::settle(std::size_t index, const Timing& timing) {
  for (std::size_t next = index + 1; next < openings_.size(); ++next) {
    Opening& ahead = openings_[next - 1];
    Opening& behind = openings_[next];
    const Cycle earliest = std::max(ahead.free + timing.precharge, ahead.activate + timing.cycle);
    if (ahead.closed == kOpen || ahead.closed < ahead.free)
      ahead.closed = std::max(ahead.free, behind.activate - timing.precharge);
    if (behind.activate >= earliest) return;
    behind.activate = earliest;
    behind.free = std::max(behind.free, earliest + std::max(behind.work, timing.active));
    ahead.closed = std::max(ahead.closed, behind.activate - timing.precharge);
  }
}

}  // namespace lacuna
