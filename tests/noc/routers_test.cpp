// Tests stepped routers: the latency of an idle network, and the effects of arbitration, credits and full buffers on contending
// packets.
#include "models/noc/routers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

namespace lacuna {
namespace {

using Deliveries = std::vector<Routers::Delivery>;

struct RoutedMesh {
  explicit RoutedMesh(const FabricParameters& parameters)
      : topology(parameters.topology->make(parameters)), routers(*topology, parameters) {}
  void send(unsigned from, unsigned to, unsigned flits, std::uint64_t cycle, std::uint32_t tag = 0, unsigned network = 0,
            unsigned alternative = 0) {
    routers.send(
        {.from = from, .to = to, .network = network, .alternative = alternative, .flits = flits, .cycle = cycle, .tag = tag});
  }
  Deliveries run(std::uint64_t until) {
    Deliveries all;
    routers.advance(until, all);
    return all;
  }
  std::unique_ptr<const Topology> topology;
  Routers routers;
};

/// A row of eight nodes: an unloaded flit takes 6 cycles plus 4 for each link.
FabricParameters row(unsigned channels, unsigned buffer = 8) {
  return {.topology = FabricTopology::mesh, .columns = 8, .rows = 1, .virtual_channels = channels, .channel_buffer = buffer};
}

TEST(Routers, UnloadedLatencyFollowsTheFormula) {
  using namespace literals;
  std::vector<FabricParameters> machines{row(1), row(2), row(8)};
  machines.push_back({.topology = FabricTopology::mesh, .routing = MeshRouting::yx});
  machines.push_back({.topology = FabricTopology::mesh, .routing = MeshRouting::o1turn});
  machines.push_back({.topology = FabricTopology::butterfly});
  machines.push_back({.topology = FabricTopology::mesh, .router_latency = 2_cycles, .interface_latency = 1_cycles});
  machines.push_back({.topology = FabricTopology::mesh,
                      .router_latency = 5_cycles,
                      .link_latency = 3_cycles,
                      .interface_latency = 4_cycles,
                      .channel_buffer = 16});
  machines.push_back({.topology = FabricTopology::mesh, .link_latency = 0_cycles});
  for (const FabricParameters& p : machines) {
    RoutedMesh mesh(p);
    std::uint64_t cycle = 0;
    for (unsigned i = 0; i < 40; ++i, cycle += 500) {
      const unsigned to = 7 * i % mesh.topology->nodes();
      const unsigned alternative = i % mesh.topology->alternatives();
      const unsigned flits = 1 + i % 6;
      mesh.send(0, to, flits, cycle, i, i % 2, alternative);
      const Deliveries got = mesh.run(cycle + 500);
      ASSERT_EQ(got.size(), 1U);
      const auto links = static_cast<unsigned>(mesh.topology->path(0, to, alternative).size() - 1);
      EXPECT_EQ(got[0].links, links);
      EXPECT_EQ(got[0].waiting, 0U);
      EXPECT_EQ(got[0].arrival - cycle,
                p.interface_latency.n + (links + 1) * p.router_latency.n + links * p.link_latency.n + flits - 1)
          << links << " links, " << flits << " flits";
    }
  }
}

// All nodes of a row send to the last one at full rate. Where a node's packets contend with those that pass along the row, each
// side gets half of the bandwidth: of the packets that arrive, the nearest node sends every second, the next node every fourth,
// and so on.
TEST(Routers, NearNodesGetMoreThanFarOnes) {
  RoutedMesh mesh(row(4));
  constexpr unsigned kCycles = 4000;
  for (unsigned cycle = 0; cycle < kCycles; ++cycle) {
    for (unsigned from = 0; from < 7; ++from) mesh.send(from, 7, 1, cycle, from);
  }
  mesh.run(1000);
  std::map<std::uint32_t, double> share;
  for (const Routers::Delivery& packet : mesh.run(kCycles)) share[packet.tag] += 1.0 / (kCycles - 1000);
  double expected = 1;
  for (unsigned from = 6; from > 2; --from) EXPECT_NEAR(share[from], expected /= 2, 0.03) << from;
  double sum = 0;
  for (const auto& [from, part] : share) sum += part;
  EXPECT_NEAR(sum, 1, 0.01) << "the last link is never idle";
}

// A packet from node 0 to node 1 waits behind packets that wait at node 2 for the link to node 3, once the buffers in between
// are full.
TEST(Routers, WaitingSpreadsBackwards) {
  const auto left_behind = [](unsigned buffer) {
    RoutedMesh mesh(row(1, buffer));
    mesh.send(2, 3, 200, 0);
    for (unsigned i = 0; i < 20; ++i) mesh.send(0, 3, 1, i, 1);
    mesh.send(0, 1, 1, 40, 2);
    for (const Routers::Delivery& packet : mesh.run(1000)) {
      if (packet.tag == 2) return packet.waiting;
    }
    return std::uint64_t{0};
  };
  EXPECT_GT(left_behind(2), 100U);
  EXPECT_LT(left_behind(64), 40U);
}

// Packets of five flits are ready in one cycle at one node: each waits for the packets before it, and in the second part also
// because buffers are full.
TEST(Routers, TheWaitInTheInjectionQueueIsCountedSeparately) {
  RoutedMesh mesh(row(4));
  for (unsigned i = 0; i < 4; ++i) mesh.send(0, 1 + i, 5, 100, i);
  for (const Routers::Delivery& packet : mesh.run(1000)) {
    EXPECT_EQ(packet.injection, 5 * packet.tag);
    EXPECT_GE(packet.waiting, packet.injection);
  }
  // A long packet of node 1 holds the link to 2: packets of node 0 wait in the buffers of node 1 and, when these are full, at
  // node 0.
  RoutedMesh full(row(1, 8));
  full.send(1, 2, 200, 0);
  full.send(0, 2, 5, 10, 0);
  full.send(0, 2, 5, 10, 1);
  full.send(0, 2, 5, 10, 2);
  full.send(0, 2, 5, 10, 3);
  std::map<std::uint32_t, Routers::Delivery> by_tag;
  for (const Routers::Delivery& packet : full.run(1000)) {
    if (packet.links == 2) by_tag[packet.tag] = packet;
  }
  ASSERT_EQ(by_tag.size(), 4U);
  EXPECT_EQ(by_tag[0].injection, 0U);
  EXPECT_GT(by_tag[0].waiting, 150U) << "in the network";
  EXPECT_GT(by_tag[3].injection, 150U) << "at its node, as the buffers hold 16 flits";
}

// A buffer entry is free again when its flit has left and the credit has returned: 3 cycles for switch and link and 2 for the
// credit. With fewer than 5 entries, flits arrive in groups.
TEST(Routers, SmallBuffersLimitALink) {
  const auto duration = [](unsigned buffer) {
    RoutedMesh mesh(row(1, buffer));
    mesh.send(0, 2, 60, 0);
    return mesh.run(1000).at(0).waiting + 59;
  };
  EXPECT_EQ(duration(6), 59U);
  EXPECT_EQ(duration(5), 59U);
  EXPECT_NEAR(static_cast<double>(duration(3)), 59 * 5 / 3.0, 3);
  EXPECT_NEAR(static_cast<double>(duration(1)), 59 * 5, 3);
}

TEST(Routers, OneChannelIsReallocatedBetweenPackets) {
  const auto last = [](unsigned channels, unsigned flits) {
    RoutedMesh mesh(row(channels));
    for (unsigned i = 0; i < 20; ++i) mesh.send(0, 3, flits, 0);
    return mesh.run(1000).back().arrival - 18;
  };
  EXPECT_EQ(last(1, 1), 19 * 2U);
  EXPECT_EQ(last(1, 4), 3 + 19 * 5U);
  EXPECT_EQ(last(2, 1), 19U);
  EXPECT_EQ(last(4, 4), 79U);
}

// A channel is free again 7 cycles after its allocation: switch, link, the next router's two allocators, credit. The same holds
// at the destination node, which returns the credit at the arrival.
TEST(Routers, AChannelMayWaitForTheCreditOfThePacketsTail) {
  const auto last = [](unsigned channels, unsigned flits) {
    FabricParameters p = row(channels);
    p.wait_for_tail_credit = true;
    RoutedMesh mesh(p);
    for (unsigned i = 0; i < 20; ++i) mesh.send(0, 3, flits, 0);
    const Deliveries all = mesh.run(1000);
    EXPECT_EQ(all.size(), 20U);
    return all.back().arrival - 18;
  };
  EXPECT_EQ(last(1, 1), 19 * 7U);
  EXPECT_EQ(last(1, 4), 3 + 19 * 10U);
  EXPECT_EQ(last(4, 1), 4 * 7 + 3U);
  EXPECT_EQ(last(8, 1), 19U);
  EXPECT_EQ(last(4, 4), 79U);
}

// With several switch ports per input, packets for one output do not block packets of the same input for another output.
TEST(Routers, AnInputMaySendToSeveralOutputs) {
  const auto accepted = [](unsigned speedup) {
    FabricParameters p{.topology = FabricTopology::mesh, .virtual_networks = 1, .virtual_channels = 8};
    p.input_speedup = speedup;
    RoutedMesh mesh(p);
    std::mt19937_64 random(3);
    for (unsigned cycle = 0; cycle < 1200; ++cycle) {
      for (unsigned from = cycle % 2; from < 64; from += 2) mesh.send(from, static_cast<unsigned>(random() % 64), 1, cycle);
    }
    mesh.run(600);
    return static_cast<double>(mesh.run(1200).size()) / 64 / 600;
  };
  const double one = accepted(1);
  const double two = accepted(2);
  const double eight = accepted(8);
  EXPECT_GT(two, 1.05 * one);
  EXPECT_GE(eight, two);
}

// Replies, which have a separate virtual network, overtake waiting requests.
TEST(Routers, VirtualNetworksHaveTheirOwnChannels) {
  RoutedMesh mesh(row(1));
  mesh.send(2, 3, 200, 0, 0, 0);
  for (unsigned i = 0; i < 20; ++i) mesh.send(1, 3, 1, 10, 1, 0);
  mesh.send(1, 3, 1, 20, 2, 1);
  std::array<unsigned, 3> arrived{};
  for (const Routers::Delivery& packet : mesh.run(1000)) {
    ++arrived.at(packet.tag);
    if (packet.tag == 1) {
      EXPECT_GT(packet.waiting, 150U);
    } else if (packet.tag == 2) {
      EXPECT_LT(packet.waiting, 10U);
    }
  }
  EXPECT_EQ(arrived, (std::array<unsigned, 3>{1, 20, 1}));
}

/// Sends random traffic on both virtual networks and advances the mesh in steps of `piece` cycles.
Deliveries random_traffic(RoutedMesh& mesh, std::uint64_t begin, std::uint64_t piece) {
  std::mt19937 random(3);
  const auto below = [&random](unsigned end) { return static_cast<unsigned>(random() % end); };
  Deliveries all;
  for (unsigned i = 0; i < 4000; ++i) {
    const unsigned from = below(64);
    const unsigned to = below(64);
    const unsigned flits = 1 + below(5);
    const std::uint64_t cycle = begin + below(500);
    const unsigned network = below(2);
    mesh.send(from, to, flits, cycle, i, network, below(2));
  }
  for (std::uint64_t cycle = begin; mesh.routers.next() != Routers::kNever; cycle += piece) {
    mesh.routers.advance(cycle + piece, all);
  }
  return all;
}

TEST(Routers, EveryPacketArrivesOnceInOrderOfTimeHoweverTimeAdvances) {
  const FabricParameters p{.topology = FabricTopology::mesh, .routing = MeshRouting::o1turn, .channel_buffer = 3};
  RoutedMesh by_cycle(p);
  RoutedMesh at_once(p);
  const Deliveries one = random_traffic(by_cycle, 0, 1);
  const Deliveries two = random_traffic(at_once, 0, 977);
  ASSERT_EQ(one.size(), 4000U);
  ASSERT_EQ(two.size(), 4000U);
  std::vector<bool> seen(4000);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].tag, two[i].tag);
    EXPECT_EQ(one[i].arrival, two[i].arrival);
    EXPECT_FALSE(seen[one[i].tag]);
    seen[one[i].tag] = true;
    EXPECT_LE(one[i == 0 ? 0 : i - 1].arrival, one[i].arrival);
  }
}

