#include "models/noc/topology.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "models/noc/topology/butterfly.h"
#include "models/noc/topology/mesh.h"
#include "tests/noc/topology_wiring.h"

namespace lacuna {
namespace {

using test::check_wiring;

std::vector<std::string> names(const Topology& topology, unsigned from, unsigned to) {
  std::vector<std::string> result;
  for (const SwitchPass& pass : topology.path(from, to)) result.push_back(topology.output_name(pass.output));
  return result;
}

TEST(Mesh, DimensionOrder) {
  const MeshTopology xy(4, 3, MeshRouting::xy);
  EXPECT_EQ(xy.nodes(), 12U);
  EXPECT_EQ(names(xy, 0, 10), (std::vector<std::string>{"x0y0_east", "x1y0_east", "x2y0_south", "x2y1_south", "x2y2_eject"}));
  EXPECT_EQ(names(xy, 10, 0), (std::vector<std::string>{"x2y2_west", "x1y2_west", "x0y2_north", "x0y1_north", "x0y0_eject"}));
  const MeshTopology yx(4, 3, MeshRouting::yx);
  EXPECT_EQ(names(yx, 0, 10), (std::vector<std::string>{"x0y0_south", "x0y1_south", "x0y2_east", "x1y2_east", "x2y2_eject"}));
  EXPECT_EQ(names(yx, 5, 5), (std::vector<std::string>{"x1y1_eject"}));
}

TEST(Mesh, O1TurnHasBothOrders) {
  const MeshTopology both(5, 4, MeshRouting::o1turn);
  const MeshTopology xy(5, 4, MeshRouting::xy);
  const MeshTopology yx(5, 4, MeshRouting::yx);
  EXPECT_EQ(both.alternatives(), 2U);
  EXPECT_EQ(xy.alternatives(), 1U);
  for (unsigned from = 0; from < 20; ++from) {
    for (unsigned to = 0; to < 20; ++to) {
      EXPECT_EQ(both.path_nodes(from, to, 0), xy.path_nodes(from, to));
      EXPECT_EQ(both.path_nodes(from, to, 1), yx.path_nodes(from, to));
    }
  }
}

TEST(Mesh, NodesOfAPath) {
  EXPECT_EQ(MeshTopology(4, 3, MeshRouting::xy).path_nodes(0, 10), (std::vector<unsigned>{0, 1, 2, 6, 10}));
  EXPECT_EQ(MeshTopology(4, 3, MeshRouting::yx).path_nodes(10, 0), (std::vector<unsigned>{10, 6, 2, 1, 0}));
  EXPECT_EQ(MeshTopology(4, 3, MeshRouting::yx).path_nodes(5, 5), (std::vector<unsigned>{5}));
  EXPECT_EQ(ButterflyTopology(4, 3).path_nodes(5, 9), (std::vector<unsigned>{5, 9}));
}

// The longest path and the memory of the largest mesh: paths are computed, because 16.7 million stored paths would take
// gigabytes.
TEST(Mesh, TheLargestMeshNeedsLessThanAMebibyte) {
  const MeshTopology topology(64, 64, MeshRouting::o1turn);
  EXPECT_LT(topology.memory(), 1U << 20);
  EXPECT_EQ(topology.outputs(), 4096U * 5);
  for (const unsigned alternative : {0U, 1U}) {
    const auto path = topology.path(0, 4095, alternative);
    ASSERT_EQ(path.size(), 127U);
    EXPECT_EQ(topology.output_name(path[0].output), alternative == 0 ? "x0y0_east" : "x0y0_south");
    EXPECT_EQ(topology.output_name(path[126].output), "x63y63_eject");
  }
  EXPECT_LT(ButterflyTopology(2, 12).memory(), 1U << 20);
}

TEST(Mesh, Wiring) {
  for (const auto routing : {MeshRouting::xy, MeshRouting::yx}) {
    check_wiring(MeshTopology(5, 3, routing), [](unsigned from, unsigned to) {
      const auto distance = [](int a, int b) { return static_cast<std::size_t>(std::abs(a - b)); };
      return distance(static_cast<int>(from % 5), static_cast<int>(to % 5)) +
             distance(static_cast<int>(from / 5), static_cast<int>(to / 5)) + 1;
    });
  }
}

TEST(Butterfly, Wiring) {
  for (const auto& [radix, stages] : std::vector<std::pair<unsigned, unsigned>>{{4, 3}, {2, 4}, {8, 2}, {5, 1}}) {
    SCOPED_TRACE(std::to_string(radix) + "-ary " + std::to_string(stages) + "-fly");
    check_wiring(ButterflyTopology(radix, stages), [stages = stages](unsigned, unsigned) { return stages; });
  }
}

// A packet from the node of a last switch enters the first stage, or the switch itself if the receiver is one of the switch's
// terminals.
TEST(Butterfly, WiringWithSwitchNodes) {
  for (const auto& [radix, stages] : std::vector<std::pair<unsigned, unsigned>>{{4, 3}, {2, 4}, {8, 2}, {5, 1}}) {
    SCOPED_TRACE(std::to_string(radix) + "-ary " + std::to_string(stages) + "-fly");
    const ButterflyTopology topology(radix, stages, true);
    const unsigned terminals = topology.terminals();
    ASSERT_EQ(topology.nodes(), terminals + terminals / radix);
    const auto own_switch = [&, ports = radix](unsigned node) { return node < terminals ? node / ports : node - terminals; };
    check_wiring(topology, [&, count = stages](unsigned from, unsigned to) {
      return from >= terminals && own_switch(from) == own_switch(to) ? 1 : count;
    });
    // Terminals are connected as in a butterfly without switch nodes.
    const ButterflyTopology plain(radix, stages);
    for (unsigned from = 0; from < terminals; ++from) {
      for (unsigned to = 0; to < terminals; ++to) ASSERT_EQ(names(topology, from, to), names(plain, from, to));
    }
  }
  const ButterflyTopology topology(4, 3, true);
  EXPECT_EQ(names(topology, 0, 64 + 15),
            (std::vector<std::string>{"stage0_switch0_output3", "stage1_switch12_output3", "stage2_switch15_node"}));
  EXPECT_EQ(names(topology, 64 + 15, 62), (std::vector<std::string>{"stage2_switch15_output2"}));
  EXPECT_THROW(topology.parse_node("64"), std::invalid_argument);
}

// Each pass stays in one switch, whose radix inputs and outputs have the same consecutive numbers.
TEST(Butterfly, PassesStayInTheirSwitch) {
  const ButterflyTopology topology(4, 3);
  for (unsigned from = 0; from < topology.nodes(); ++from) {
    for (unsigned to = 0; to < topology.nodes(); ++to) {
      for (const SwitchPass& pass : topology.path(from, to)) ASSERT_EQ(pass.input / 4, pass.output / 4);
    }
  }
  EXPECT_EQ(names(topology, 0, 63),
            (std::vector<std::string>{"stage0_switch0_output3", "stage1_switch12_output3", "stage2_switch15_output3"}));
}

TEST(Topology, RefusesInvalidShapes) {
  EXPECT_THROW(MeshTopology(0, 4, MeshRouting::xy), std::invalid_argument);
  EXPECT_THROW(MeshTopology(65, 64, MeshRouting::xy), std::invalid_argument);
  EXPECT_THROW(ButterflyTopology(1, 3), std::invalid_argument);
  EXPECT_THROW(ButterflyTopology(64, 3), std::invalid_argument);
}

}  // namespace
}  // namespace lacuna
