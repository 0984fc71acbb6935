#include "models/noc/booked_network.h"

#include <gtest/gtest.h>

#include <memory>

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

constexpr unsigned kMemories = 2;

AddressRoutes routes(unsigned destinations) { return AddressRoutes({{"memory", kBase, kSize, 0, destinations, 64_B}}); }

/// 4 x 4 mesh: memories at the corners (0,0) and (3,3), two initiators at the first free nodes, (1,0) and (2,0).
struct NetworkBench : sc_core::sc_module {
  explicit NetworkBench(sc_core::sc_module_name n) : sc_module(n) {
    for (unsigned i = 0; i < 2; ++i) initiators[i].socket.bind(network.sources[i]);
    for (unsigned i = 0; i < kMemories; ++i) {
      memories.push_back(std::make_unique<BusMemory>(sc_core::sc_gen_unique_name("memory"), store));
      network.destinations[i].bind(memories[i]->port);
    }
  }
  BackingStore store{kSize};
  sc_core::sc_vector<test::TestInitiator> initiators{"initiator", 2};
  BookedNetwork network{"network",
                        {.clock = 1000_MHz,
                         .width = 16,
                         .topology = FabricTopology::mesh,
                         .columns = 4,
                         .rows = 4,
                         .placement = "0,0 3,3",
                         .injection_queue = 2},
                        2,
                        routes(kMemories)};
  std::vector<std::unique_ptr<BusMemory>> memories;
};
LACUNA_TEST_BENCH(NetworkBench)

NetworkBench& fresh() {
  auto& b = test::bench<NetworkBench>();
  b.initiators[1].begin_epoch();
  b.initiators[0].begin_epoch();
  b.initiators[1].share_epoch(b.initiators[0]);
  b.network.reset();
  return b;
}

TEST(Network, UnloadedLatencyTable) {
  auto& b = fresh();
  struct Row {
    const char* what;
    Tick at;
    std::uint64_t address;
    bool write;
    unsigned length;
    Tick network;
  };
  // A packet of F flits over D links takes 6 + 4 D + F - 1 cycles. Initiator 0 is 1 link from memory 0 and 5 from memory 1.
  const Row table[] = {
      {"1 link, read of 16: 10 there, 10 back", 0_ns, kBase, false, 16, 20_ns},
      {"1 link, read of 64: 10 there, 13 back", 1000_ns, kBase, false, 64, 23_ns},
      {"1 link, write of 64", 2000_ns, kBase, true, 64, 23_ns},
      {"5 links, read of 16", 3000_ns, kBase + 64, false, 16, 52_ns},
      {"5 links, read of 64", 4000_ns, kBase + 64, false, 64, 55_ns},
  };
  for (const Row& row : table) {
    const auto c = row.write ? b.initiators[0].time_write(row.at, row.address, row.length)
                             : b.initiators[0].time_read(row.at, row.address, row.length);
    EXPECT_EQ(c.at, row.at + row.network + kMemoryTime) << row.what;
    EXPECT_EQ(c.latency.service[static_cast<std::size_t>(MemoryLevel::noc)], row.network) << row.what;
  }
}

TEST(Network, PacketsOfOneNodeShareItsInjectionPort) {
  auto& b = fresh();
  // Writes of 4 flits to both memories leave by different links but through one input: the second follows the first.
  EXPECT_EQ(b.initiators[0].time_write(0_ns, kBase, 64).at, 123_ns);
  const auto second = b.initiators[0].time_write(0_ns, kBase + 64, 64);
  EXPECT_EQ(second.at, 155_ns + 4_ns);
  EXPECT_EQ(second.latency.queueing[static_cast<std::size_t>(MemoryLevel::noc)], 4_ns);
}

