// Tests packets between nodes: nodes that sources and destinations share, third nodes as receivers, and the choice between
// paths.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "models/noc/booked_network.h"
#include "models/noc/crossbar.h"
#include "tests/harness/harness.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr auto kRequest = VirtualNetwork::request;
constexpr auto kReply = VirtualNetwork::reply;

std::unique_ptr<Fabric> fabric(const FabricParameters& parameters, unsigned sources, unsigned destinations) {
  return make_fabric(sc_core::sc_gen_unique_name("fabric"), parameters, sources,
                     AddressRoutes({{"memory", 0, Bytes{std::uint64_t{destinations} * 64}, 0, destinations, 64_B}}));
}

/// Source 0 at (0,0), source 1 and destination 1 at (1,0), destination 0 at (3,3).
FabricParameters shared_node() {
  return {.topology = FabricTopology::mesh, .columns = 4, .rows = 4, .placement = "3,3 1,0", .source_placement = "0,0 1,0"};
}

TEST(FabricNodes, SourceAndDestinationAtOneNode) {
  const auto mesh = fabric(shared_node(), 2, 2);
  ASSERT_EQ(mesh->source_node(1), mesh->destination_node(1));
  // A packet of F flits passes one switch and no link: interface 3 + switch 3 + F - 1 cycles. Two packets contend for the
  // node's ejection port.
  EXPECT_EQ(mesh->traverse(kRequest, 1, 1, 1, 0_ns).arrival, 6_ns);
  EXPECT_EQ(mesh->traverse(kRequest, 1, 1, 1, 0_ns).arrival, 7_ns);
  // Source and destination share the injection port: request and reply leave one after the other.
  mesh->reset();
  EXPECT_EQ(mesh->traverse(kRequest, 1, 0, 4, 100_ns).waiting, 0_ns);
  EXPECT_EQ(mesh->traverse(kReply, 0, 1, 1, 100_ns).waiting, 4_ns);

  const auto crossbar = fabric({.placement = "0 1", .source_placement = "0 2"}, 2, 2);
  ASSERT_EQ(crossbar->source_node(0), crossbar->destination_node(0));
  EXPECT_EQ(crossbar->traverse(kRequest, 0, 1, 4, 0_ns).arrival, 14_ns);
  EXPECT_EQ(crossbar->traverse(kReply, 1, 0, 1, 0_ns).arrival, 15_ns);
}

TEST(FabricNodes, AResponseMayGoToAThirdNode) {
  const auto mesh = fabric(shared_node(), 2, 2);
  const unsigned third = 12;  // (0,3), where no source or destination is
  const auto there = mesh->send(mesh->source_node(0), mesh->destination_node(0), kRequest, 1, 0_ns);
  EXPECT_EQ(there.arrival, 30_ns);  // six links: 6 + 4 x 6 ns
  const auto answer = mesh->send(mesh->destination_node(0), third, kReply, 3, there.arrival);
  EXPECT_EQ(answer.arrival, 30_ns + 20_ns);  // three links, three flits: 6 + 4 x 3 + 2 ns
  EXPECT_EQ(answer.links, 3U);
  const FabricStatistics& s = mesh->statistics();
  EXPECT_EQ(s.packets, 2U);
  EXPECT_EQ(s.flits, 4U);
  EXPECT_EQ(s.hops, 9U);
  EXPECT_EQ(s.weighted_hops, 6U + 9U);
  EXPECT_EQ(s.latency, 50_ns);
  // Packets of send() count for no source or destination.
  for (const auto& port : s.sources) EXPECT_EQ(port.packets, 0U);

  const auto crossbar = fabric({}, 2, 2);
  EXPECT_EQ(crossbar->send(2, 3, kReply, 2, 0_ns).arrival, 12_ns);  // from destination to destination
}

