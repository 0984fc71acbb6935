// Tests a stepped network as part of a device: launched packets, whose arrivals are returned later, and synchronous calls.
#include "models/noc/stepped_network.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "tests/harness/harness.h"
#include "tests/harness/tlm_contract.h"
#include "tests/noc/bus_memory.h"

namespace lacuna {
namespace {

using namespace literals;
using test::BusMemory;
using test::kBase;
using test::kMemoryTime;
using test::kSize;

/// 4 x 4 mesh: memories at the corners (0,0) and (3,3), two initiators at the first free nodes, (1,0) and (2,0).
struct SteppedBench : sc_core::sc_module {
  explicit SteppedBench(sc_core::sc_module_name n) : sc_module(n) {
    for (unsigned i = 0; i < 2; ++i) {
      initiators[i].socket.bind(network.sources[i]);
      memories.push_back(std::make_unique<BusMemory>(sc_core::sc_gen_unique_name("memory"), store));
      network.destinations[i].bind(memories.back()->port);
    }
  }
  BackingStore store{kSize};
  sc_core::sc_vector<test::TestInitiator> initiators{"initiator", 2};
  FabricParameters parameters{.clock = 1000_MHz,
                              .width = 16,
                              .topology = FabricTopology::mesh,
                              .columns = 4,
                              .rows = 4,
                              .placement = "0,0 3,3",
                              .routers = RouterModel::stepped};
  SteppedNetwork network{"network", parameters, 2, AddressRoutes({{"memory", kBase, kSize, 0, 2, 64_B}})};
  void launch(VirtualNetwork virtual_network, unsigned source, unsigned destination, unsigned flits, Tick at,
              std::uint32_t tag) {
    network.launch(network.ends(virtual_network, source, destination), virtual_network, flits, at, tag);
  }
  std::vector<std::unique_ptr<BusMemory>> memories;
};
LACUNA_TEST_BENCH(SteppedBench)

SteppedBench& fresh() {
  auto& b = test::bench<SteppedBench>();
  b.initiators[1].begin_epoch();
  b.initiators[0].begin_epoch();
  b.initiators[1].share_epoch(b.initiators[0]);
  b.network.reset();
  return b;
}

using Arrivals = std::vector<SteppedNetwork::Arrival>;

TEST(SteppedNetwork, CountsRepliesApart) {
  auto& b = fresh();
  const auto carried = [&b] {
    OutputFlits sum;
    for (unsigned i = 0; i < b.network.topology().outputs(); ++i) {
      sum.all += b.network.output(i).all;
      sum.replies += b.network.output(i).replies;
    }
    return sum;
  };
  const OutputFlits before = carried();
  // Each packet passes five links and the ejection port.
  b.launch(VirtualNetwork::request, 0, 1, 1, 10_ns, 1);
  b.launch(VirtualNetwork::reply, 0, 1, 4, 10_ns, 2);
  Arrivals arrived;
  b.network.advance_to(200_ns, arrived);
  ASSERT_EQ(arrived.size(), 2U);
  EXPECT_EQ(carried().all - before.all, 6U * (1 + 4));
  EXPECT_EQ(carried().replies - before.replies, 6U * 4);
}

TEST(SteppedNetwork, ReportsAPacketThatHasLeftItsLastSwitch) {
  auto& b = fresh();
  // Initiator 0 is 5 links from memory 1: 6 + 4 x 5 + 3 cycles for 4 flits.
  b.launch(VirtualNetwork::request, 0, 1, 4, 10_ns, 7);
  EXPECT_EQ(b.network.next(), 10_ns);
  Arrivals arrived;
  b.network.advance_to(35_ns, arrived);
  EXPECT_TRUE(arrived.empty());
  b.network.advance_to(36_ns, arrived);
  ASSERT_EQ(arrived.size(), 1U);
  EXPECT_EQ(arrived[0].tag, 7U);
  EXPECT_EQ(arrived[0].traversal.arrival, 39_ns);
  EXPECT_EQ(arrived[0].traversal.waiting, 0_ns);
  EXPECT_EQ(arrived[0].traversal.links, 5U);
  EXPECT_EQ(b.network.next(), kNever);
  const FabricStatistics before = b.network.statistics();
  b.network.count_arrival(arrived[0], b.network.ends(VirtualNetwork::request, 0, 1), VirtualNetwork::request, 4);
  const FabricStatistics& after = b.network.statistics();
  EXPECT_EQ(after.packets - before.packets, 1U);
  EXPECT_EQ(after.latency - before.latency, 29_ns);
  EXPECT_EQ(after.weighted_hops - before.weighted_hops, 20U);
  EXPECT_EQ(after.sources[0].flits - before.sources[0].flits, 4U);
}

TEST(SteppedNetwork, NothingArrivesWithinTheLookahead) {
  auto& b = fresh();
  const Tick lookahead = SteppedNetwork::lookahead(b.parameters);
  EXPECT_EQ(lookahead, 4_ns);
  std::mt19937 random(1);
  std::size_t told = 0;
  Tick last{};
  Tick end{};
  for (unsigned window = 0; told < 2000; ++window) {
    if (window < 500) {
      for (unsigned i = 0; i < 4; ++i) {
        const auto network = random() % 2 == 0 ? VirtualNetwork::request : VirtualNetwork::reply;
        b.launch(network, random() % 2, random() % 2, 1 + random() % 4, end + Tick{random() % 4000}, i);
      }
    }
    Arrivals arrived;
    b.network.advance_to(end + lookahead, arrived);
    for (const auto& arrival : arrived) {
      EXPECT_GE(arrival.traversal.arrival, end + lookahead) << window;
      EXPECT_GE(arrival.traversal.arrival, last);
      last = arrival.traversal.arrival;
    }
    told += arrived.size();
    end += lookahead;
    ASSERT_LT(window, 10'000U);
  }
  EXPECT_EQ(told, 2000U);
  EXPECT_EQ(b.network.next(), kNever);
}

TEST(SteppedNetwork, SynchronousCallersSeeAnIdleNetwork) {
  auto& b = fresh();
  EXPECT_EQ(b.initiators[0].time_read(0_ns, kBase, 64).at, 23_ns + kMemoryTime);
  EXPECT_EQ(b.initiators[0].time_read(1000_ns, kBase + 64, 64).at, 1055_ns + kMemoryTime);
  // Two writes of 4 flits leave one node: the second follows the first.
  EXPECT_EQ(b.initiators[0].time_write(2000_ns, kBase, 64).at, 2123_ns);
  const auto second = b.initiators[0].time_write(2000_ns, kBase + 64, 64);
  EXPECT_EQ(second.at, 2155_ns + 4_ns);
  EXPECT_EQ(second.latency.queueing[static_cast<std::size_t>(MemoryLevel::noc)], 4_ns);
}

TEST(SteppedNetwork, SynchronousPacketsDelayOthers) {
  const auto waiting = [](unsigned callers) {
    auto& b = fresh();
    for (unsigned i = 0; i < callers; ++i) b.network.send(1, 3, VirtualNetwork::request, 4, 0_ns);
    b.launch(VirtualNetwork::request, 0, 1, 4, 1_ns, 0);  // also from node 1
    Arrivals arrived;
    b.network.advance_to(500_ns, arrived);
    EXPECT_EQ(arrived.size(), 1U) << "callers have been answered";
    return arrived.at(0).traversal.waiting;
  };
  EXPECT_EQ(waiting(0), 0_ns);
  EXPECT_GE(waiting(10), 39_ns);
}

TEST(SteppedNetwork, ResetDropsPacketsInFlight) {
  auto& b = fresh();
  b.launch(VirtualNetwork::request, 0, 1, 4, 10_ns, 7);
  Arrivals arrived;
  b.network.advance_to(20_ns, arrived);
  b.network.reset();
  EXPECT_EQ(b.network.next(), kNever);
  b.network.advance_to(200_ns, arrived);
  EXPECT_TRUE(arrived.empty());
}

}  // namespace

test::ContractTarget test::contract_target() {
  auto& b = bench<SteppedBench>();
  return {.initiator = b.initiators[0], .address = kBase + 0x40, .length = 64, .end = kBase + kSize.n, .reset = [&b] {
            b.network.reset();
          }};
}

}  // namespace lacuna
