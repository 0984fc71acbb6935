#include "models/dram/bank_tail.h"

namespace lacuna {

void BankTail::extend_other(const BankTailTiming& t, std::uint64_t row, Cycle arrival) {
  Opening* found = find(row, arrival);
  if (found == nullptr) {
    Cycle begin = std::max(activate, arrival + t.ahead);
    if (count > 0) {
      Cycle& closed = openings[count - 1].closed;
      closed = std::max(precharge, arrival);
      begin = std::max(activate, closed + t.tRP);
      if (count == kOpenings) std::move(openings.begin() + 1, openings.end(), openings.begin());
    }
    count = std::min(count + 1, kOpenings);
    found = &openings[count - 1];
    *found = {.row = row, .column = begin + t.tRCD, .closed = kNever};
    activate = begin + t.tRC;
    precharge = begin + t.tRAS;
  }
  const Cycle column = std::max(found->column, arrival);
  found->column = column + t.gap;
  const Cycle free = column + t.tRTP;
  if (found->closed == kNever) {
    precharge = std::max(precharge, free);
  } else if (free > found->closed) {
    // The row stays open for longer, which delays all later openings.
    const Cycle later = free - found->closed;
    for (Opening* next = found; next->closed != kNever; ++next) {
      next->closed += later;
      (next + 1)->column += later;
    }
    activate += later;
    precharge += later;
  }
  if (t.closes) {
    count = 0;
    activate = std::max(activate, precharge + t.tRP);
  }
}

}  // namespace lacuna
