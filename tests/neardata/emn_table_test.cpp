// Tests earliest meeting nodes: those of the paper's machine (configs/mesh56.cfg) are compared with the worked examples of
// Opportunistic Computing (ISCA '19, sections 3.1 and 3.2), and those of random machines are compared with a second
// implementation of Algorithm 1.
#include "models/neardata/emn_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "models/gpu/gpu_parameters.h"
#include "models/noc/fabric.h"
#include "platform/configuration.h"
#include "platform/version.h"
#include "tests/harness/harness.h"

namespace lacuna {
namespace {

struct Point {
  unsigned x = 0;
  unsigned y = 0;
  bool operator==(const Point&) const = default;
};

/// A mesh with cores and last-level caches; the node at (x, y) is x + y * columns.
struct Mesh {
  unsigned columns = 0;
  unsigned rows = 0;
  std::vector<unsigned> cores;
  std::vector<unsigned> caches;

  Point at(unsigned node) const { return {node % columns, node / columns}; }
  unsigned node(Point at) const { return at.x + at.y * columns; }
  EmnTable table() const { return {cores, caches, mesh_paths(columns), 2}; }
};

unsigned between(unsigned a, unsigned b) { return a > b ? a - b : b - a; }
unsigned links(Point a, Point b) { return between(a.x, b.x) + between(a.y, b.y); }

// -- the paper's machine

constexpr unsigned kLineBytes = 128;

struct PaperMachine : testing::Test {
  PaperMachine() {
    GpuDeviceParameters machine;
    ParameterSet set;
    machine.describe(set);
    Configuration(set).load(std::filesystem::path(kConfigurationFolder) / "mesh56.cfg");
    const unsigned caches = machine.gpu.memory_partitions;
    const Bytes interleave = machine.gpu.partition_interleave;
    const unsigned cores = machine.gpu.shader_arrays * machine.gpu.cus_per_shader_array;
    fabric = make_fabric(sc_core::sc_gen_unique_name("noc"), machine.noc, cores,
                         AddressRoutes({{"memory", 0, Bytes{caches * interleave.n}, 0, caches, interleave}}));
    mesh.columns = machine.noc.columns;
    mesh.rows = machine.noc.rows;
    for (unsigned i = 0; i < cores; ++i) mesh.cores.push_back(fabric->source_node(i));
    for (unsigned i = 0; i < caches; ++i) mesh.caches.push_back(fabric->destination_node(i));
  }

  Point core(unsigned number) const { return mesh.at(mesh.cores[number]); }
  Point llc(unsigned number) const { return mesh.at(mesh.caches[number]); }

  // Sends a compute packet of a chain between nodes.
  void compute_packet(unsigned from, unsigned to) { fabric->send(from, to, VirtualNetwork::request, 1, {}); }
  void acknowledgement(unsigned from, unsigned to) { fabric->send(from, to, VirtualNetwork::reply, 1, {}); }
  void load(unsigned from, unsigned cache) {
    fabric->send(from, cache, VirtualNetwork::request, fabric->request_flits(kLineBytes, false, false), {});
    fabric->send(cache, from, VirtualNetwork::reply, fabric->reply_flits(kLineBytes, false, false), {});
  }
  void store(unsigned from, unsigned cache) {
    fabric->send(from, cache, VirtualNetwork::request, fabric->request_flits(kLineBytes, true, false), {});
    fabric->send(cache, from, VirtualNetwork::reply, fabric->reply_flits(kLineBytes, true, false), {});
  }
  /// Sends the packets of c = f(a, b) computed by a core, which loads and stores the data.
  void baseline(unsigned core, unsigned a, unsigned b, unsigned c) {
    load(core, a);
    load(core, b);
    store(core, c);
  }
  /// Sends the packets of c = f(a, b) computed by `node`, whose own cache is accessed without the network.
  void offloaded(unsigned core, unsigned node, unsigned a, unsigned b, unsigned c) {
    compute_packet(core, node);
    if (a != node) load(node, a);
    if (b != node) load(node, b);
    if (c != node) store(node, c);
    acknowledgement(node, core);
  }
  std::array<std::uint64_t, 2> hops() const { return {fabric->statistics().hops, fabric->statistics().weighted_hops}; }

