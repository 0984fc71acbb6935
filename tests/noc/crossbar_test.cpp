#include "models/noc/crossbar.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <array>
#include <random>
#include <sstream>
#include <vector>

#include "models/common/config/guest_mistake.h"
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

constexpr unsigned kCount = 4;

struct CrossbarBench : sc_core::sc_module {
  explicit CrossbarBench(sc_core::sc_module_name n) : sc_module(n) {
    for (unsigned i = 0; i < 2; ++i) initiators[i].socket.bind(crossbar.sources[i]);
    for (unsigned i = 0; i < kCount; ++i) {
      memories.push_back(std::make_unique<BusMemory>(sc_core::sc_gen_unique_name("memory"), store));
      crossbar.destinations[i].bind(memories[i]->port);
      memories_behind_headers.push_back(std::make_unique<BusMemory>(sc_core::sc_gen_unique_name("memory"), store));
      with_headers.destinations[i].bind(memories_behind_headers[i]->port);
    }
    initiator_of_headers.socket.bind(with_headers.sources[0]);
    for (unsigned i = 0; i < 2; ++i) initiators_of_wide[i].socket.bind(wide.sources[i]);
    for (unsigned i = 0; i < kCount; ++i) {
      wide_memories.push_back(std::make_unique<BusMemory>(sc_core::sc_gen_unique_name("memory"), store));
      wide.destinations[i].bind(wide_memories[i]->port);
    }
  }
  BackingStore store{kSize};
  sc_core::sc_vector<test::TestInitiator> initiators{"initiator", 2};
  // A hop takes 3 cycles; flits are 16 bytes.
  Crossbar crossbar{"crossbar",
                    {.clock = 1000_MHz, .width = 16, .hop_latency = 3_cycles},
                    2,
                    AddressRoutes({{"memory", kBase, kSize, 0, kCount, 64_B}})};
  std::vector<std::unique_ptr<BusMemory>> memories;
  // Flits are 32 bytes; a packet with data begins with a header of 8 bytes.
  test::TestInitiator initiator_of_headers{"initiator_of_headers"};
  Crossbar with_headers{"with_headers",
                        {.clock = 1000_MHz, .width = 32, .header = 8, .hop_latency = 3_cycles},
                        1,
                        AddressRoutes({{"memory", kBase, kSize, 0, kCount, 64_B}})};
  std::vector<std::unique_ptr<BusMemory>> memories_behind_headers;
  // Destinations send and accept two flits per cycle.
  sc_core::sc_vector<test::TestInitiator> initiators_of_wide{"initiator_of_wide", 2};
  Crossbar wide{"wide",
                {.clock = 1000_MHz, .width = 16, .hop_latency = 3_cycles, .destination_flits = 2},
                2,
                AddressRoutes({{"memory", kBase, kSize, 0, kCount, 64_B}})};
  std::vector<std::unique_ptr<BusMemory>> wide_memories;
};
LACUNA_TEST_BENCH(CrossbarBench)

CrossbarBench& fresh() {
  auto& b = test::bench<CrossbarBench>();
  b.initiators[1].begin_epoch();
  b.initiators[0].begin_epoch();
  b.initiators[1].share_epoch(b.initiators[0]);
  b.crossbar.reset();
  for (auto& memory : b.memories) memory->requests = 0;
  return b;
}

TEST(Crossbar, UnloadedLatencyTable) {
  auto& b = fresh();
  struct Row {
    const char* what;
    Tick at;
    bool write;
    unsigned length;
    Tick network;
  };
  const Row table[] = {
      {"read of 64: 3 + 1 there, 3 + 4 back", 0_ns, false, 64, 11_ns},
      {"read of 16: one flit each way", 1000_ns, false, 16, 8_ns},
      {"read of 17: two flits back", 2000_ns, false, 17, 9_ns},
      {"read of 1", 3000_ns, false, 1, 8_ns},
      {"write of 64: 3 + 4 there, 3 + 1 back", 4000_ns, true, 64, 11_ns},
      {"write of 4", 5000_ns, true, 4, 8_ns},
  };
  for (const Row& row : table) {
    const auto c = row.write ? b.initiators[0].time_write(row.at, kBase, row.length)
                             : b.initiators[0].time_read(row.at, kBase, row.length);
    EXPECT_EQ(c.at, row.at + row.network + kMemoryTime) << row.what;
    EXPECT_EQ(c.latency.service[static_cast<std::size_t>(MemoryLevel::noc)], row.network) << row.what;
  }
}

