// Tests random graphs: every plan of passes gives the same bits as executing one operation at a time.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>

#include "tests/sida/random_graph.h"

namespace lacuna::sida::test {
namespace {

TEST(SidaRandomGraphs, ComputeTheSameInPasses) {
  // Bytes of freed memory that the process keeps: returning the tables of each compilation to the system takes ten times as
  // long as the rest of the test.
  constexpr int kKept = 1 << 28;
  mallopt(M_TRIM_THRESHOLD, kKept);
  mallopt(M_MMAP_THRESHOLD, kKept / 8);
  constexpr std::uint64_t kSeeds = 10'000;
  const char* const more = std::getenv("LACUNA_SIDA_GRAPHS");
  const std::uint64_t seeds = more ? std::strtoull(more, nullptr, 10) : kSeeds;
  std::uint64_t compiled = 0, fused = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomOutcome outcome = run_random_graph(seed);
    compiled += outcome.compiled ? 1 : 0;
    fused += outcome.fused != 0 ? 1 : 0;
    // A graph without a product cannot be compiled.
    if (outcome.difference == "not compiled: no kept state depends on a product") continue;
    ASSERT_EQ(outcome.difference, "") << "seed " << seed;
  }
  EXPECT_GT(compiled, seeds / 2);
  EXPECT_GT(fused, compiled / 3);
}

}  // namespace
}  // namespace lacuna::sida::test
