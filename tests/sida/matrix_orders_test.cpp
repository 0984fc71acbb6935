// Tests generators and orderings: sizes, reproducibility, locality, and the effect of orderings on the buffer.
#include "models/sida/matrix/orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/sida/matrix/generators.h"
#include "models/sida/matrix/occupancy.h"
#include "models/sida/matrix/random.h"

namespace lacuna::sida {
namespace {

bool same(const SparseMatrix& a, const SparseMatrix& b) {
  return a.rows == b.rows && a.offsets == b.offsets && a.indices == b.indices && a.values == b.values;
}

bool is_symmetric(const SparseMatrix& m) { return transposed(m).indices == m.indices && transposed(m).offsets == m.offsets; }

double peak(const SparseMatrix& m) { return occupancy(m, 1).peak_share(); }
SparseMatrix ordered(const SparseMatrix& m, const char* order) { return permuted(m, order_of(m, order)); }

TEST(Generators, RepeatThemselvesAndHaveTheirSizes) {
  for (const MatrixKind& kind : matrix_kinds()) {
    SCOPED_TRACE(kind.name);
    const std::string text = std::string(kind.name) + ":rows=5000,entries=40000";
    const SparseMatrix m = generated(text);
    EXPECT_TRUE(same(m, generated(text)));
    EXPECT_EQ(m.rows, 5000U);
    EXPECT_EQ(m.columns, 5000U);
    const bool is_grid = std::string(kind.name).starts_with("mesh") || std::string(kind.name) == "road";
    if (!is_grid) {
      EXPECT_LE(m.entries(), 40000U);
      EXPECT_GT(m.entries(), 20000U);
    }
    EXPECT_TRUE(is_grid && std::string(kind.name) != "road" ? m.entries() > 20000U : m.entries() > 5000U);
    EXPECT_EQ(is_symmetric(m), std::string(kind.meaning).find("symmetric") != std::string::npos);
    for (const double value : m.values) {
      EXPECT_GT(value, 0);
      EXPECT_LE(value, 1);
    }
    EXPECT_TRUE(generated(text + ",pattern=1").is_pattern());
    if (std::string(kind.name).starts_with("mesh")) continue;  // a mesh's pattern does not depend on the seed
    EXPECT_FALSE(same(m, generated(text + ",seed=2")));
  }
  // Matrices with one, two and three vertices.
  for (const MatrixKind& kind : matrix_kinds()) {
    for (const char* const sizes : {":rows=1,entries=5", ":rows=2,entries=5", ":rows=3,entries=0"}) {
      const SparseMatrix m = generated(std::string(kind.name) + sizes);
      EXPECT_EQ(m.offsets.size(), std::size_t{m.columns} + 1);
    }
  }
}

// Expected peak shares of entries in the buffer come from an independent model of similar matrices (5,000 to 27,000 rows).
TEST(Generators, LocalityOfKinds) {
  EXPECT_NEAR(peak(generated("random:rows=10000,entries=100000")), 25.1, 1);
  EXPECT_NEAR(peak(generated("power:rows=10000,entries=128000")), 25.1, 1.5);
  EXPECT_LT(peak(generated("road:rows=90000")), 2);
  EXPECT_LT(peak(generated("mesh3d:rows=27000")), 12);
  EXPECT_LT(peak(generated("communities:rows=10000,entries=100000")), 10);
  EXPECT_GT(peak(generated("arrow:rows=10000,entries=100000")), 20);
  EXPECT_LT(peak(generated("band:rows=10000,entries=100000")), 1);
  EXPECT_NEAR(peak(generated("mesh3d:rows=27000,shuffled=1")), 21.4, 4);
}

TEST(Generators, GridsAreAsLargeAsTheyCanBe) {
  for (const auto& [text, entries] : {std::pair{"mesh2d:rows=9", 9 + 2 * 12}, std::pair{"mesh2d:rows=15", 9 + 2 * 12},
                                      std::pair{"mesh3d:rows=27", 27 + 2 * 54}, std::pair{"mesh3d:rows=26", 8 + 2 * 12},
                                      std::pair{"mesh3d:rows=1000", 1000 + 2 * 2700}})
    EXPECT_EQ(generated(text).entries(), static_cast<std::uint64_t>(entries)) << text;
}

TEST(Generators, RejectUnknownNames) {
  const auto message = [](const char* text) -> std::string {
    try {
      generated(text);
    } catch (const MatrixError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message("raod:rows=10"), "no kind of matrix 'raod'; did you mean road?");
  EXPECT_EQ(message("xyzzy"),
            "no kind of matrix 'xyzzy': arrow, band, circuit, communities, mesh2d, mesh3d, power, random or road");
  EXPECT_EQ(message("power:exponnent=3"), "a matrix of kind power has no 'exponnent'; did you mean exponent?");
  EXPECT_EQ(message("band:rows=0"), "band: rows is a whole number from 1 to 4294967295, not '0'");
  EXPECT_EQ(message("band:rows"), "band: rows is a whole number from 1 to 4294967295, not ''");
  EXPECT_EQ(message("band:rows=many"), "band: rows is a whole number from 1 to 4294967295, not 'many'");
  EXPECT_EQ(message("band:rows=10.5"), "band: rows is a whole number from 1 to 4294967295, not '10.5'");
  EXPECT_EQ(message("power:exponent=2"), "power: exponent is a number from 2.01 to 10, not '2'");
  EXPECT_TRUE(is_matrix_kind("power:anything"));
  EXPECT_FALSE(is_matrix_kind("power.mtx"));
}

TEST(Orders, ArePermutations) {
  Random random(6);
  for (int i = 0; i < 2000; ++i) {
    const std::string kind(matrix_kinds()[random.below(static_cast<Index>(matrix_kinds().size()))].name);
    const SparseMatrix m = generated(kind + ":rows=" + std::to_string(1 + random.below(40)) +
                                     ",entries=" + std::to_string(random.below(120)) + ",shuffled=1,seed=" + std::to_string(i));
    for (const OrderKind& order : order_kinds()) {
      std::vector<Index> numbers = order_of(m, order.name);
      std::sort(numbers.begin(), numbers.end());
      ASSERT_EQ(numbers.size(), m.rows);
      for (Index n = 0; n < m.rows; ++n) ASSERT_EQ(numbers[n], n) << order.name;
    }
  }
}

// Expected shares for each kind come from an independent model.
TEST(Orders, ReduceOccupancy) {
  const SparseMatrix road = generated("road:rows=40000,shuffled=1");
  EXPECT_NEAR(peak(road), 25.1, 1.5);
  EXPECT_LT(peak(ordered(road, "rcm")), 2);
  EXPECT_LT(peak(ordered(road, "partition")), 1);
  EXPECT_LT(peak(ordered(road, "line")), 2);
  const SparseMatrix mesh = generated("mesh3d:rows=27000,shuffled=1");
  EXPECT_LT(peak(ordered(mesh, "rcm")), 8);
  const SparseMatrix groups = generated("communities:rows=10000,entries=100000,shuffled=1");
  EXPECT_NEAR(peak(groups), 25.2, 1.5);
  EXPECT_LT(peak(ordered(groups, "partition")), 12);
  EXPECT_LT(peak(ordered(groups, "graphorder")), 20);
  const SparseMatrix power = generated("power:rows=20000,entries=256000");
  EXPECT_LT(peak(ordered(power, "triangular")), 10);
  EXPECT_LT(share_below_diagonal(ordered(power, "triangular")), 20);
  EXPECT_NEAR(share_below_diagonal(power), 50, 2);
  EXPECT_NEAR(peak(ordered(road, "random")), 25.1, 1.5);
  EXPECT_EQ(peak(ordered(road, "natural")), peak(road));
}

// Without cycles all entries can be placed above the diagonal.
TEST(Orders, AcyclicGraphsBecomeTriangular) {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    Coordinates c;
    c.rows = c.columns = 1 + random.below(60);
    const std::vector<Index> hidden = random.order(c.rows);
    for (Index e = random.below(4 * c.rows + 1); e > 0; --e) {
      const Index a = random.below(c.rows), b = random.below(c.rows);
      c.add(hidden[std::min(a, b)], hidden[std::max(a, b)]);
    }
    EXPECT_EQ(share_below_diagonal(ordered(by_columns(c), "triangular")), 0);
  }
}

TEST(Orders, RejectUnknownOrders) {
  try {
    order_of(generated("random"), "triangulr");
    FAIL();
  } catch (const MatrixError& e) {
    EXPECT_EQ(std::string(e.what()), "no order and no file 'triangulr'; did you mean triangular?");
  }
}

}  // namespace
}  // namespace lacuna::sida
