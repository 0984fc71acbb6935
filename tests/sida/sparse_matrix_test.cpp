// Compares sparse matrices with dense ones, occupancy with its definition, and layouts with manual counts.
#include "models/sida/matrix/sparse_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "models/sida/matrix/occupancy.h"
#include "models/sida/matrix/random.h"

namespace lacuna::sida {
namespace {

using Places = std::map<std::pair<Index, Index>, double>;

Places places(const SparseMatrix& m) {
  Places all;
  for (Index c = 0; c < m.columns; ++c) {
    for (std::uint64_t i = m.offsets[c]; i < m.offsets[c + 1]; ++i) all[{m.indices[i], c}] = m.is_pattern() ? 1 : m.values[i];
  }
  return all;
}

void expect_in_order(const SparseMatrix& m) {
  ASSERT_EQ(m.offsets.size(), std::size_t{m.columns} + 1);
  EXPECT_EQ(m.offsets.back(), m.entries());
  for (Index c = 0; c < m.columns; ++c) {
    const auto rows = m.column(c);
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    EXPECT_EQ(std::adjacent_find(rows.begin(), rows.end()), rows.end());
    for (const Index r : rows) EXPECT_LT(r, m.rows);
  }
}

/// Random small matrices, including empty matrices and matrices with several entries at the same position.
Coordinates random_coordinates(Random& random, bool square) {
  Coordinates c;
  c.rows = 1 + random.below(12);
  c.columns = square ? c.rows : 1 + random.below(12);
  const Index count = random.below(2 * c.rows * c.columns + 1);
  const bool pattern = random.below(2) == 0;
  for (Index i = 0; i < count; ++i) {
    const Index row = random.below(c.rows), column = random.below(c.columns);
    if (pattern) {
      c.add(row, column);
    } else {
      c.add(row, column, static_cast<double>(random.below(100)) - 50);
    }
  }
  return c;
}

TEST(SparseMatrix, IsTheSumOfItsEntries) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Coordinates c = random_coordinates(random, false);
    Places sums;
    for (std::size_t e = 0; e < c.entries(); ++e) {
      double& sum = sums[{c.row[e], c.column[e]}];
      sum = c.values.empty() ? 1 : sum + c.values[e];
    }
    std::uint64_t duplicates = 0;
    const SparseMatrix m = by_columns(c, &duplicates);
    expect_in_order(m);
    ASSERT_EQ(places(m), sums);
    EXPECT_EQ(duplicates, c.entries() - sums.size());
    const SparseMatrix t = transposed(m);
    expect_in_order(t);
    EXPECT_EQ(t.rows, m.columns);
    for (const auto& [place, value] : places(t)) EXPECT_EQ(sums.at({place.second, place.first}), value);
    EXPECT_EQ(t.entries(), m.entries());
  }
}

TEST(SparseMatrix, IsPermutedByRowsAndColumns) {
  Random random(2);
  for (int i = 0; i < 10000; ++i) {
    const SparseMatrix m = by_columns(random_coordinates(random, true));
    const std::vector<Index> order = random.order(m.rows);
    const SparseMatrix p = permuted(m, order);
    expect_in_order(p);
    Places expected;
    const Places old = places(m);
    for (Index r = 0; r < m.rows; ++r) {
      for (Index c = 0; c < m.columns; ++c) {
        if (const auto found = old.find({order[r], order[c]}); found != old.end()) expected[{r, c}] = found->second;
      }
    }
    ASSERT_EQ(places(p), expected);
    const Places both = places(neighbours(m));
    std::set<std::pair<Index, Index>> pairs;
    for (const auto& entry : old) {
      if (entry.first.first == entry.first.second) continue;
      pairs.insert(entry.first);
      pairs.insert({entry.first.second, entry.first.first});
    }
    EXPECT_EQ(both.size(), pairs.size());
    for (const auto& pair : pairs) EXPECT_TRUE(both.contains(pair));
  }
}

TEST(SparseMatrix, RejectsInvalidInput) {
  const auto message = [](auto&& make) -> std::string {
    try {
      make();
    } catch (const MatrixError& e) {
      return e.what();
    }
    return "";
  };
  Coordinates outside;
  outside.rows = 2;
  outside.columns = 3;
  outside.add(2, 0);
  EXPECT_EQ(message([&] { by_columns(outside); }), "entry 0 is at (2, 0), outside of 2 rows and 3 columns");
  Coordinates wide;
  wide.rows = 2;
  wide.columns = 3;
  const SparseMatrix rectangle = by_columns(wide);
  const std::vector<Index> order{0, 1};
  EXPECT_EQ(message([&] { permuted(rectangle, order); }),
            "only a square matrix can be reordered: this one has 2 rows and 3 columns");
  EXPECT_NE(message([&] { occupancy(rectangle, 1); }), "");
  wide.columns = 2;
  const SparseMatrix square = by_columns(wide);
  EXPECT_EQ(message([&] { permuted(square, std::vector<Index>{0}); }), "the order has 1 numbers, the matrix 2 rows");
  EXPECT_EQ(message([&] { permuted(square, std::vector<Index>{1, 1}); }), "the order has number 1 twice");
  EXPECT_EQ(message([&] { permuted(square, std::vector<Index>{0, 2}); }), "the order has number 2, beyond the last row");
  EXPECT_EQ(message([&] { occupancy(square, 0); }), "a sub-tensor has at least one column");
  for (const Index side : {0U, 257U}) EXPECT_NE(message([&] { blocks(square, side, 8); }), "");
}

