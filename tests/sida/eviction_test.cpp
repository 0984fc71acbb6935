// Compares numbers of reloaded entries with those of an exhaustive search and, for a power-law matrix, of an independent model.
#include "models/sida/matrix/eviction.h"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>

#include "models/sida/matrix/generators.h"
#include "models/sida/matrix/occupancy.h"
#include "models/sida/matrix/random.h"

namespace lacuna::sida {
namespace {

struct Interval {
  std::uint64_t first, last;  ///< steps after which the entry waits
};

std::vector<Interval> intervals(const SparseMatrix& m, Index width) {
  std::vector<Interval> all;
  for (Index c = 0; c < m.columns; ++c) {
    for (const Index r : m.column(c)) {
      const std::uint64_t first = c / width, last = r / width + std::uint64_t{1};
      if (first <= last) all.push_back({first, last});
    }
  }
  return all;
}

/// Minimum number of intervals to drop, found by trying all subsets.
unsigned fewest_dropped(const std::vector<Interval>& all, std::uint64_t steps, std::uint64_t room) {
  auto fewest = static_cast<unsigned>(all.size());
  for (std::uint32_t dropped = 0; dropped < std::uint32_t{1} << all.size(); ++dropped) {
    const auto count = static_cast<unsigned>(std::popcount(dropped));
    if (count >= fewest) continue;
    bool fits = true;
    for (std::uint64_t step = 0; step < steps && fits; ++step) {
      std::uint64_t kept = 0;
      for (std::size_t i = 0; i < all.size(); ++i)
        kept += (dropped >> i & 1) == 0 && all[i].first <= step && step <= all[i].last ? 1 : 0;
      fits = kept <= room;
    }
    if (fits) fewest = count;
  }
  return fewest;
}

TEST(Eviction, ReloadsAsFewEntriesAsPossible) {
  Random random(8);
  unsigned with_reloads = 0;
  for (int i = 0; i < 2000; ++i) {
    Coordinates c;
    c.rows = c.columns = 2 + random.below(6);
    for (Index e = random.below(12); e > 0; --e) c.add(random.below(c.rows), random.below(c.rows));
    const SparseMatrix m = by_columns(std::move(c));
    const Index width = 1 + random.below(3);
    const std::uint64_t room = random.below(5);
    const std::vector<Interval> all = intervals(m, width);
    const Reloads found = reloads(m, width, room);
    ASSERT_EQ(found.reloaded, fewest_dropped(all, m.columns + std::uint64_t{2}, room));
    EXPECT_EQ(found.reloaded + found.kept, all.size());
    EXPECT_LE(found.peak, room);
    EXPECT_EQ(std::accumulate(found.steps.begin(), found.steps.end(), std::uint64_t{0}), found.reloaded);
    EXPECT_GE(reloads(m, width, room, RowSpace::whole).reloaded, found.reloaded);
    with_reloads += found.reloaded > 0 ? 1 : 0;
  }
  EXPECT_GT(with_reloads, 500U);
}

TEST(Eviction, ReloadsNothingWhenAllFits) {
  for (const MatrixKind& kind : matrix_kinds()) {
    const SparseMatrix m = generated(std::string(kind.name) + ":rows=3000,entries=20000,shuffled=0.5");
    for (const Index width : {1U, 7U, 128U, 5000U}) {
      const std::uint64_t peak = occupancy(m, width).peak();
      EXPECT_EQ(reloads(m, width, peak).reloaded, 0U);
      EXPECT_EQ(reloads(m, width, peak).peak, peak);
      if (peak > 0) {
        EXPECT_GT(reloads(m, width, peak - 1).reloaded, 0U);
      }
      EXPECT_EQ(reloads(m, width, 0).kept, 0U);
    }
  }
}

// A directed power law with exponent 2.3, vertices in random order, in sub-tensors of 128 columns. Expected values are the
// percentages of entries that an independent model of the thesis' rules loads again, for capacities in percent of all entries.
TEST(Eviction, CurveOfAPowerLaw) {
  const SparseMatrix m = generated("power:rows=100000,entries=1280000,exponent=2.3,pattern=1");
  const auto share = [&](double room, RowSpace space) {
    const auto entries = static_cast<double>(m.entries());
    return 100 * static_cast<double>(reloads(m, 128, static_cast<std::uint64_t>(room / 100 * entries), space).reloaded) /
           entries;
  };
  EXPECT_NEAR(share(25, RowSpace::elements), 0.3, 1);
  EXPECT_NEAR(share(18.6, RowSpace::elements), 6.7, 1);
  EXPECT_NEAR(share(12.4, RowSpace::elements), 12.9, 1);
  EXPECT_NEAR(share(6, RowSpace::elements), 21.6, 1);
  EXPECT_NEAR(share(3, RowSpace::elements), 28.9, 1);
  EXPECT_NEAR(share(1, RowSpace::elements), 37.2, 1);
  EXPECT_NEAR(share(0, RowSpace::elements), 50, 1);
  EXPECT_NEAR(share(12.4, RowSpace::whole), 40, 3);
}

}  // namespace
}  // namespace lacuna::sida
