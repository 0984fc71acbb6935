// Tests the topology of docs/guide/extending.md, with booked and with stepped routers.
#include "tests/extending/all_to_all.h"

#include <gtest/gtest.h>

#include "models/gpu/gpu_parameters.h"
#include "models/noc/booked_network.h"
#include "models/noc/routers.h"
#include "tests/harness/harness.h"
#include "tests/noc/topology_wiring.h"

namespace lacuna {
namespace {

using namespace literals;

TEST(AllToAll, Wiring) {
  for (const unsigned nodes : {1U, 2U, 7U}) {
    const AllToAllTopology topology(nodes);
    test::check_wiring(topology, [](unsigned from, unsigned to) { return from == to ? 1U : 2U; });
  }
  EXPECT_EQ(AllToAllTopology(4).output_name(6), "node1_to_node2");
  EXPECT_EQ(AllToAllTopology(4).output_name(5), "node1_eject");
  EXPECT_THROW(AllToAllTopology(257), std::invalid_argument);
}

FabricParameters parameters() {
  return {.topology = kAllToAll, .columns = 4, .rows = 2, .placement = "0 7", .source_placement = "3"};
}

TEST(AllToAll, PacketsOfABookedNetworkTakeOneLink) {
  const auto fabric = make_fabric("fabric", parameters(), 1, AddressRoutes({{"memory", 0, 128_B, 0, 2, 64_B}}));
  EXPECT_EQ(fabric->source_node(0), 3U);
  EXPECT_EQ(fabric->destination_node(1), 7U);
  // Latency in cycles of 1 ns: two routers of 3, a link of 1, interfaces of 3, and 1 for the second flit.
  const Fabric::Traversal there = fabric->send(3, 7, VirtualNetwork::request, 2, 0_ns);
  EXPECT_EQ(there.arrival, 11_ns);
  EXPECT_EQ(there.links, 1U);
  EXPECT_EQ(fabric->send(7, 7, VirtualNetwork::reply, 2, 100_ns).arrival, 107_ns);
}

TEST(AllToAll, SteppedRoutersTakeTheSameTime) {
  const FabricParameters p = parameters();
  const auto topology = p.topology->make(p);
  Routers routers(*topology, p);
  routers.send({.from = 3, .to = 7, .network = 0, .alternative = 0, .flits = 2, .cycle = 0, .tag = 0});
  std::vector<Routers::Delivery> delivered;
  routers.advance(100, delivered);
  ASSERT_EQ(delivered.size(), 1U);
  EXPECT_EQ(delivered[0].arrival, 11U);
}

TEST(AllToAll, DeviceParametersAcceptTheTopology) {
  GpuDeviceParameters device;
  device.noc.topology = kAllToAll;
  device.noc.routers = RouterModel::stepped;
  EXPECT_TRUE(device.check().empty());
}

struct Section {
  Choice<FabricTopology> topology = FabricTopology::mesh;
  void describe(ParameterSection& section) {
    static constexpr const FabricTopology* kTopologies[] = {&FabricTopology::mesh, &kAllToAll};
    section.add<FabricTopology>("topology", topology, "Connections", kTopologies);
  }
};

TEST(AllToAll, IsSelectedByName) {
  Section section;
  ParameterSet set;
  set.describe("noc", section);
  Parameter& parameter = *set.find("noc.topology");
  EXPECT_EQ(parameter.parse("all_to_al"), "\"all_to_al\" is not one of mesh | all_to_all; did you mean all_to_all?");
  EXPECT_EQ(parameter.parse("all_to_all"), std::nullopt);
  EXPECT_EQ(section.topology, kAllToAll);
  EXPECT_THROW(FabricParameters{.topology = kAllToAll}.describe(*std::make_unique<ParameterSection>("noc")), std::logic_error)
      << "a default that the list lacks";
}

}  // namespace
}  // namespace lacuna
