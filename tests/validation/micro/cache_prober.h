// Deduces a cache level's parameters from the cycles of chains of loads (machine.h). A working set "fits" when no load takes
// longer than a hit of that level.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/validation/micro/machine.h"

namespace lacuna::validation {

/// Cycles of a chain in addition to those of its loads, and cycles of a load that hits the L1.
struct Calibration {
  double overhead = 0;
  double l1_latency = 0;
};
Calibration calibrate(Machine& machine);

/// Number of bytes that an L1 miss fetches, and cycles of an L1 miss that hits the L2.
struct Transfer {
  double bytes = 0;
  double l2_latency = 0;
};
Transfer measure_transfer(Machine& machine, const Calibration& calibration);

class CacheProber {
 public:
  /// `hit`: cycles of a hit in the level that is probed. Working sets of `smallest` bytes and more miss the levels above; a
  /// working set of `largest` bytes does not fit. Chains of `largest` bytes take most of the time.
  CacheProber(Machine& machine, const Calibration& calibration, double hit, std::uint64_t smallest, std::uint64_t largest);

  /// Maximum number of bytes, a multiple of `step`, that fits.
  std::uint64_t size(std::uint64_t step);
  /// Maximum number of lines that fit if they are `distance` bytes apart; `distance` is a multiple of a way's bytes.
  unsigned ways(std::uint64_t distance);
  /// Line size: of ways + 1 lines that are `distance` bytes apart, half are moved; the line size is the smallest number of
  /// bytes by which they must be moved to fall into other sets. Each half must exceed the ways of the level above.
  std::uint64_t line(std::uint64_t distance, unsigned ways);

 private:
  std::vector<bool> fit(const ChaseTable& table, const std::vector<Chain>& chains);

  Machine& machine_;
  Calibration calibration_;
  double hit_;
  std::uint64_t smallest_;
  std::uint64_t largest_;
};

}  // namespace lacuna::validation