TEST(Occupancy, CountsWaitingEntriesAfterEachStep) {
  Random random(3);
  for (int i = 0; i < 10000; ++i) {
    const SparseMatrix m = by_columns(random_coordinates(random, true));
    const Index width = 1 + random.below(m.columns + 2);
    const Occupancy kept = occupancy(m, width);
    ASSERT_EQ(kept.steps.size(), (m.columns + width - 1) / width);
    EXPECT_EQ(kept.entries, m.entries());
    for (std::size_t step = 0; step < kept.steps.size(); ++step) {
      std::uint64_t expected = 0;
      for (const auto& entry : places(m)) {
        const auto [r, c] = entry.first;
        expected += c < (step + 1) * width && r + std::uint64_t{width} >= step * width ? 1 : 0;
      }
      ASSERT_EQ(kept.steps[step], expected) << "step " << step << " of " << width << " columns";
    }
  }
}

SparseMatrix filled(Index n, auto&& has) {
  Coordinates c;
  c.rows = c.columns = n;
  for (Index column = 0; column < n; ++column) {
    for (Index row = 0; row < n; ++row) {
      if (has(row, column)) c.add(row, column);
    }
  }
  return by_columns(std::move(c));
}

// Expected numbers come from an independent model.
TEST(Occupancy, OfKnownShapes) {
  const Occupancy dense = occupancy(filled(1000, [](Index, Index) { return true; }), 1);
  EXPECT_NEAR(dense.peak_share(), 25.1, 0.05);
  EXPECT_NEAR(dense.mean_share(), 16.8, 0.05);

  Random random(4);
  Coordinates lower, upper;
  lower.rows = lower.columns = upper.rows = upper.columns = 20000;
  for (int i = 0; i < 200000; ++i) {
    Index a = random.below(20000), b = random.below(20000);
    if (a < b) std::swap(a, b);
    lower.add(a, b);
    upper.add(b, a);
  }
  const Occupancy triangle = occupancy(by_columns(lower), 1);
  EXPECT_NEAR(triangle.peak_share(), 50, 0.5);
  EXPECT_NEAR(triangle.mean_share(), 33.3, 0.5);
  EXPECT_NEAR(share_below_diagonal(by_columns(lower)), 100, 0.1);
  EXPECT_EQ(share_below_diagonal(by_columns(upper)), 0);

  // Above the diagonal, the buffer never holds more entries than those of the last two sub-tensors.
  const SparseMatrix above = by_columns(upper);
  for (const Index width : {1U, 64U, 1000U}) {
    const Occupancy kept = occupancy(above, width);
    for (std::size_t step = 0; step < kept.steps.size(); ++step) {
      const std::size_t first = step == 0 ? 0 : (step - 1) * width, last = std::min<std::size_t>(20000, (step + 1) * width);
      EXPECT_LE(kept.steps[step], above.offsets[last] - above.offsets[first]);
    }
  }
}

TEST(Layouts, BytesByHand) {
  // Blocks with side 2: block (0, 0) has three entries, blocks (1, 0) and (1, 1) have one entry each.
  Coordinates c;
  c.rows = c.columns = 4;
  for (const auto& [row, column] : {std::pair{0, 0}, {1, 0}, {1, 1}, {3, 1}, {2, 2}})
    c.add(static_cast<Index>(row), static_cast<Index>(column));
  const SparseMatrix m = by_columns(c);
  EXPECT_EQ(dual_bytes(m, 8), 2 * 5 * 4U + 2 * 5 * 12U);
  const Blocks two = blocks(m, 2, 8);
  EXPECT_EQ(two.count, 3U);
  EXPECT_EQ(two.bytes, 5 * 10U + 3 * 16U + 2 * 3 * 4U);
  EXPECT_EQ(blocks(m, 4, 8).count, 1U);
  EXPECT_EQ(blocks(m, 1, 8).count, 5U);
}

}  // namespace
}  // namespace lacuna::sida