TEST(Crossbar, AtomicsCarryDataBothWays) {
  auto& b = fresh();
  MemoryAttributes attributes;
  attributes.atomic = true;
  EXPECT_EQ(b.initiators[0].time_write(0_ns, kBase, 64, attributes).at, 14_ns + kMemoryTime);
}

TEST(Crossbar, AddressesChooseTheDestination) {
  auto& b = fresh();
  for (unsigned i = 0; i < 8; ++i) b.initiators[0].time_read(0_ns, kBase + 64 * i, 64);
  for (const auto& memory : b.memories) EXPECT_EQ(memory->requests, 2u);
}

TEST(Crossbar, TwoSourcesShareTheDestinationsPorts) {
  auto& b = fresh();
  EXPECT_EQ(b.initiators[0].time_read(0_ns, kBase, 64).at, 111_ns);
  // The request waits one cycle for the ejection port; the reply is ready at 105 ns, but its port is busy until 108 ns.
  const auto c = b.initiators[1].time_read(0_ns, kBase, 64);
  EXPECT_EQ(c.at, 115_ns);
  EXPECT_EQ(c.latency.queueing[static_cast<std::size_t>(MemoryLevel::noc)], 4_ns);
  EXPECT_EQ(c.latency.injection, 3_ns);
}

TEST(Crossbar, PacketsToDifferentDestinationsDoNotContend) {
  auto& b = fresh();
  EXPECT_EQ(b.initiators[0].time_read(0_ns, kBase, 64).at, 111_ns);
  EXPECT_EQ(b.initiators[1].time_read(0_ns, kBase + 64, 64).at, 111_ns);
}

TEST(Crossbar, OneSourceSharesItsOwnPorts) {
  auto& b = fresh();
  EXPECT_EQ(b.initiators[0].time_read(0_ns, kBase, 64).at, 111_ns);
  // The second request is injected one cycle later; its reply follows the four flits of the first reply.
  EXPECT_EQ(b.initiators[0].time_read(0_ns, kBase + 64, 64).at, 115_ns);
}

TEST(Crossbar, RequestsAndRepliesAreSeparateNetworks) {
  auto& b = fresh();
  // The write's four request flits leave from 104 ns on, while the read's reply arrives.
  EXPECT_EQ(b.initiators[0].time_read(0_ns, kBase, 64).at, 111_ns);
  EXPECT_EQ(b.initiators[0].time_write(104_ns, kBase, 64).at, 104_ns + 11_ns + kMemoryTime);
}

TEST(Crossbar, AStreamReachesTheWidthOfThePort) {
  auto& b = fresh();
  Tick last{};
  for (unsigned i = 0; i < 256; ++i) last = later(last, b.initiators[0].time_read(0_ns, kBase + 64 * (i % 64), 64).at);
  EXPECT_EQ(last, 107_ns + 4_ns * 256);
}

TEST(Crossbar, WideDestinationsServeTwoSourcesAtTheRateOfEach) {
  auto& b = fresh();
  b.wide.reset();
  b.initiators_of_wide[1].begin_epoch();
  b.initiators_of_wide[0].begin_epoch();
  b.initiators_of_wide[1].share_epoch(b.initiators_of_wide[0]);
  // An unloaded packet takes as long as without: its source has one flit per cycle.
  EXPECT_EQ(b.initiators_of_wide[0].time_read(0_ns, kBase, 64).at, 111_ns);
  EXPECT_EQ(b.initiators_of_wide[1].time_read(0_ns, kBase, 64).at, 113_ns);  // its four flits follow the other four: two cycles
  b.wide.reset();
  Tick last{};
  for (unsigned i = 0; i < 256; ++i) {
    for (auto& initiator : b.initiators_of_wide) last = later(last, initiator.time_read(0_ns, kBase, 64).at);
  }
  EXPECT_LE(last, 107_ns + 4_ns * 256 + 2_ns);
  EXPECT_GE(last, 107_ns + 4_ns * 256);
}

