#include "models/dram/request_queue.h"

namespace lacuna {

void RequestQueue::grow() {
  std::vector<Entry> larger(2 * ring_.size());
  for (std::size_t place = begin_; place != end_; ++place) larger[place & (larger.size() - 1)] = entry(place);
  mask_ = larger.size() - 1;
  ring_ = std::move(larger);
}

}  // namespace lacuna
