#include "models/dram/request_queue.h"

namespace lacuna {

bool RequestQueue::is_filled(Cycle at) const {
  if (!is_filled()) return false;
  // The first that arrives later.
  std::size_t low = begin_;
  for (std::size_t high = end_; low != high;) {
    const std::size_t middle = low + (high - low) / 2;
    if (entry(middle).at > at) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return held_ + (low - begin_) >= room_;
}

void RequestQueue::grow() {
  std::vector<Entry> larger(2 * ring_.size());
  for (std::size_t place = begin_; place != end_; ++place) larger[place & (larger.size() - 1)] = entry(place);
  mask_ = larger.size() - 1;
  ring_ = std::move(larger);
}

}  // namespace lacuna