TEST(FabricNodes, SendAndCarryTakeTheSameTime) {
  for (const FabricTopology* const topology : fabric_topologies()) {
    const auto by_node = fabric({.topology = *topology}, 6, 2);
    const auto by_port = fabric({.topology = *topology}, 6, 2);
    for (unsigned i = 0; i < 60; ++i) {
      const unsigned source = i % 6;
      const unsigned destination = i / 3 % 2;
      const unsigned a = by_node->source_node(source);
      const unsigned b = by_node->destination_node(destination);
      const bool request = i % 5 < 3;
      const auto network = request ? kRequest : kReply;
      const Tick sent = by_node->send(request ? a : b, request ? b : a, network, 1 + i % 4, 1_ns * i).arrival;
      EXPECT_EQ(sent, by_port->carry(network, source, destination, 1 + i % 4, 1_ns * i).arrival);
    }
    EXPECT_EQ(by_node->statistics().queueing, by_port->statistics().queueing);
    EXPECT_GT(by_node->statistics().queueing, 0_ns);
  }
}

// Three packets of node 5 contend for its injection port; a packet of node 4 contends with the first of them at the
// destination. Only the wait for the injection port counts as injection wait.
TEST(FabricNodes, TheWaitInTheInjectionQueueIsCountedSeparately) {
  for (const FabricTopology* const topology : fabric_topologies()) {
    const auto f = fabric({.topology = *topology, .radix = 2, .stages = 6}, 6, 2);
    const unsigned from = 5;
    EXPECT_EQ(f->send(from, 6, kReply, 5, 10_ns).injection, 0_ns) << topology->name;
    EXPECT_EQ(f->send(from, 7, kReply, 5, 10_ns).injection, 5_ns);
    const Fabric::Traversal third = f->send(from, 6, kRequest, 1, 12_ns);
    EXPECT_EQ(third.injection, 8_ns) << "all virtual networks share the port";
    EXPECT_GE(third.waiting, third.injection);
    const Fabric::Traversal other = f->send(4, 6, kReply, 5, 10_ns);
    EXPECT_LT(other.injection, 5_ns);
    EXPECT_GT(other.waiting, other.injection) << "for the port of the receiver";
    const InjectionStatistics& injection = f->statistics().injection;
    EXPECT_EQ(injection.of(from, kReply).packets, 2U);
    EXPECT_EQ(injection.of(from, kReply).queueing, 5_ns);
    EXPECT_EQ(injection.of(from, kRequest).packets, 1U);
    EXPECT_EQ(injection.of(from, kRequest).queueing, 8_ns);
    EXPECT_EQ(injection.of(4, kReply).packets, 1U);
    EXPECT_EQ(injection.of(6, kReply).packets, 0U);
  }
}

TEST(FabricNodes, UnknownNodesAndNetworksAreRefused) {
  for (const FabricTopology* const topology : {&FabricTopology::crossbar, &FabricTopology::mesh}) {
    const auto f = fabric({.topology = *topology, .columns = 2, .rows = 2}, 2, 2);
    EXPECT_THROW(f->send(4, 0, kRequest, 1, 0_ns), std::out_of_range);
    EXPECT_THROW(f->send(0, 4, kRequest, 1, 0_ns), std::out_of_range);
    EXPECT_THROW(f->send(0, 1, VirtualNetwork{2}, 1, 0_ns), std::out_of_range);
    EXPECT_EQ(f->statistics().packets, 0U);
  }
}

TEST(FabricNodes, AFurtherVirtualNetworkSharesTheLinks) {
  const FabricParameters p{.topology = FabricTopology::mesh, .injection_queue = 1, .virtual_networks = 3};
  const auto mesh = fabric(p, 2, 2);
  EXPECT_EQ(mesh->send(0, 9, VirtualNetwork{2}, 4, 0_ns).waiting, 0_ns);
  EXPECT_EQ(mesh->send(0, 9, VirtualNetwork{2}, 4, 0_ns).waiting, 4_ns);
  EXPECT_EQ(mesh->send(0, 9, kRequest, 1, 0_ns).waiting, 8_ns);
  EXPECT_EQ(mesh->send(0, 9, kReply, 1, 9_ns).waiting, 0_ns);
}

TEST(FabricNodes, NodesOfAPath) {
  const auto yx = fabric({.topology = FabricTopology::mesh, .routing = MeshRouting::yx}, 56, 8);
  EXPECT_EQ(yx->path_nodes(0, 17), (std::vector<unsigned>{0, 8, 16, 17}));
  EXPECT_EQ(yx->path_alternatives(), 1U);
  const auto both = fabric({.topology = FabricTopology::mesh, .routing = MeshRouting::o1turn}, 56, 8);
  EXPECT_EQ(both->path_alternatives(), 2U);
  EXPECT_EQ(both->path_nodes(0, 17, 0), (std::vector<unsigned>{0, 1, 9, 17}));
  EXPECT_EQ(both->path_nodes(0, 17, 1), (std::vector<unsigned>{0, 8, 16, 17}));
  const auto crossbar = fabric({}, 2, 2);
  EXPECT_EQ(crossbar->path_nodes(0, 3), (std::vector<unsigned>{0, 3}));
  EXPECT_EQ(crossbar->path_nodes(3, 3), (std::vector<unsigned>{3}));
}