TEST(Network, ReadsOfOneMemoryShareItsReplyLink) {
  auto& b = fresh();
  EXPECT_EQ(b.initiators[0].time_read(0_ns, kBase, 64).at, 123_ns);
  // One more link in each direction: 23 + 2 x 4 cycles unloaded. The reply enters the memory's port 4 cycles after the first
  // reply, when all flits of the first reply have left.
  EXPECT_EQ(b.initiators[1].time_read(0_ns, kBase, 64).at, 131_ns);
  // The second reply is ready at the memory's port at 114 ns, when the first reply occupies the port for 4 cycles.
  fresh();
  EXPECT_EQ(b.initiators[1].time_read(0_ns, kBase, 64).at, 131_ns);
  EXPECT_EQ(b.initiators[0].time_read(4_ns, kBase, 64).at, 127_ns + 4_ns);
}

TEST(Network, TheInjectionQueueIsFinite) {
  auto& b = fresh();
  // The queue holds two packets of 4 flits; the third enters at 4 ns, when the first has left, and follows the second at 8 ns.
  EXPECT_EQ(b.initiators[0].time_write(0_ns, kBase + 64, 64).at, 155_ns);
  EXPECT_EQ(b.initiators[0].time_write(0_ns, kBase + 64, 64).at, 159_ns);
  const auto third = b.initiators[0].time_write(0_ns, kBase + 64, 64);
  EXPECT_EQ(third.at, 163_ns);
  EXPECT_EQ(third.latency.queueing[static_cast<std::size_t>(MemoryLevel::noc)], 8_ns);
}

TEST(Network, AStreamReachesTheWidthOfTheLink) {
  auto& b = fresh();
  Tick last{};
  for (unsigned i = 0; i < 256; ++i) last = later(last, b.initiators[0].time_read(0_ns, kBase + 128 * (i % 16), 64).at);
  EXPECT_EQ(last, 119_ns + 4_ns * 256);
}

TEST(Network, CountsHopsAndLinks) {
  auto& b = fresh();
  const FabricStatistics before = b.network.statistics();
  const auto output = [&b](const char* name) {
    for (unsigned i = 0; i < b.network.topology().outputs(); ++i) {
      if (b.network.topology().output_name(i) == name) return b.network.output_flits(i);
    }
    ADD_FAILURE() << name;
    return std::uint64_t{0};
  };
  const auto carried = [&b] {
    OutputFlits sum;
    for (unsigned i = 0; i < b.network.topology().outputs(); ++i) {
      sum.all += b.network.output(i).all;
      sum.replies += b.network.output(i).replies;
    }
    return sum;
  };
  const OutputFlits flits = carried();
  const std::uint64_t east = output("x1y0_east");
  const std::uint64_t west = output("x1y0_west");
  b.initiators[0].time_read(0_ns, kBase + 64, 64);
  const FabricStatistics& after = b.network.statistics();
  EXPECT_EQ(after.hops - before.hops, 10U);
  EXPECT_EQ(after.weighted_hops - before.weighted_hops, 5U + 20U);
  EXPECT_EQ(output("x1y0_east") - east, 1U);  // the request; the reply also routes x first, along row 3
  EXPECT_EQ(output("x1y0_west") - west, 0U);
  // Flits on the five links (request 1, reply 4 flits) and at the two ejection ports.
  EXPECT_EQ(carried().all - flits.all, 5U + 20U + 1U + 4U);
  EXPECT_EQ(carried().replies - flits.replies, 20U + 4U);
}

TEST(Network, PlacesNodes) {
  const auto& network = test::bench<NetworkBench>().network;
  EXPECT_EQ(network.destination_node(0), 0U);
  EXPECT_EQ(network.destination_node(1), 15U);
  EXPECT_EQ(network.source_node(0), 1U);
  EXPECT_EQ(network.source_node(1), 2U);
}

}  // namespace

test::ContractTarget test::contract_target() {
  auto& b = bench<NetworkBench>();
  return {.initiator = b.initiators[0], .address = kBase + 0x40, .length = 64, .end = kBase + kSize.n, .reset = [&b] {
            b.network.reset();
          }};
}

}  // namespace lacuna
