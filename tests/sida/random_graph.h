// Random graphs, executed as passes of the accelerator and by the reference.
#pragma once

#include <cstdint>
#include <string>

namespace lacuna::sida::test {

struct RandomOutcome {
  bool compiled = false;
  unsigned fused = 0;      ///< number of products that share a pass
  std::string difference;  ///< empty: none
};

/// Generates a graph with one or two matrices, stored dual or blocked, from the seed. Runs it with each kind of fusion until
/// the results differ from those of the reference.
RandomOutcome run_random_graph(std::uint64_t seed);

}  // namespace lacuna::sida::test
