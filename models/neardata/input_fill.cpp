#include "models/neardata/input_fill.h"

#include <algorithm>

namespace lacuna {
namespace {

// Past stays are dropped in groups of this size, since each drop moves all remaining stays.
constexpr std::size_t kStaysToDrop = 64;

}  // namespace

std::uint64_t InputFill::add(Tick arrived, Tick left, Tick horizon) {
  longest_ = later(longest_, left - arrived);
  retire(horizon);
  const auto place =
      std::upper_bound(stays_.begin(), stays_.end(), arrived, [](Tick at, const Stay& stay) { return at < stay.arrived; });
  std::uint64_t own = 1;
  for (auto before = place; before != stays_.begin() && (before - 1)->arrived + longest_ > arrived; --before)
    own += (before - 1)->left > arrived ? 1 : 0;
  std::uint64_t highest = own;
  for (auto after = place; after != stays_.end() && after->arrived < left; ++after) highest = std::max(highest, ++after->fill);
  stays_.insert(place, {arrived, left, own});
  return highest;
}

void InputFill::retire(Tick horizon) {
  while (stays_.size() >= kStaysToDrop && stays_[kStaysToDrop - 1].arrived + longest_ <= horizon)
    stays_.erase(stays_.begin(), stays_.begin() + kStaysToDrop);
}

}  // namespace lacuna
