#include "models/common/host/thread_contention.h"

#include <sys/resource.h>

#include <algorithm>

namespace lacuna {

bool ThreadContention::change(Time now, std::uint64_t losses) {
  // An observation that should have ended long ago is discarded, as no work was shared since then.
  const bool fresh = sharing_ && observed_ && now < change_ + kObserve;
  if (fresh && losses - losses_ >= kLosses) {
    sharing_ = false;
    observed_ = false;
    change_ = now + alone_;
    alone_ = std::min(2 * alone_, kAloneAtMost);
    return false;
  }
  if (fresh) alone_ = kAlone;
  sharing_ = true;
  observed_ = true;
  losses_ = losses;
  change_ = now + kObserve;
  return true;
}

std::uint64_t involuntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_nivcsw);
}

}  // namespace lacuna