// Books packets in the order of the threads at the end of a window: first sender by sender, then receiver by receiver.
TEST(Crossbar, DepartureAndArrivalMayBeBookedSeparately) {
  auto& b = fresh();
  struct Packet {
    unsigned source;
    unsigned destination;
    unsigned flits;
    Tick at;
    Fabric::Traversal passed{};
    Cycles head{};
  };
  std::mt19937 random(1);
  std::vector<Packet> packets(2000);
  Tick at{};
  for (Packet& packet : packets) {
    at += Tick{random() % 1500};
    packet = {.source = static_cast<unsigned>(random() % 2),
              .destination = static_cast<unsigned>(random() % kCount),
              .flits = static_cast<unsigned>(1 + random() % 5),
              .at = at};
  }
  NodePorts* ports = b.crossbar.ports();
  ASSERT_NE(ports, nullptr);
  b.crossbar.reset();
  const FabricStatistics before = b.crossbar.statistics();
  for (Packet& packet : packets)
    packet.passed = b.crossbar.carry(VirtualNetwork::request, packet.source, packet.destination, packet.flits, packet.at);
  const FabricStatistics whole = b.crossbar.statistics();
  b.crossbar.reset();
  for (unsigned sender = 0; sender < 2; ++sender) {
    for (Packet& packet : packets) {
      if (packet.source == sender) packet.head = ports->depart(b.crossbar.source_node(sender), packet.flits, packet.at);
    }
  }
  Tick waited{};
  FabricTally tally;
  tally.destinations.resize(kCount);
  for (unsigned receiver = 0; receiver < kCount; ++receiver) {
    for (const Packet& packet : packets) {
      if (packet.destination != receiver) continue;
      const NodePorts::Arrival passed =
          ports->arrive(b.crossbar.destination_node(receiver), packet.flits, packet.at, packet.head);
      EXPECT_EQ(passed.at, packet.passed.arrival);
      EXPECT_EQ(passed.waiting, packet.passed.waiting);
      b.crossbar.count_passed(packet.source, packet.destination,
                              {.packets = 2, .flits = packet.flits, .queueing = passed.waiting}, passed.at - packet.at, tally);
      waited += passed.waiting;
    }
  }
  EXPECT_GT(waited, 0_ns);
  b.crossbar.count(tally);
  EXPECT_EQ(tally.latency, 0_ns);
  const FabricStatistics& halves = b.crossbar.statistics();
  // Each transaction counts as two packets.
  EXPECT_EQ(halves.packets - whole.packets, 2 * (whole.packets - before.packets));
  EXPECT_EQ(halves.hops - whole.hops, 2 * (whole.hops - before.hops));
  EXPECT_EQ(halves.flits - whole.flits, whole.flits - before.flits);
  EXPECT_EQ(halves.weighted_hops - whole.weighted_hops, whole.weighted_hops - before.weighted_hops);
  EXPECT_EQ(halves.queueing - whole.queueing, whole.queueing - before.queueing);
  EXPECT_EQ(halves.latency - whole.latency, whole.latency - before.latency);
  for (unsigned i = 0; i < 2; ++i) {
    EXPECT_EQ(halves.sources[i].queueing - whole.sources[i].queueing, whole.sources[i].queueing - before.sources[i].queueing);
  }
  for (unsigned i = 0; i < kCount; ++i) {
    EXPECT_EQ(halves.destinations[i].flits - whole.destinations[i].flits,
              whole.destinations[i].flits - before.destinations[i].flits);
  }
}