TEST(Routers, ResetDropsPacketsInFlight) {
  const FabricParameters p{.topology = FabricTopology::mesh, .routing = MeshRouting::o1turn};
  RoutedMesh mesh(p);
  const Deliveries fresh = random_traffic(mesh, 0, 64);
  mesh.routers.reset();
  for (unsigned i = 0; i < 500; ++i) mesh.send(i % 64, 9, 4, 0);
  mesh.run(50);
  mesh.routers.reset();
  EXPECT_EQ(mesh.routers.next(), Routers::kNever);
  const Deliveries again = random_traffic(mesh, 0, 64);
  ASSERT_EQ(fresh.size(), again.size());
  for (std::size_t i = 0; i < fresh.size(); ++i) EXPECT_EQ(fresh[i].arrival, again[i].arrival);
}

TEST(Routers, ALargeMeshIsBuiltAndUsed) {
  RoutedMesh mesh({.topology = FabricTopology::mesh, .columns = 64, .rows = 64, .routing = MeshRouting::o1turn});
  mesh.send(0, 4095, 4, 0, 1, 0, 0);
  mesh.send(0, 4095, 4, 100, 2, 0, 1);
  const Deliveries got = mesh.run(2000);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].links, 126U);
  EXPECT_EQ(got[1].arrival, 100 + 6 + 4 * 126 + 3U);
}

TEST(Routers, PipelinesWithoutTheirStagesAreRefused) {
  using namespace literals;
  FabricParameters p = row(4);
  p.router_latency = 1_cycles;
  EXPECT_THROW(RoutedMesh{p}, std::invalid_argument);
  p = row(4);
  p.interface_latency = 0_cycles;
  EXPECT_THROW(RoutedMesh{p}, std::invalid_argument);
  EXPECT_THROW(RoutedMesh{row(33)}, std::invalid_argument);
  p = row(2);
  p.input_speedup = 5;
  EXPECT_THROW(RoutedMesh{p}, std::invalid_argument) << "two virtual networks of two channels";
}

}  // namespace
}  // namespace lacuna
