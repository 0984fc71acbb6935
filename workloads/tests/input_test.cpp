// Tests of the workloads' input: seeded random numbers, random choices and sparse matrices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "workloads/common/csr.h"
#include "workloads/common/error.h"
#include "workloads/common/graph.h"
#include "workloads/common/random.h"

namespace workload {
namespace {

// The 10,000th number of the default seed is in the standard (C++20, [rand.predef]).
TEST(Random, EqualsTheMersenneTwisterOfTheCppStandard) {
  Random random(5489);
  for (int i = 0; i < 9999; ++i) random.bits();
  EXPECT_EQ(random.bits(), 9981545732273789042u);
}

TEST(Random, UniformValuesFillTheRangeWithoutZeros) {
  Random random(3);
  const std::vector<float> values = random.uniform_values(100'000, -2, 6);
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*least, -2);
  EXPECT_LT(*greatest, 6);
  EXPECT_LT(*least, -1.99f);
  EXPECT_GT(*greatest, 5.99f);
  EXPECT_EQ(std::count(values.begin(), values.end(), 0.0f), 0);
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  // Five standard deviations of the mean: 8 / sqrt(12 * 100,000) each.
  EXPECT_NEAR(sum / 100'000, 2, 5 * 8 / std::sqrt(12e5));
}

// Values that single precision rounds to zero are drawn again.
TEST(Random, UniformNeverRoundsToZeroOrToTheUpperEnd) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const float value = random.uniform(-0x1p-125f, 0x1p-125f);
    EXPECT_NE(value, 0);
    EXPECT_LT(random.uniform(1, 1.0000002f), 1.0000002f);
  }
}

TEST(Choose, ExactlyTheShareInOrder) {
  Random random(1);
  EXPECT_TRUE(choose(random, 0, 0.5).empty());
  EXPECT_TRUE(choose(random, 1000, 0).empty());
  EXPECT_EQ(choose(random, 1000, 1).size(), 1000);
  const std::vector<std::size_t> chosen = choose(random, 1001, 0.3);
  EXPECT_EQ(chosen.size(), 300);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), 300);
  EXPECT_LT(chosen.back(), 1001);
}

TEST(Choose, EveryPlaceIsEquallyLikely) {
  Random random(1);
  std::vector<int> hits(20);
  for (int i = 0; i < 20'000; ++i) {
    for (const std::size_t place : choose(random, hits.size(), 0.25)) ++hits[place];
  }
  // Each choice is expected 5,000 times; the standard deviation is 61.
  for (const int count : hits) EXPECT_NEAR(count, 5000, 310);
}

void expect_well_formed(const Csr& matrix, std::size_t columns) {
  ASSERT_EQ(matrix.offsets.front(), 0);
  ASSERT_EQ(matrix.offsets.back(), matrix.entries());
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    ASSERT_LE(matrix.offsets[row], matrix.offsets[row + 1]);
    for (std::size_t i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
      EXPECT_LT(matrix.columns[i], columns);
      EXPECT_TRUE(i == matrix.offsets[row] || matrix.columns[i - 1] < matrix.columns[i]);
    }
  }
}

TEST(Csr, RandomHasSoManyEntries) {
  Random random(1);
  const Csr matrix = random_csr(random, 100, 37, 1234);
  EXPECT_EQ(matrix.rows(), 100);
  EXPECT_EQ(matrix.entries(), 1234);
  expect_well_formed(matrix, 37);
  EXPECT_GE(matrix.longest_row(), 13);
}

TEST(Csr, RandomCanBeFullOrEmpty) {
  Random random(1);
  expect_well_formed(random_csr(random, 8, 8, 64), 8);
  EXPECT_EQ(random_csr(random, 8, 8, 0).entries(), 0);
  EXPECT_THROW(random_csr(random, 8, 8, 65), UsageError);
}

TEST(Csr, RegularHasOneDegree) {
  Random random(1);
  const Csr matrix = random_regular_csr(random, 50, 60, 7);
  expect_well_formed(matrix, 60);
  for (std::size_t row = 0; row < 50; ++row) EXPECT_EQ(matrix.offsets[row + 1] - matrix.offsets[row], 7);
  EXPECT_THROW(random_regular_csr(random, 50, 6, 7), UsageError);
}

TEST(Csr, LanesFollowTheAverageRow) {
  Random random(1);
  EXPECT_EQ(lanes_for_rows(random_regular_csr(random, 10, 100, 2)), 1);
  EXPECT_EQ(lanes_for_rows(random_regular_csr(random, 10, 100, 3)), 4);
  EXPECT_EQ(lanes_for_rows(random_regular_csr(random, 10, 100, 12)), 16);
  EXPECT_EQ(lanes_for_rows(random_regular_csr(random, 10, 100, 48)), 64);
}

// Best paths by rounds of Bellman-Ford's algorithm on the whole matrix: the number of edges is that of the last round that
// changes a path.
unsigned edges_by_matrices(const Graph& graph, Paths paths) {
  const unsigned n = graph.vertices;
  std::vector<double> best(std::size_t{n} * n, absent(paths));
  for (unsigned i = 0; i < n; ++i) best[std::size_t{i} * n + i] = trivial(paths);
  for (unsigned round = 1;; ++round) {
    std::vector<double> next = best;
    for (unsigned from = 0; from < n; ++from) {
      for (const Edge& edge : graph.edges) {
        const double first = best[std::size_t{from} * n + edge.from], weight = static_cast<double>(edge.weight);
        double& path = next[std::size_t{from} * n + edge.to];
        if (paths == Paths::shortest) path = std::min(path, first + weight);
        if (paths == Paths::longest) path = std::max(path, first + weight);
        if (paths == Paths::bottleneck) path = std::min(path, std::max(first, weight));
        if (paths == Paths::widest) path = std::max(path, std::min(first, weight));
      }
    }
    if (next == best) return round - 1;
    best = std::move(next);
  }
}

TEST(Graph, EdgesOfBestPaths) {
  // A chain of four edges, of which one is also a direct, longer edge.
  const Graph chain{5, {{0, 1, 1}, {0, 4, 9}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}}};
  EXPECT_EQ(edges_of_best_paths(chain, Paths::shortest, 5), 4);
  EXPECT_EQ(edges_of_best_paths(chain, Paths::longest, 5), 3);
  EXPECT_EQ(edges_of_best_paths(chain, Paths::reachable, 1), 3);
  EXPECT_EQ(edges_of_best_paths(chain, Paths::reachable, 100), 3);
  EXPECT_EQ(edges_of_best_paths(Graph{3, {}}, Paths::shortest, 3), 0);
  Random random(7);
  for (const Paths paths : {Paths::shortest, Paths::longest, Paths::bottleneck, Paths::widest}) {
    const GraphKind kind{paths == Paths::longest ? "dag" : "random", 0.05, paths == Paths::bottleneck};
    const Graph graph = random_graph(random, 60, kind, 16);
    EXPECT_EQ(edges_of_best_paths(graph, paths, 60), edges_by_matrices(graph, paths));
  }
}

TEST(Graph, RandomGraphsHaveTheirShareOfEdges) {
  Random random(7);
  const Graph graph = random_graph(random, 101, {"random", 0.1, false}, 16);
  EXPECT_EQ(graph.edges.size(), 1010);
  std::set<std::pair<unsigned, unsigned>> pairs;
  for (const Edge& edge : graph.edges) {
    EXPECT_NE(edge.from, edge.to);
    pairs.emplace(edge.from, edge.to);
  }
  EXPECT_EQ(pairs.size(), 1010);
}

}  // namespace
}  // namespace workload