TEST(Crossbar, TransactionsAcrossDestinationsAreSplit) {
  auto& b = fresh();
  std::array<std::byte, 200> out{};
  for (unsigned i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(i);
  EXPECT_TRUE(b.initiators[0].write(0_ns, kBase + 30, out).ok());
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(b.memories[i]->requests, 1u);
  std::array<std::byte, 200> in{};
  EXPECT_TRUE(b.initiators[1].read(0_ns, kBase + 30, in).ok());
  EXPECT_EQ(in, out);
  in = {};
  EXPECT_EQ(b.initiators[1].debug_read(kBase + 30, in), in.size());
  EXPECT_EQ(in, out);
}

TEST(Crossbar, DmiIsCutToTheDestinationsChunk) {
  auto& b = fresh();
  const auto region = b.initiators[0].dmi(kBase + 70);
  ASSERT_TRUE(region);
  EXPECT_EQ(region->get_start_address(), kBase + 64);
  EXPECT_EQ(region->get_end_address(), kBase + 127);
  EXPECT_EQ(region->get_dmi_ptr(), reinterpret_cast<unsigned char*>(b.store.data() + 64));
}

TEST(Crossbar, InvalidationsReachEverySource) {
  auto& b = fresh();
  b.memories[2]->port->invalidate_direct_mem_ptr(kBase, kBase + 63);
  EXPECT_EQ(b.initiators[0].invalidations().size(), 1u);
  EXPECT_EQ(b.initiators[1].invalidations().size(), 1u);
  b.initiators[0].clear_invalidations();
}

TEST(Crossbar, PacketsWithDataCarryAHeader) {
  const Crossbar& fabric = test::bench<CrossbarBench>().with_headers;
  for (const auto& [length, flits] :
       std::vector<std::pair<unsigned, unsigned>>{{1, 1}, {24, 1}, {25, 2}, {32, 2}, {56, 2}, {57, 3}, {64, 3}, {128, 5}}) {
    EXPECT_EQ(fabric.reply_flits(length, false, false), flits) << length;
    EXPECT_EQ(fabric.request_flits(length, true, false), flits) << length;
    EXPECT_EQ(fabric.request_flits(length, true, true), flits) << length;
    EXPECT_EQ(fabric.reply_flits(length, true, true), flits) << length;
    EXPECT_EQ(fabric.request_flits(length, false, false), 1U) << "a read's request is a header alone";
    EXPECT_EQ(fabric.reply_flits(length, true, false), 1U) << "and so is a write's reply";
  }
}

TEST(Crossbar, StepsOfATransportEqualTheTransport) {
  struct Row {
    bool write;
    bool atomic;
    unsigned length;
  };
  for (const Row& row : {Row{false, false, 64}, {true, false, 64}, {true, true, 64}, {false, false, 17}, {true, false, 1}}) {
    auto& b = fresh();
    MemoryAttributes attributes;
    attributes.atomic = row.atomic;
    const auto transport = row.write ? b.initiators[1].time_write(0_ns, kBase + 64, row.length, attributes)
                                     : b.initiators[1].time_read(0_ns, kBase + 64, row.length, attributes);
    const FabricStatistics before = b.crossbar.statistics();
    const Tick begin = b.initiators[1].epoch();
    b.crossbar.reset();
    b.crossbar.advance(begin);
    AddressRoutes::Hop hop{};
    ASSERT_TRUE(b.crossbar.route(kBase + 64, hop));
    const Fabric::Traversal there = b.crossbar.carry(VirtualNetwork::request, 1, hop.destination,
                                                     b.crossbar.request_flits(row.length, row.write, row.atomic), begin);
    const Tick served = there.arrival + kMemoryTime;
    const Fabric::Traversal back = b.crossbar.carry(VirtualNetwork::reply, 1, hop.destination,
                                                    b.crossbar.reply_flits(row.length, row.write, row.atomic), served);
    EXPECT_EQ(back.arrival - begin, transport.at);
    const Tick passing = there.arrival - begin + (back.arrival - served) - there.waiting - back.waiting;
    EXPECT_EQ(passing, transport.latency.service[static_cast<std::size_t>(MemoryLevel::noc)]);
    EXPECT_EQ(b.crossbar.statistics().packets, before.packets + 2);
  }
  AddressRoutes::Hop hop{};
  EXPECT_FALSE(fresh().crossbar.route(0, hop));
}

TEST(Crossbar, UnroutedAccessesAreLoggedWithTheNearestRange) {
  auto& b = fresh();
  clear_guest_mistakes();
  std::ostringstream text;
  const auto previous = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
  EXPECT_EQ(b.initiators[1].time_read(0_ns, 0x9000, 4).response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  spdlog::set_default_logger(previous);
  EXPECT_NE(text.str().find("read of 4 bytes at 0x9000 by source 1 is not routed (nearest range: memory at 0x10000..0x10fff)"),
            std::string::npos)
      << text.str();
}

TEST(Crossbar, StatisticsPerPort) {
  auto& b = fresh();
  const FabricStatistics before = b.crossbar.statistics();
  b.initiators[1].time_read(0_ns, kBase + 64, 64);
  b.initiators[1].time_write(0_ns, kBase + 64, 32);
  const FabricStatistics& after = b.crossbar.statistics();
  EXPECT_EQ(after.packets - before.packets, 4u);
  EXPECT_EQ(after.flits - before.flits, 1u + 4 + 2 + 1);
  EXPECT_EQ(after.sources[1].flits - before.sources[1].flits, 8u);
  EXPECT_EQ(after.sources[0].flits, before.sources[0].flits);
  EXPECT_EQ(after.destinations[1].packets - before.destinations[1].packets, 4u);
}

}  // namespace

test::ContractTarget test::contract_target() {
  auto& b = bench<CrossbarBench>();
  return {.initiator = b.initiators[0], .address = kBase + 0x40, .length = 64, .end = kBase + kSize.n, .reset = [&b] {
            b.crossbar.reset();
          }};
}

}  // namespace lacuna
