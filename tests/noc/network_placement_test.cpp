// Tests the placement of sources and destinations in a fabric, and the refusal of invalid placements.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "models/noc/booked_network.h"
#include "models/noc/placement.h"
#include "models/noc/topology/mesh.h"
#include "tests/harness/harness.h"

namespace lacuna {
namespace {

using namespace literals;

AddressRoutes routes_to(unsigned destinations) {
  return AddressRoutes({{"memory", 0, Bytes{std::uint64_t{destinations} * 64}, 0, destinations, 64_B}});
}

std::unique_ptr<BookedNetwork> network(const FabricParameters& parameters, unsigned sources, unsigned destinations) {
  return std::make_unique<BookedNetwork>(sc_core::sc_gen_unique_name("network"), parameters, sources, routes_to(destinations));
}

TEST(NetworkPlacement, DestinationsAreSpreadAndSourcesTakeTheOthers) {
  const auto n = network({.topology = FabricTopology::mesh}, 56, 8);
  std::set<unsigned> nodes;
  for (unsigned i = 0; i < 8; ++i) EXPECT_TRUE(nodes.insert(n->destination_node(i)).second);
  for (unsigned i = 0; i < 56; ++i) EXPECT_TRUE(nodes.insert(n->source_node(i)).second);
  EXPECT_EQ(nodes.size(), 64U);
  EXPECT_EQ(n->destination_node(0), 4U);
  EXPECT_EQ(n->destination_node(7), 60U);
}

TEST(NetworkPlacement, SourcesAndDestinationsShareNodesIfNodesAreFewer) {
  const auto n = network({.topology = FabricTopology::mesh, .columns = 2, .rows = 2, .placement = "0,0 1,1"}, 5, 3);
  EXPECT_EQ(n->destination_node(0), 0U);
  EXPECT_EQ(n->destination_node(1), 3U);
  EXPECT_EQ(n->destination_node(2), 0U);
  EXPECT_EQ(n->source_node(0), 1U);
  EXPECT_EQ(n->source_node(1), 2U);
  EXPECT_EQ(n->source_node(4), 1U);
  // If all nodes have destinations, sources share the nodes.
  const auto full = network({.topology = FabricTopology::mesh, .columns = 2, .rows = 2}, 4, 4);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(full->source_node(i), i);
}

TEST(NetworkPlacement, SourcesAtGivenNodes) {
  // Two sources share a node, and a third shares a destination's node; further sources are assigned round robin.
  const auto n = network(
      {.topology = FabricTopology::mesh, .columns = 4, .rows = 4, .placement = "0,0 3,3", .source_placement = "1,0 1,0;3,3"}, 4,
      2);
  const unsigned expected[] = {1, 1, 15, 1};
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(n->source_node(i), expected[i]) << i;
  EXPECT_EQ(n->destination_node(1), 15U);
}

TEST(Placement, OfACrossbar) {
  const FabricPlacement apart = place({}, 3, 2);
  EXPECT_EQ(apart.nodes, 5U);
  EXPECT_EQ(apart.sources, (std::vector<unsigned>{0, 1, 2}));
  EXPECT_EQ(apart.destinations, (std::vector<unsigned>{3, 4}));
  const FabricPlacement shared = place({.placement = "0 2", .source_placement = "0 1 2"}, 3, 2);
  EXPECT_EQ(shared.sources, (std::vector<unsigned>{0, 1, 2}));
  EXPECT_EQ(shared.destinations, (std::vector<unsigned>{0, 2}));
  const FabricPlacement others = place({.placement = "1 3"}, 3, 2);
  EXPECT_EQ(others.sources, (std::vector<unsigned>{0, 2, 4}));
}

TEST(Placement, OfAButterfly) {
  const FabricParameters p{
      .topology = FabricTopology::butterfly, .placement = "63 0", .source_placement = "0", .radix = 4, .stages = 3};
  const FabricPlacement placed = place(p, 2, 2);
  EXPECT_EQ(placed.nodes, 64U);
  EXPECT_EQ(placed.destinations, (std::vector<unsigned>{63, 0}));
  EXPECT_EQ(placed.sources, (std::vector<unsigned>{0, 0}));
}

// Error messages about lists of nodes name the parameter.
TEST(Placement, Refusals) {
  struct Row {
    FabricParameters parameters;
    const char* says;
  };
  const Row table[] = {
      {{.placement = "0,1"}, "placement: \"0,1\" is not the number of a node"},
      {{.placement = "5"}, "placement: there are 5 nodes, none has the number 5"},
      {{.placement = "1 1"}, "placement: position 1 is named twice"},
      {{.source_placement = "0 -1"}, "source_placement: \"-1\" is not the number of a node"},
      {{.topology = FabricTopology::mesh, .placement = "1,1 1,1"}, "placement: position 1,1 is named twice"},
      {{.topology = FabricTopology::mesh, .source_placement = "0,8"},
       "source_placement: position 0,8 is outside the mesh of 8 x 8"},
      {{.topology = FabricTopology::mesh, .source_placement = "7"}, "source_placement: \"7\" is not a position \"x,y\""},
      {{.topology = FabricTopology::mesh, .columns = 65}, "a mesh has 1 to 64 x 64 nodes, not 65 x 8"},
  };
  for (const Row& row : table) {
    try {
      place(row.parameters, 3, 2);
      ADD_FAILURE() << row.says;
    } catch (const std::invalid_argument& error) {
      EXPECT_STREQ(error.what(), row.says);
    }
  }
}

TEST(Placement, Parses) {
  const MeshTopology mesh(4, 3, MeshRouting::xy);
  EXPECT_EQ(parse_placement("0,1 3,2;1,0", mesh), (std::vector<unsigned>{4, 11, 1}));
  EXPECT_TRUE(parse_placement(" ", mesh).empty());
  for (const char* bad : {"4,0", "0,3", "1", "1;2", "a,b", "1,1 1,1", "1,2x", "-1,0", "1,-1"}) {
    EXPECT_THROW(parse_placement(bad, mesh), std::invalid_argument) << bad;
  }
  EXPECT_EQ(parse_placement("3 0;11", 12), (std::vector<unsigned>{3, 0, 11}));
  EXPECT_EQ(parse_placement("3 3", 12, Repeats::allowed), (std::vector<unsigned>{3, 3}));
  for (const char* bad : {"12", "1,2", "a", "1 1", "2x", "-1"}) {
    EXPECT_THROW(parse_placement(bad, 12), std::invalid_argument) << bad;
  }
}

TEST(NetworkPlacement, Refusals) {
  EXPECT_THROW(network({.topology = FabricTopology::mesh, .placement = "8,0"}, 4, 4), std::invalid_argument);
  EXPECT_THROW(network({.topology = FabricTopology::butterfly, .placement = "0,0"}, 4, 4), std::invalid_argument);
  EXPECT_THROW(network({.topology = FabricTopology::butterfly, .radix = 64, .stages = 12}, 4, 4), std::invalid_argument);
}

TEST(Butterfly, UnloadedLatencyIsTheSameForAll) {
  const auto n = network({.topology = FabricTopology::butterfly}, 56, 8);
  Tick at{};
  for (unsigned source = 0; source < 56; ++source) {
    for (unsigned destination = 0; destination < 8; ++destination) {
      // Interface, three routers, two links, four more flits: 3 + 3 * 3 + 2 + 4 cycles.
      for (const auto direction : {VirtualNetwork::request, VirtualNetwork::reply}) {
        const auto traversal = n->traverse(direction, source, destination, 5, at);
        EXPECT_EQ(traversal.arrival, at + 18_ns);
        EXPECT_EQ(traversal.waiting, Tick{});
        EXPECT_EQ(traversal.links, 2U);
        at += 100_ns;
      }
    }
  }
}

}  // namespace
}  // namespace lacuna
