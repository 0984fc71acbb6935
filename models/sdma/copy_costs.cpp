#include "models/sdma/copy_costs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace lacuna {

namespace {

/// Maximum number of points of a kind, a bound for programs that copy many different sizes.
constexpr std::size_t kMostPoints = 64;
constexpr std::size_t kSamples = 3;

std::uint64_t between(std::uint64_t a, std::uint64_t b, double share) {
  const double value = static_cast<double>(a) + (static_cast<double>(b) - static_cast<double>(a)) * share;
  return value <= 0 ? 0 : static_cast<std::uint64_t>(std::llround(value));
}

}  // namespace

CopyCost CopyCost::towards(const CopyCost& other, double share) const {
  CopyCost result{.time = {between(time.ps, other.time.ps, share)}, .traffic = traffic};
  for (std::size_t i = 0; i < traffic.size(); ++i) result.traffic[i] = between(traffic[i], other.traffic[i], share);
  return result;
}

CopyCost CopyCost::scaled(double factor) const {
  return CopyCost{.traffic = std::vector<std::uint64_t>(traffic.size())}.towards(*this, factor);
}

CopyCost CopyCost::beyond(const CopyCost& other) const {
  CopyCost result{.time = later(time, other.time) - other.time, .traffic = traffic};
  for (std::size_t i = 0; i < traffic.size(); ++i) result.traffic[i] -= std::min(result.traffic[i], other.traffic[i]);
  return result;
}

void CopyCosts::add(const CopyKind& kind, std::uint64_t bytes, CopyCost cost) {
  Known& known = kinds_[kind];
  if (known.points.size() + known.samples.size() >= kMostPoints && !known.samples.contains(bytes)) return;
  if (known.points.contains(bytes)) return;
  std::vector<CopyCost>& samples = known.samples[bytes];
  samples.push_back(std::move(cost));
  if (samples.size() < kSamples) return;
  const auto median = samples.begin() + kSamples / 2;
  std::nth_element(samples.begin(), median, samples.end(),
                   [](const CopyCost& a, const CopyCost& b) { return a.time < b.time; });
  known.points.emplace(bytes, std::move(*median));
  known.samples.erase(bytes);
}

void CopyCosts::add_slope(const CopyKind& kind, std::uint64_t from, CopyCost first, std::uint64_t bytes, CopyCost more) {
  kinds_[kind].slope = Slope{from, std::move(first), bytes, std::move(more)};
}

std::optional<CopyCost> CopyCosts::of(const CopyKind& kind, std::uint64_t bytes) const {
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) return std::nullopt;
  const std::map<std::uint64_t, CopyCost>& points = found->second.points;
  const std::optional<Slope>& slope = found->second.slope;
  const auto above = points.lower_bound(bytes);
  if (above != points.end() && above->first == bytes) return above->second;
  if (slope && bytes >= slope->from) {
    CopyCost cost = slope->first;
    const double share = static_cast<double>(bytes - slope->from) / static_cast<double>(slope->bytes);
    const CopyCost more = slope->more.scaled(share);
    cost.time += more.time;
    for (std::size_t i = 0; i < cost.traffic.size(); ++i) cost.traffic[i] += more.traffic[i];
    return cost;
  }
  if (above == points.end() || above == points.begin()) return std::nullopt;
  const auto below = std::prev(above);
  if (above->first > 2 * below->first) return std::nullopt;
  const double share = static_cast<double>(bytes - below->first) / static_cast<double>(above->first - below->first);
  return below->second.towards(above->second, share);
}

}  // namespace lacuna
