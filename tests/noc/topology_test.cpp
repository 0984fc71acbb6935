#include "models/noc/topology.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

namespace lacuna {
namespace {

std::vector<std::string> names(const Topology& topology, unsigned from, unsigned to) {
  std::vector<std::string> result;
  for (const SwitchPass& pass : topology.path(from, to)) result.push_back(topology.output_name(pass.output));
  return result;
}

TEST(Mesh, DimensionOrder) {
  const Topology xy = Topology::mesh(4, 3, MeshRouting::xy);
  EXPECT_EQ(xy.nodes(), 12U);
  EXPECT_EQ(names(xy, 0, 10), (std::vector<std::string>{"x0y0_east", "x1y0_east", "x2y0_south", "x2y1_south", "x2y2_eject"}));
  EXPECT_EQ(names(xy, 10, 0), (std::vector<std::string>{"x2y2_west", "x1y2_west", "x0y2_north", "x0y1_north", "x0y0_eject"}));
  const Topology yx = Topology::mesh(4, 3, MeshRouting::yx);
  EXPECT_EQ(names(yx, 0, 10), (std::vector<std::string>{"x0y0_south", "x0y1_south", "x0y2_east", "x1y2_east", "x2y2_eject"}));
  EXPECT_EQ(names(yx, 5, 5), (std::vector<std::string>{"x1y1_eject"}));
}

TEST(Mesh, O1TurnHasBothOrders) {
  const Topology both = Topology::mesh(5, 4, MeshRouting::o1turn);
  const Topology xy = Topology::mesh(5, 4, MeshRouting::xy);
  const Topology yx = Topology::mesh(5, 4, MeshRouting::yx);
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
  EXPECT_EQ(Topology::mesh(4, 3, MeshRouting::xy).path_nodes(0, 10), (std::vector<unsigned>{0, 1, 2, 6, 10}));
  EXPECT_EQ(Topology::mesh(4, 3, MeshRouting::yx).path_nodes(10, 0), (std::vector<unsigned>{10, 6, 2, 1, 0}));
  EXPECT_EQ(Topology::mesh(4, 3, MeshRouting::yx).path_nodes(5, 5), (std::vector<unsigned>{5}));
  EXPECT_EQ(Topology::butterfly(4, 3).path_nodes(5, 9), (std::vector<unsigned>{5, 9}));
}

// From corner to corner of the largest: paths are computed, 16.7 million of them would be gigabytes.
TEST(Mesh, SixtyFourBySixtyFourIsSmall) {
  const Topology topology = Topology::mesh(64, 64, MeshRouting::o1turn);
  EXPECT_LT(topology.memory(), 1U << 20);
  EXPECT_EQ(topology.outputs(), 4096U * 5);
  for (const unsigned alternative : {0U, 1U}) {
    const auto path = topology.path(0, 4095, alternative);
    ASSERT_EQ(path.size(), 127U);
    EXPECT_EQ(topology.output_name(path[0].output), alternative == 0 ? "x0y0_east" : "x0y0_south");
    EXPECT_EQ(topology.output_name(path[126].output), "x63y63_eject");
  }
  EXPECT_LT(Topology::butterfly(2, 12).memory(), 1U << 20);
}

// A link ends at one input, whoever uses it; an ejection port belongs to its node; paths are as short as the topology allows.
void check_wiring(const Topology& topology, const std::function<std::size_t(unsigned, unsigned)>& length) {
  std::map<std::uint32_t, std::uint32_t> ends;
  std::map<std::uint32_t, unsigned> ejects;
  std::map<unsigned, std::uint32_t> injects;
  for (unsigned from = 0; from < topology.nodes(); ++from) {
    for (unsigned to = 0; to < topology.nodes(); ++to) {
      const auto path = topology.path(from, to);
      ASSERT_EQ(path.size(), length(from, to)) << from << " to " << to;
      EXPECT_EQ(injects.emplace(from, path.front().input).first->second, path.front().input);
      EXPECT_EQ(ejects.emplace(path.back().output, to).first->second, to);
      for (std::size_t i = 0; i < path.size(); ++i) {
        ASSERT_LT(path[i].input, topology.inputs());
        ASSERT_LT(path[i].output, topology.outputs());
        EXPECT_EQ(topology.is_link(path[i].output), i + 1 < path.size());
        if (i + 1 == path.size()) continue;
        EXPECT_EQ(ends.emplace(path[i].output, path[i + 1].input).first->second, path[i + 1].input);
      }
    }
  }
  std::set<std::uint32_t> inputs;
  for (const auto& [link, input] : ends) EXPECT_TRUE(inputs.insert(input).second) << "two links end at input " << input;
  for (const auto& [node, input] : injects) EXPECT_TRUE(inputs.insert(input).second);
  EXPECT_EQ(ejects.size(), topology.nodes());
}

TEST(Mesh, Wiring) {
  for (const auto routing : {MeshRouting::xy, MeshRouting::yx}) {
    check_wiring(Topology::mesh(5, 3, routing), [](unsigned from, unsigned to) {
      const auto distance = [](int a, int b) { return static_cast<std::size_t>(std::abs(a - b)); };
      return distance(static_cast<int>(from % 5), static_cast<int>(to % 5)) +
             distance(static_cast<int>(from / 5), static_cast<int>(to / 5)) + 1;
    });
  }
}

TEST(Butterfly, Wiring) {
  for (const auto& [radix, stages] : std::vector<std::pair<unsigned, unsigned>>{{4, 3}, {2, 4}, {8, 2}, {5, 1}}) {
    SCOPED_TRACE(std::to_string(radix) + "-ary " + std::to_string(stages) + "-fly");
    check_wiring(Topology::butterfly(radix, stages), [stages = stages](unsigned, unsigned) { return stages; });
  }
}

// A pass keeps to one switch: the inputs of radix consecutive numbers lead to the outputs of the same numbers.
TEST(Butterfly, PassesStayInTheirSwitch) {
  const Topology topology = Topology::butterfly(4, 3);
  for (unsigned from = 0; from < topology.nodes(); ++from) {
    for (unsigned to = 0; to < topology.nodes(); ++to) {
      for (const SwitchPass& pass : topology.path(from, to)) ASSERT_EQ(pass.input / 4, pass.output / 4);
    }
  }
  EXPECT_EQ(names(topology, 0, 63),
            (std::vector<std::string>{"stage0_switch0_output3", "stage1_switch12_output3", "stage2_switch15_output3"}));
}

TEST(Topology, RefusesShapesThatAreNone) {
  EXPECT_THROW(Topology::mesh(0, 4, MeshRouting::xy), std::invalid_argument);
  EXPECT_THROW(Topology::mesh(65, 64, MeshRouting::xy), std::invalid_argument);
  EXPECT_THROW(Topology::butterfly(1, 3), std::invalid_argument);
  EXPECT_THROW(Topology::butterfly(64, 3), std::invalid_argument);
}

}  // namespace
}  // namespace lacuna
