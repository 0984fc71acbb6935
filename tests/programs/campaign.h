// Batch checking of programs: every variant must compute the host's results. Failing programs are reduced and kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <vector>

#include "run.h"

namespace lacuna::programs {

struct CampaignOptions {
  std::uint64_t seed = 1;  ///< seed of the first program; each further program has the next seed
  std::uint64_t count = 100;
  unsigned batch = 20;  ///< programs in one code object
  bool matrix = false;  ///< generate programs with tiles of the matrix unit's extensions
  std::vector<Variant> variants;
  Simulator simulator;
  /// Folder of the files that build_programs() has built; empty: programs are built when they are run.
  std::filesystem::path built;
  std::filesystem::path keep;              ///< folder for failing programs
  std::chrono::seconds shrink_limit{300};  ///< 0: failing programs are kept as they are
};

/// Builds code objects and the host's results of all programs in the folder options.built. This takes most of the time of a
/// campaign, and depends neither on the simulator nor on its options. Programs that a compiler rejects are left to
/// run_campaign(), which reports them.
void build_programs(const CampaignOptions& options);

/// Checks all programs with every variant. Returns the number of failures: programs that failed, and batches whose programs
/// fail only together. Logs to `log`.
[[nodiscard]] std::uint64_t run_campaign(const CampaignOptions& options, std::ostream& log);

}  // namespace lacuna::programs
