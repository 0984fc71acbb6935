// Checking programs by the batch: every variant must compute what the host computes. What fails is made small and kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <vector>

#include "run.h"

namespace lacuna::programs {

struct CampaignOptions {
  std::uint64_t seed = 1;  ///< of the first program; the next has the next seed
  std::uint64_t count = 100;
  unsigned batch = 20;  ///< programs in one code object
  bool matrix = false;  ///< programs with tiles of the matrix unit's extensions
  std::vector<Variant> variants;
  Simulator simulator;
  /// What build_programs() has made of them; empty: they are built when they are run.
  std::filesystem::path built;
  std::filesystem::path keep;              ///< where what fails is written to
  std::chrono::seconds shrink_limit{300};  ///< 0: failing programs are kept as they are
};

/// Code objects and the host's results of all programs, into options.built: what takes most of the time, and depends neither on
/// the simulator nor on its options. What a compiler refuses is left to run_campaign(), which says so of each program.
void build_programs(const CampaignOptions& options);

/// Number of programs that failed. Says on `log` what happens.
[[nodiscard]] std::uint64_t run_campaign(const CampaignOptions& options, std::ostream& log);

}  // namespace lacuna::programs