  Mesh mesh;
  std::unique_ptr<Fabric> fabric;
};

TEST_F(PaperMachine, CoresAreNumberedRowByRowWithoutTheNodesOfCaches) {
  const std::vector<Point> caches{{5, 0}, {1, 1}, {7, 2}, {3, 3}, {2, 4}, {6, 5}, {0, 6}, {4, 7}};
  ASSERT_EQ(mesh.caches.size(), caches.size());
  for (unsigned i = 0; i < caches.size(); ++i) EXPECT_EQ(llc(i), caches[i]) << i;
  unsigned number = 0;
  for (unsigned y = 0; y < mesh.rows; ++y) {
    for (unsigned x = 0; x < mesh.columns; ++x) {
      if (std::find(caches.begin(), caches.end(), Point{x, y}) != caches.end()) continue;
      EXPECT_EQ(core(number++), (Point{x, y}));
    }
  }
  EXPECT_EQ(number, mesh.cores.size());
  EXPECT_EQ(core(15), (Point{1, 2}));
  EXPECT_EQ(core(36), (Point{1, 5}));
}

TEST_F(PaperMachine, LinesInOneCacheMeetThere) {
  const unsigned node = mesh.table().find(15, 5, 5);
  ASSERT_EQ(node, mesh.caches[5]);
  baseline(mesh.cores[15], node, node, node);
  EXPECT_EQ(hops(), (std::array<std::uint64_t, 2>{48, 144}));
  fabric->reset();
  const auto before = hops();
  offloaded(mesh.cores[15], node, node, node, node);
  EXPECT_EQ(hops()[0] - before[0], 16U);
  EXPECT_EQ(hops()[1] - before[1], 16U);
}

TEST_F(PaperMachine, LinesInTwoCachesMeetAtACore) {
  const unsigned node = mesh.table().find(15, 5, 6);
  ASSERT_EQ(node, mesh.cores[36]);
  EXPECT_EQ(links(mesh.at(node), llc(5)), 5U);
  EXPECT_EQ(links(mesh.at(node), llc(6)), 2U);
  EXPECT_EQ(links(core(15), llc(5)), 8U);
  EXPECT_EQ(links(core(15), llc(6)), 5U);
  EXPECT_EQ(links(core(15), llc(7)), 8U);
  baseline(mesh.cores[15], mesh.caches[5], mesh.caches[6], mesh.caches[7]);
  EXPECT_EQ(hops(), (std::array<std::uint64_t, 2>{42, 126}));
  const auto before = hops();
  offloaded(mesh.cores[15], node, mesh.caches[5], mesh.caches[6], mesh.caches[7]);
  EXPECT_EQ(hops()[0] - before[0], 30U);
  EXPECT_EQ(hops()[1] - before[1], 78U);
}

TEST_F(PaperMachine, LinesInOppositeCachesMeetAtNoNode) { EXPECT_EQ(mesh.table().find(15, 0, 6), EmnTable::kNone); }

// Network cost, in flits x links, of two loads of a line, and of the compute packet with its acknowledgement. Expected
// percentages are from the specification of this model.
TEST_F(PaperMachine, ThreeQuartersOfThePairsMeet) {
  const EmnTable table = mesh.table();
  const unsigned flits = 1 + fabric->reply_flits(kLineBytes, false, false);
  ASSERT_EQ(flits, 6U);
  unsigned pairs = 0;
  unsigned meeting = 0;
  double savings = 0;
  double without = 0;
  double with = 0;
  for (unsigned core_number = 0; core_number < mesh.cores.size(); ++core_number) {
    const Point from = core(core_number);
    for (unsigned a = 0; a < mesh.caches.size(); ++a) {
      for (unsigned b = 0; b < mesh.caches.size(); ++b) {
        if (a == b) continue;
        ++pairs;
        const unsigned node = table.find(core_number, a, b);
        if (node == EmnTable::kNone) continue;
        ++meeting;
        const Point at = mesh.at(node);
        const double baseline = flits * (links(from, llc(a)) + links(from, llc(b)));
        const double offloaded = flits * (links(at, llc(a)) + links(at, llc(b))) + 2 * links(from, at);
        savings += 1 - offloaded / baseline;
        without += baseline;
        with += offloaded;
      }
    }
  }
  EXPECT_NEAR(static_cast<double>(meeting) / pairs, 0.77, 0.005);
  EXPECT_NEAR(savings / meeting, 0.37, 0.005);
  EXPECT_NEAR(1 - with / without, 0.39, 0.005);
}

// -- Algorithm 1

/// Whether a node lies on the path that follows x first, then y; with `x_first` = false, y first.
bool on_path(Point node, Point from, Point to, bool x_first) {
  const auto within = [](unsigned v, unsigned a, unsigned b) { return v >= std::min(a, b) && v <= std::max(a, b); };
  if (x_first) return (node.y == from.y && within(node.x, from.x, to.x)) || (node.x == to.x && within(node.y, from.y, to.y));
  return (node.x == from.x && within(node.y, from.y, to.y)) || (node.y == to.y && within(node.x, from.x, to.x));
}

/// Algorithm 1: among the nodes that a path from the core to `a` has in common with a path to `b`, the node with the smallest
/// sum of distances to `a` and `b`. Ties go to the first pair of paths, then to the node nearest to the core.
unsigned algorithm_1(const Mesh& mesh, unsigned core, unsigned a, unsigned b) {
  if (a == b) return a;
  const Point from = mesh.at(core);
  unsigned best = EmnTable::kNone;
  std::tuple<unsigned, unsigned, unsigned, unsigned> least{~0U, 0, 0, 0};
  for (unsigned node = 0; node < mesh.columns * mesh.rows; ++node) {
    if (node == core) continue;
    const Point at = mesh.at(node);
    for (unsigned i = 0; i < 2; ++i) {
      for (unsigned j = 0; j < 2; ++j) {
        if (!on_path(at, from, mesh.at(a), i == 0) || !on_path(at, from, mesh.at(b), j == 0)) continue;
        const std::tuple key{links(at, mesh.at(a)) + links(at, mesh.at(b)), i, j, links(from, at)};
        if (key >= least) continue;
        least = key;
        best = node;
      }
    }
  }
  return best;
}

/// A mesh of up to 12 x 12 nodes with up to 10 caches, and cores at all or some of the other nodes.
Mesh random_mesh(std::mt19937& random) {
  Mesh mesh;
  const auto one_of = [&random](unsigned least, unsigned most) {
    return std::uniform_int_distribution<unsigned>(least, most)(random);
  };
  mesh.columns = one_of(1, 12);
  mesh.rows = one_of(mesh.columns == 1 ? 3 : 2, 12);
  std::vector<unsigned> nodes(std::size_t{mesh.columns} * mesh.rows);
  std::iota(nodes.begin(), nodes.end(), 0U);
  std::shuffle(nodes.begin(), nodes.end(), random);
  const auto count = static_cast<unsigned>(nodes.size());
  const unsigned caches = one_of(1, std::min(10U, count - 1));
  const unsigned cores = one_of(1, count - caches);
  mesh.caches.assign(nodes.begin(), nodes.begin() + caches);
  mesh.cores.assign(nodes.begin() + caches, nodes.begin() + caches + cores);
  return mesh;
}

TEST(EmnTable, EqualsASecondImplementationOnRandomMeshes) {
  std::mt19937 random(1);
  unsigned none = 0;
  unsigned at_cores = 0;
  for (unsigned run = 0; run < 100; ++run) {
    const Mesh mesh = random_mesh(random);
    const EmnTable table = mesh.table();
    ASSERT_EQ(table.caches(), mesh.caches);
    for (unsigned core = 0; core < mesh.cores.size(); ++core) {
      for (unsigned a = 0; a < mesh.caches.size(); ++a) {
        for (unsigned b = 0; b < mesh.caches.size(); ++b) {
          const unsigned node = table.find(core, a, b);
          ASSERT_EQ(node, algorithm_1(mesh, mesh.cores[core], mesh.caches[a], mesh.caches[b]))
              << mesh.columns << " x " << mesh.rows << ", core at " << mesh.cores[core] << ", caches at " << mesh.caches[a]
              << " and " << mesh.caches[b];
          if (node == EmnTable::kNone) {
            ++none;
            continue;
          }
          ASSERT_NE(node, mesh.cores[core]);
          const Point from = mesh.at(mesh.cores[core]);
          const Point at = mesh.at(node);
          for (const unsigned cache : {mesh.caches[a], mesh.caches[b]})
            ASSERT_EQ(links(from, at) + links(at, mesh.at(cache)), links(from, mesh.at(cache)));
          at_cores += std::find(mesh.caches.begin(), mesh.caches.end(), node) == mesh.caches.end();
        }
      }
    }
  }
  EXPECT_GT(none, 3'000U);
  EXPECT_GT(at_cores, 3'000U);
}

TEST(EmnTable, WithoutPathsOnlyEqualCachesMeet) {
  const EmnTable table({0, 1}, {7, 8, 9}, {}, 2);
  for (unsigned a = 0; a < 3; ++a) {
    for (unsigned b = 0; b < 3; ++b) EXPECT_EQ(table.find(1, a, b), a == b ? 7 + a : EmnTable::kNone);
  }
}

}  // namespace
}  // namespace lacuna
