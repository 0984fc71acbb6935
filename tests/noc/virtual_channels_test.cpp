// Tests the effects of few virtual channels and small buffers on contending packets in the booked network.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "models/noc/booked_network.h"
#include "tests/harness/harness.h"

namespace lacuna {
namespace {

using namespace literals;

/// A row of eight nodes: an unloaded flit takes 6 cycles plus 4 for each link.
std::unique_ptr<Fabric> row_of_nodes(unsigned channels, unsigned buffer = 8, MeshRouting routing = MeshRouting::xy,
                                     unsigned rows = 1) {
  const FabricParameters p{.topology = FabricTopology::mesh,
                           .columns = 8,
                           .rows = rows,
                           .routing = routing,
                           .injection_queue = 64,
                           .virtual_channels = channels,
                           .channel_buffer = buffer};
  return make_fabric(sc_core::sc_gen_unique_name("mesh"), p, 1, AddressRoutes({{"memory", 0, 64_B, 0}}));
}

TEST(VirtualChannels, UnloadedTimeDoesNotDependOnThem) {
  for (const unsigned channels : {1U, 2U, 3U, 4U, 8U}) {
    const auto mesh = row_of_nodes(channels);
    Tick at{};
    for (unsigned to = 0; to < 8; ++to) {
      for (unsigned flits : {1U, 2U, 5U, 9U}) {
        const auto traversal = mesh->send(0, to, VirtualNetwork::request, flits, at);
        EXPECT_EQ(traversal.arrival, at + 6_ns + 4_ns * to + 1_ns * (flits - 1)) << channels << ", " << to << ", " << flits;
        EXPECT_EQ(traversal.waiting, 0_ns);
        at += 100_ns;
      }
    }
  }
}

// A packet is allocated the only channel of a link in the cycle after its predecessor's last flit has left: each packet loses a
// cycle.
TEST(VirtualChannels, OneChannelIsReallocatedBetweenPackets) {
  struct Table {
    unsigned channels;
    unsigned flits;
    Tick cost;  ///< time per packet of a stream
  };
  for (const Table& t : {Table{1, 1, 2_ns}, {1, 4, 5_ns}, {2, 1, 1_ns}, {2, 4, 4_ns}, {4, 1, 1_ns}, {4, 4, 4_ns}}) {
    const auto mesh = row_of_nodes(t.channels);
    for (unsigned i = 0; i < 20; ++i) {
      EXPECT_EQ(mesh->send(0, 3, VirtualNetwork::request, t.flits, 0_ns).arrival, 18_ns + 1_ns * (t.flits - 1) + t.cost * i)
          << t.channels << " channels, " << t.flits << " flits, packet " << i;
    }
  }
}

// Head-of-line blocking: packets that follow the front packet of the only channel wait, whatever their destination. Node 2's
// flits keep the link from 2 to 3 busy. A packet from 1 to 3 therefore waits at 2, and behind it waits a packet from 1 that
// would be ejected at 2.
TEST(VirtualChannels, TheFrontPacketBlocksTheChannel) {
  const auto waiting = [](unsigned channels) {
    const auto mesh = row_of_nodes(channels);
    mesh->send(2, 3, VirtualNetwork::request, 40, 0_ns);
    mesh->send(1, 3, VirtualNetwork::request, 1, 10_ns);
    return mesh->send(1, 2, VirtualNetwork::request, 1, 12_ns).waiting;
  };
  EXPECT_GE(waiting(1), 26_ns);
}

// Replies, which have a separate virtual network, overtake waiting requests.
TEST(VirtualChannels, VirtualNetworksHaveSeparateChannels) {
  const auto mesh = row_of_nodes(1, 8);
  for (unsigned i = 0; i < 10; ++i) mesh->send(0, 3, VirtualNetwork::request, 1, 0_ns);  // one every second cycle
  EXPECT_EQ(mesh->send(0, 3, VirtualNetwork::reply, 1, 0_ns).waiting, 1_ns);             // the reply takes a cycle in between
  EXPECT_EQ(mesh->send(0, 3, VirtualNetwork::reply, 1, 0_ns).waiting, 3_ns);
  EXPECT_EQ(mesh->send(0, 3, VirtualNetwork::request, 1, 0_ns).waiting, 20_ns);
}

// A buffer entry is free again when its flit has left and the credit has returned: 4 cycles for the hop and 2 for the credit.
// With fewer than 6 entries, flits arrive in groups.
TEST(VirtualChannels, SmallBuffersLimitALink) {
  const auto duration = [](unsigned channels, unsigned buffer) {
    const auto mesh = row_of_nodes(channels, buffer);
    const auto traversal = mesh->send(0, 2, VirtualNetwork::request, 60, 0_ns);
    return (traversal.arrival - 14_ns).ps / 1000;
  };
  EXPECT_EQ(duration(4, 1), 59U);  // with many channels, buffers do not limit throughput
  EXPECT_EQ(duration(2, 3), 59U);
  EXPECT_EQ(duration(1, 6), 59U);
  EXPECT_EQ(duration(1, 3), 19U * 6 + 2);
  EXPECT_EQ(duration(1, 1), 59U * 6);
}

// Waiting spreads backwards when the buffers are full: a packet from node 0 to node 1 waits behind packets that wait at node 2
// for the link to node 3.
TEST(VirtualChannels, WaitingSpreadsBackwards) {
  const auto left_behind = [](unsigned buffer) {
    const auto mesh = row_of_nodes(1, buffer);
    mesh->send(2, 3, VirtualNetwork::request, 200, 0_ns);
    for (unsigned i = 0; i < 20; ++i) mesh->send(0, 3, VirtualNetwork::request, 1, 1_ns * i);
    return mesh->send(0, 1, VirtualNetwork::request, 1, 40_ns).waiting;
  };
  EXPECT_GT(left_behind(2), 100_ns);
  EXPECT_LT(left_behind(64), 40_ns);
}

TEST(VirtualChannels, ResetFreesThem) {
  const auto mesh = row_of_nodes(1);
  for (unsigned i = 0; i < 20; ++i) mesh->send(0, 3, VirtualNetwork::request, 4, 0_ns);
  mesh->reset();
  EXPECT_EQ(mesh->send(0, 3, VirtualNetwork::request, 4, 0_ns).waiting, 0_ns);
}

TEST(VirtualChannels, ParametersOfSteppedRoutersAreRefused) {
  const auto fabric = [](unsigned speedup, bool wait, RouterModel routers) {
    const FabricParameters p{
        .topology = FabricTopology::mesh, .routers = routers, .input_speedup = speedup, .wait_for_tail_credit = wait};
    return make_fabric(sc_core::sc_gen_unique_name("mesh"), p, 1, AddressRoutes({{"memory", 0, 64_B, 0}}));
  };
  EXPECT_THROW(fabric(2, false, RouterModel::booked), std::invalid_argument);
  EXPECT_THROW(fabric(1, true, RouterModel::booked), std::invalid_argument);
  EXPECT_NE(fabric(2, true, RouterModel::stepped), nullptr);
}

TEST(VirtualChannels, O1TurnNeedsAChannelForEachDimensionOrder) {
  EXPECT_THROW(row_of_nodes(1, 8, MeshRouting::o1turn, 8), std::invalid_argument);
  const auto mesh = row_of_nodes(2, 8, MeshRouting::o1turn, 8);
  // Packets wait only for the channel of their dimension order: 64 packets need more than one cycle each and fewer than two.
  Tick last{};
  for (unsigned i = 0; i < 64; ++i) last = later(last, mesh->send(0, 63, VirtualNetwork::request, 1, 0_ns).arrival);
  const Tick unloaded = 6_ns + 4_ns * 14;
  EXPECT_GE(last, unloaded + 63_ns);
  EXPECT_LT(last, unloaded + 100_ns);
}

TEST(VirtualChannels, ALargeMeshIsBuiltAndUsed) {
  const FabricParameters p{
      .topology = FabricTopology::mesh, .columns = 64, .rows = 64, .routing = MeshRouting::o1turn, .virtual_channels = 2};
  BookedNetwork mesh(sc_core::sc_gen_unique_name("mesh"), p, 4000, AddressRoutes({{"memory", 0, 6144_B, 0, 96, 64_B}}));
  EXPECT_EQ(mesh.send(0, 4095, VirtualNetwork::request, 4, 0_ns).arrival, 6_ns + 4_ns * 126 + 3_ns);
  mesh.retire(1'000_ns);
  EXPECT_EQ(mesh.send(4095, 0, VirtualNetwork::reply, 4, 1'000_ns).links, 126U);
}

}  // namespace
}  // namespace lacuna
