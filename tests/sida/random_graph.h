// Graphs at random, and their run by the accelerator's passes beside that by one operation after the other.
#pragma once

#include <cstdint>
#include <string>

namespace lacuna::sida::test {

struct RandomOutcome {
  bool compiled = false;
  unsigned fused = 0;      ///< products that share a pass
  std::string difference;  ///< empty: none
};

/// A graph from the seed, on a matrix from the seed, stored dual or blocked.
RandomOutcome run_random_graph(std::uint64_t seed);

}  // namespace lacuna::sida::test