std::unique_ptr<BookedNetwork> o1turn() {
  return std::make_unique<BookedNetwork>(sc_core::sc_gen_unique_name("mesh"),
                                         FabricParameters{.topology = FabricTopology::mesh, .routing = MeshRouting::o1turn}, 64,
                                         AddressRoutes({{"memory", 0, 4096_B, 0, 64, 64_B}}));
}

/// Sends packets from one node to another. Returns for each whether it took path 0, identified by the first link.
std::vector<bool> ways(BookedNetwork& mesh, unsigned from, unsigned to, unsigned packets) {
  std::vector<bool> result;
  const unsigned east = mesh.topology().path(from, to, 0).front().output;
  for (unsigned i = 0; i < packets; ++i) {
    const std::uint64_t before = mesh.output_flits(east);
    mesh.send(from, to, kRequest, 1, 100_ns * i);
    result.push_back(mesh.output_flits(east) != before);
  }
  return result;
}

TEST(O1Turn, PathsAreEquallyFrequentAndTheSameInEveryRun) {
  const auto mesh = o1turn();
  const auto again = o1turn();
  std::vector<std::vector<bool>> seen;
  for (const unsigned from : {0U, 1U, 9U, 27U}) {
    const auto first = ways(*mesh, from, 63, 2000);
    EXPECT_EQ(first, ways(*again, from, 63, 2000));
    const auto xy = static_cast<double>(std::count(first.begin(), first.end(), true));
    // The tolerance is four standard deviations of 2000 fair choices.
    EXPECT_NEAR(xy, 1000, 90) << from;
    // The choices have no fixed pattern: consecutive choices are equal half the time, as are choices two packets apart.
    for (const unsigned distance : {1U, 2U}) {
      unsigned equal = 0;
      for (std::size_t i = distance; i < first.size(); ++i) equal += first[i] == first[i - distance] ? 1U : 0U;
      EXPECT_NEAR(equal, 1000, 90) << from << ", " << distance;
    }
    for (const auto& other : seen) EXPECT_NE(first, other);
    seen.push_back(first);
  }
  const auto before = ways(*mesh, 40, 63, 100);
  mesh->reset();
  EXPECT_EQ(ways(*mesh, 40, 63, 100), before);
}

TEST(O1Turn, UnloadedTimeIsTheSameForBothPaths) {
  const auto mesh = o1turn();
  Tick at{};
  for (unsigned i = 0; i < 100; ++i, at += 200_ns) {
    const auto traversal = mesh->send(3, 60, kRequest, 2, at);
    EXPECT_EQ(traversal.arrival - at, 6_ns + 4_ns * 8 + 1_ns);
    EXPECT_EQ(traversal.waiting, 0_ns);
  }
}

// One dimension order routes all packets from row 0 to column 7 through one corner; two orders use two corners (Seo et al.,
// figure 1: the worst case of one order).
TEST(O1Turn, SpreadsTheTrafficOfACorner) {
  const auto last_arrival = [](MeshRouting routing) {
    const auto mesh = fabric({.topology = FabricTopology::mesh, .routing = routing, .injection_queue = 65536}, 56, 8);
    Tick last{};
    for (unsigned t = 0; t < 200; ++t) {
      for (unsigned i = 0; i < 7; ++i) last = later(last, mesh->send(i, 15 + 8 * i, kRequest, 1, 1_ns * t).arrival);
    }
    return static_cast<double>(last.ps) / 1000;
  };
  const double one = last_arrival(MeshRouting::xy);
  const double two = last_arrival(MeshRouting::o1turn);
  EXPECT_GT(one, 1400);  // 1400 flits pass one link
  EXPECT_LT(two, 0.62 * one);
}

}  // namespace
}  // namespace lacuna
