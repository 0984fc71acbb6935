#include "tests/validation/micro/cache_prober.h"

#include <algorithm>
#include <stdexcept>

namespace lacuna::validation {
namespace {

constexpr unsigned kMostWays = 32;
constexpr std::uint64_t kLargestLine = 1024;
constexpr std::uint64_t kDword = 4;
constexpr unsigned kWarmUps = 2;

}  // namespace

Calibration calibrate(Machine& machine) {
  constexpr std::uint64_t kHops = 64;
  // A chain of one dword that points to itself.
  const std::vector<double> cycles =
      machine.chase({.bytes = kDword, .stride = 0, .links = {}}, {{0, kHops}, {0, 2 * kHops}}, kWarmUps);
  return {2 * cycles[0] - cycles[1], (cycles[1] - cycles[0]) / kHops};
}

// The lines are in the L2 but not in the L1, which the start of a dispatch empties: the further apart the loads are, the more
// of them miss, until all miss. The fastest of several parts of the chain is used, because it fetches no instructions and
// translates no pages. Latencies are compared with a tolerance of kNoise, far less than the effect of one hit in every two
// loads.
Transfer measure_transfer(Machine& machine, const Calibration& calibration) {
  constexpr std::uint64_t kHops = 64;
  constexpr std::uint64_t kParts = 4;
  constexpr double kNoise = 1.02;
  Transfer transfer;
  for (std::uint64_t stride = kDword; stride <= kLargestLine; stride *= 2) {
    std::vector<Chain> parts;
    for (std::uint64_t i = 0; i < kParts; ++i) parts.push_back({i * kHops * stride, kHops});
    const std::vector<double> cycles =
        machine.chase({.bytes = kParts * kHops * stride, .stride = stride, .links = {}}, parts, 0, 2);
    const double latency = (*std::min_element(cycles.begin(), cycles.end()) - calibration.overhead) / kHops;
    if (latency <= kNoise * transfer.l2_latency) break;
    transfer = {static_cast<double>(stride), latency};
  }
  return transfer;
}

CacheProber::CacheProber(Machine& machine, const Calibration& calibration, double hit, std::uint64_t smallest,
                         std::uint64_t largest)
    : machine_(machine), calibration_(calibration), hit_(hit), smallest_(smallest), largest_(largest) {}

std::vector<bool> CacheProber::fit(const ChaseTable& table, const std::vector<Chain>& chains) {
  const std::vector<double> cycles = machine_.chase(table, chains, kWarmUps);
  std::vector<bool> fits;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    fits.push_back(cycles[i] - calibration_.overhead <= hit_ * static_cast<double>(chains[i].hops));
  }
  return fits;
}

std::uint64_t CacheProber::size(std::uint64_t step) {
  constexpr std::uint64_t kParts = 16;
  const ChaseTable table{.bytes = 2 * largest_, .stride = step, .links = {}};
  const auto largest = [&](const std::vector<std::uint64_t>& sizes) {
    std::vector<Chain> chains;
    chains.reserve(sizes.size());
    for (const std::uint64_t size : sizes) chains.push_back({0, size / step});
    const std::vector<bool> fits = fit(table, chains);
    const auto first_too_large = std::find(fits.begin(), fits.end(), false);
    if (first_too_large == fits.begin()) throw std::runtime_error(machine_.name() + ": not even the smallest working set fits");
    if (first_too_large == fits.end()) throw std::runtime_error(machine_.name() + ": even the largest working set fits");
    return static_cast<std::size_t>(first_too_large - fits.begin()) - 1;
  };
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = smallest_; size <= largest_; size *= 2) sizes.push_back(size);
  std::uint64_t low = sizes[largest(sizes)];
  for (std::uint64_t high = 2 * low; high - low > step;) {
    const std::uint64_t part = std::max(step, (high - low) / kParts / step * step);
    sizes.clear();
    for (std::uint64_t size = low; size < high; size += part) sizes.push_back(size);
    sizes.push_back(high);
    const std::size_t index = largest(sizes);
    low = sizes[index];
    high = sizes[index + 1];
  }
  return low;
}

unsigned CacheProber::ways(std::uint64_t distance) {
  std::vector<Chain> chains;
  for (unsigned n = 1; n <= kMostWays + 1; ++n) chains.push_back({0, n});
  const std::vector<bool> fits = fit({.bytes = (kMostWays + 2) * distance, .stride = distance, .links = {}}, chains);
  const auto first_too_many = std::find(fits.begin(), fits.end(), false);
  if (first_too_many == fits.end()) throw std::runtime_error(machine_.name() + ": more ways than looked for");
  return static_cast<unsigned>(first_too_many - fits.begin());
}

std::uint64_t CacheProber::line(std::uint64_t distance, unsigned ways) {
  const unsigned lines = ways + 1;
  const unsigned stay = (lines + 1) / 2;
  ChaseTable table{.bytes = (lines + 1) * distance, .stride = distance, .links = {}};
  std::vector<Chain> chains;
  for (std::uint64_t moved = kDword; moved <= kLargestLine; moved *= 2) {
    chains.push_back({stay * distance + moved, lines});
    table.links.emplace_back((lines - 1) * distance + moved, 0);
  }
  const std::vector<bool> fits = fit(table, chains);
  const auto first = std::find(fits.begin(), fits.end(), true);
  if (first == fits.end()) throw std::runtime_error(machine_.name() + ": a line longer than looked for");
  return kDword << (first - fits.begin());
}

}  // namespace lacuna::validation
