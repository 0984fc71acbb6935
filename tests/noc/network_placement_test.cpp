// Where sources and destinations sit in a network, and what is refused.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "models/noc/network.h"
#include "tests/harness/harness.h"

namespace lacuna {
namespace {

using namespace literals;

AddressRoutes routes(unsigned destinations) {
  return AddressRoutes({{"memory", 0, Bytes{std::uint64_t{destinations} * 64}, 0, destinations, 64_B}});
}

std::unique_ptr<Network> network(const FabricParameters& parameters, unsigned sources, unsigned destinations) {
  return std::make_unique<Network>(sc_core::sc_gen_unique_name("network"), parameters, sources, routes(destinations));
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

TEST(NetworkPlacement, MoreThanNodes) {
  const auto n = network({.topology = FabricTopology::mesh, .columns = 2, .rows = 2, .placement = "0,0 1,1"}, 5, 3);
  EXPECT_EQ(n->destination_node(0), 0U);
  EXPECT_EQ(n->destination_node(1), 3U);
  EXPECT_EQ(n->destination_node(2), 0U);
  EXPECT_EQ(n->source_node(0), 1U);
  EXPECT_EQ(n->source_node(1), 2U);
  EXPECT_EQ(n->source_node(4), 1U);
  // Destinations everywhere: sources share the nodes.
  const auto full = network({.topology = FabricTopology::mesh, .columns = 2, .rows = 2}, 4, 4);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(full->source_node(i), i);
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
      // Three routers, two links, five flits: 3 + 3 * 3 + 2 + 4.
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
