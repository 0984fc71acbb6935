#include "models/cache/replacement.h"

#include <algorithm>

namespace lacuna {

Replacement::Replacement(const ReplacementPolicy& policy, std::uint32_t sets, unsigned ways, std::uint64_t seed)
    : ways_(ways), last_(ways > 0 ? 4 * (ways - 1) : 0) {
  if (&policy == &ReplacementPolicy::lru && ways <= kMostInOrder) {
    orders_.assign(sets, first_order());
  } else {
    state_ = policy.make(sets, ways, seed);
  }
}

// Order as if the ways had been used in turn, way 0 first.
std::uint64_t Replacement::first_order() const {
  std::uint64_t order = 0;
  for (unsigned way = 0; way < ways_; ++way) order = order << 4 | way;
  // The last way is in the lowest bits: it was used last.
  return order;
}

void Replacement::reset() {
  std::fill(orders_.begin(), orders_.end(), first_order());
  if (state_ != nullptr) state_->reset();
}

void Replacement::reset(std::uint32_t set) {
  if (state_ == nullptr) {
    orders_[set] = first_order();
  } else {
    state_->reset(set);
  }
}

void Replacement::restart() {
  if (state_ != nullptr) state_->restart();
}

}  // namespace lacuna
