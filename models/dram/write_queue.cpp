#include "models/dram/write_queue.h"

#include <algorithm>

namespace lacuna {

WriteQueue::Cycle WriteQueue::accept_when_free(Cycle at, std::size_t waiting) const {
  const std::size_t free = entries_ - waiting;
  // One that comes early finds the place of those that are accepted later; when there is none it is behind them.
  const auto held_now =
      std::count_if(held_.begin(), held_.end(), [at](const Entry& e) { return e.accepted <= at && at < e.left; });
  if (static_cast<std::size_t>(held_now) < free) return at;
  return std::max(at, held_[held_.size() - free].left);
}

void WriteQueue::hold(Cycle accepted, Cycle left) {
  auto place = held_.end();
  while (place != held_.begin() && (place - 1)->left > left) --place;
  held_.insert(place, {accepted, left});
}

void WriteQueue::retire(Cycle horizon) {
  const auto live = std::find_if(held_.begin(), held_.end(), [horizon](const Entry& entry) { return entry.left > horizon; });
  held_.erase(held_.begin(), live);
}

}  // namespace lacuna
