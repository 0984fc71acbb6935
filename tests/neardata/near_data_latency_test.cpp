// Compares the latency of a chain of each pattern on an idle machine with the sum of its stages
// (models/neardata/service_queue.h, offload_unit.h). The chain is computed at a last-level cache, with the lines in that cache
// or in DRAM, at another cache's node, or at a core, over one link or many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/neardata/timed_chains.h"

namespace lacuna::test {
namespace {

constexpr std::uint64_t kVram = NearDataGpu::kBase;
constexpr std::uint64_t kData = NearDataGpu::kData;

/// A mesh of 8 x 8 nodes at 1 GHz, where all clocks have the same edges. The caches are 1, 3, 6 and 13 links away from core 0
/// at (0,0).
GpuDeviceParameters latency_machine() {
  GpuDeviceParameters p = small_machine();
  p.gpu.shader_arrays = 24;
  p.noc.topology = FabricTopology::mesh;
  p.noc.columns = p.noc.rows = 8;
  p.noc.placement = "1,0 3,0 5,1 7,6 7,7";  // nodes of the caches and of host memory
  ndc_of(p).mode = NearDataMode::omni;
  return p;
}

GpuDeviceParameters with_alus(unsigned lanes) {
  GpuDeviceParameters p = latency_machine();
  ndc_of(p).llc_alu_lanes = ndc_of(p).core_alu_lanes = lanes;
  ndc_of(p).core_alu = CoreAlu::dedicated;
  return p;
}

GpuDeviceParameters stepped_machine() {
  GpuDeviceParameters p = latency_machine();
  p.noc.routers = RouterModel::stepped;
  return p;
}
GpuDeviceParameters crossbar_machine() {
  GpuDeviceParameters p = latency_machine();
  p.noc.topology = GpuDeviceParameters().noc.topology;
  p.noc.placement.clear();
  return p;
}
GpuDeviceParameters acknowledging_early() {
  GpuDeviceParameters p = latency_machine();
  ndc_of(p).chain_end = ChainEnd::computation;
  return p;
}
/// A machine whose service queues have one entry.
GpuDeviceParameters refusing_machine() {
  GpuDeviceParameters p = latency_machine();
  ndc_of(p).sq_entries = 1;
  return p;
}

/// A machine whose last-level caches have one way, so that lines at a distance of 256 KiB evict each other.
GpuDeviceParameters evicting_machine() {
  GpuDeviceParameters p = latency_machine();
  p.l2.size = Bytes{64 * 1024};
  p.l2.ways = 1;
  return p;
}

struct LatencyBench : sc_core::sc_module {
  explicit LatencyBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  NearDataGpu gpu{"gpu", latency_machine()};
  NearDataGpu lanes_4{"lanes_4", with_alus(4)}, lanes_8{"lanes_8", with_alus(8)}, lanes_16{"lanes_16", with_alus(16)},
      lanes_32{"lanes_32", with_alus(32)};
  NearDataGpu stepped{"stepped", stepped_machine()}, crossbar{"crossbar", crossbar_machine()},
      early{"early", acknowledging_early()}, refusing{"refusing", refusing_machine()}, evicting{"evicting", evicting_machine()};
};

LACUNA_TEST_BENCH(LatencyBench)

struct Place {
  unsigned core;
  unsigned a, b, c;  ///< caches of the operands and of the store
};
struct Latency {
  std::uint64_t cold;  ///< latency if the lines are in DRAM
  std::uint64_t warm;  ///< latency if the lines are in the last-level caches
};

class NearDataLatency : public testing::Test {
 protected:
  explicit NearDataLatency(NearDataGpu& gpu = bench<LatencyBench>().gpu) : gpu_(gpu) {}

  NearDataGpu& gpu_;
  const GpuDeviceParameters& p_ = gpu_.device.parameters();
  const NearDataNetwork& network_ = gpu_.near_data()->network();
  const NearDataParameters& ndc_ = network_.parameters;

  unsigned cache_node(unsigned cache) const { return network_.meeting->caches()[cache]; }
  unsigned core_node(unsigned core) const { return network_.fabric->source_node(core); }
  unsigned links(unsigned from, unsigned to) const {
    return static_cast<unsigned>(network_.fabric->path_nodes(from, to).size()) - 1;
  }
  /// Cycles of a packet in an idle network (models/noc/network.h).
  std::uint64_t packet(unsigned from, unsigned to, unsigned flits) const {
    // In a crossbar, the first flit takes hop_latency cycles, and the others follow it.
    if (!p_.noc.topology->has_routers()) return p_.noc.hop_latency.n + flits;
    const unsigned links_passed = links(from, to);
    return p_.noc.interface_latency.n + (links_passed + 1) * p_.noc.router_latency.n + links_passed * p_.noc.link_latency.n +
           flits - 1;
  }

  /// Runs a pattern's kernel twice, on 32 lanes; the lines are in DRAM in the first run and cached in the second.
  Latency measure(const AssembledKernel& kernel, const Place& place) {
    gpu_.start();
    Latency latency{};
    const std::string unit = "cu" + std::to_string(place.core) + ".ndc.";
    for (std::uint64_t* const result : {&latency.cold, &latency.warm}) {
      gpu_.mark();
      const std::vector<std::uint64_t> arguments{kVram + kData + 128 * place.a, kVram + kData + 0x40000 + 128 * place.b,
                                                 kVram + kData + 0x80000 + 128 * place.c, place.core};
      gpu_.run(kernel, arguments, static_cast<unsigned>(network_.cores.size()), 32, lds_bytes_);
      const Counts counts = gpu_.growth();
      EXPECT_EQ(counts.at(unit + "packets"), 1U);
      EXPECT_EQ(counts.at(unit + "bounced"), 0U);
      std::uint64_t evicted = 0;
      for (unsigned cache = 0; cache < 4; ++cache)
        evicted += counts.at("service_queue_l2_" + std::to_string(cache) + ".evicted");
      EXPECT_EQ(evicted, evicted_);
      *result = counts.at(unit + "latency");
      parts_.clear();
      std::uint64_t sum = 0;
      for (const char* const part : {"build", "injection", "links", "network", "caches", "queue", "alu", "core"})
        sum += parts_[part] = counts.at(unit + "latency_" + part);
      EXPECT_EQ(sum, *result);
      EXPECT_EQ(counts.at(unit + "offloaded"), 1U);
      gpu_.expect_no_chains();
    }
    return latency;
  }

  /// LDS of a workgroup.
  unsigned lds_bytes_ = 0;
  /// Number of lines that are evicted in each run between their arrival and their fetch.
  std::uint64_t evicted_ = 0;
  /// Time of the packet by component, in the last measurement.
  std::map<std::string, std::uint64_t> parts_;

  /// Expected latency, the sum of the stages; nullopt if the operands' packets contend or no node computes. `access`: cycles
  /// from a load's arrival at its cache to its response.
  std::optional<std::uint64_t> expected(const Pattern& pattern, const Place& place, std::uint64_t access) const {
    const unsigned second = pattern.loads == 2 ? place.b : place.a;
    const unsigned store = pattern.number == 4 ? place.b : place.c;
    const bool store_counts = pattern.loads == 1 && pattern.stores;
    const unsigned node = network_.meeting->find(place.core, place.a, store_counts ? store : second);
    if (node == EmnTable::kNone || network_.queues[node] == nullptr) return std::nullopt;
    const unsigned core = core_node(place.core);
    const unsigned data = 5;
    // Instructions issue every four cycles; the packet leaves in the cycle after the last instruction has issued.
    std::uint64_t time = 4 * (pattern.lines.size() - 1) + 1;
    time += packet(core, node, 1) + 1;
    // Each port accepts one request per cycle.
    std::uint64_t ready = 0;
    std::vector<std::uint64_t> arrivals;
    std::uint64_t remote = 0;
    std::uint64_t local = 0;
    for (unsigned i = 0; i < pattern.loads; ++i) {
      const unsigned from = cache_node(i == 0 ? place.a : place.b);
      if (from == node) {
        ready = std::max(ready, local++ + access);
      } else {
        arrivals.push_back(remote++ + packet(node, from, 1) + access + packet(from, node, data));
        ready = std::max(ready, arrivals.back());
      }
    }
    if (arrivals.size() == 2 && std::max(arrivals[0], arrivals[1]) - std::min(arrivals[0], arrivals[1]) < 2 * data)
      return std::nullopt;
    time += ready;
    // At a core, the later line is written to the LDS, then the operands' lines are read, one in each cycle.
    time += network_.queues[node]->is_at_cache() ? ndc_.fetch_latency.n : 1 + pattern.loads;
    time += computation(pattern.operations, network_.queues[node]->is_at_cache());
    if (pattern.stores && ndc_.chain_end == ChainEnd::store) {
      if (cache_node(store) != node) time += packet(node, cache_node(store), data) + packet(cache_node(store), node, 1);
      time += p_.l2.write_latency.n;
    }
    const bool returns_data = !pattern.stores && !pattern.compares;
    time += packet(node, core, returns_data ? data : 1);
    if (returns_data) time += p_.cu.vmem_return_latency.n;
    return time;
  }
  /// Cycles of the computation of 32 lanes.
  std::uint64_t computation(unsigned operations, bool at_cache) const {
    if (operations == 0) return 0;
    const bool shared = !at_cache && ndc_.core_alu == CoreAlu::shared;
    const unsigned width = at_cache ? ndc_.llc_alu_lanes : shared ? p_.cu.lanes_per_simd * p_.cu.simds : ndc_.core_alu_lanes;
    const std::uint64_t taken = width >= 32 ? 1 : 32 / width;
    return ndc_.alu_latency.n + taken - 1 + (operations - 1) * std::max(ndc_.alu_latency.n, taken);
  }
  /// Finds a core and two caches whose data meet at another core, for a pattern with two loads whose expected time is known.
  Place place_at_a_core(const Pattern& pattern) const {
    for (unsigned core = 0; core < network_.cores.size(); ++core) {
      for (unsigned pair = 0; pair < 16; ++pair) {
        const Place place{core, pair / 4, pair % 4, pair % 4};
        const unsigned node = network_.meeting->find(core, place.a, place.b);
        if (node != EmnTable::kNone && !network_.queues[node]->is_at_cache() && expected(pattern, place, hit())) return place;
      }
    }
    ADD_FAILURE() << "no such place";
    return {};
  }
  std::uint64_t hit() const { return p_.l2.hit_latency.n; }
  /// Latency of a DRAM access to a bank whose row is closed.
  std::uint64_t miss() const {
    return (p_.l2.tag_latency + p_.dram.frontend_latency + p_.dram.tRCDRD + p_.dram.tCL + p_.dram.burst + p_.l2.fill_latency).n;
  }
};

TEST_F(NearDataLatency, AllLinesInOneCache) {
  for (const Pattern& pattern : patterns()) {
    const AssembledKernel kernel = kernel_of(pattern, p_.l1i.line.n);
    for (unsigned cache = 0; cache < 4; ++cache) {
      SCOPED_TRACE(testing::Message() << "pattern " << pattern.number << " at cache " << cache);
      const Place place{0, cache, cache, cache};
      const Latency measured = measure(kernel, place);
      EXPECT_EQ(measured.warm, expected(pattern, place, hit()));
      // Checks the components of the time: no component includes waiting, and a cache needs one more cycle for two operands.
      EXPECT_EQ(parts_["build"], 4 * (pattern.lines.size() - 1) + 1);
      EXPECT_EQ(parts_["alu"], computation(pattern.operations, true));
      EXPECT_EQ(parts_["queue"], 1 + ndc_.fetch_latency.n);
      EXPECT_EQ(parts_["caches"], hit() + pattern.loads - 1 + (pattern.stores ? p_.l2.write_latency.n : 0));
      EXPECT_EQ(parts_["injection"] + parts_["links"], 0U);
      EXPECT_EQ(parts_["core"], pattern.stores || pattern.compares ? 0 : p_.cu.vmem_return_latency.n);
      // Two lines in DRAM would contend for the channel.
      if (pattern.loads == 2) continue;
      EXPECT_EQ(measured.cold, expected(pattern, place, miss()));
    }
  }
}

TEST_F(NearDataLatency, TheStoreGoesToAnotherCache) {
  unsigned compared = 0;
  for (const Pattern& pattern : patterns()) {
    if (!pattern.stores || pattern.number == 4) continue;
    const AssembledKernel kernel = kernel_of(pattern, p_.l1i.line.n);
    for (const Place place : {Place{0, 2, 2, 1}, Place{0, 0, 0, 3}, Place{5, 1, 1, 3}, Place{9, 0, 0, 2}, Place{13, 3, 3, 2}}) {
      SCOPED_TRACE(testing::Message() << "pattern " << pattern.number << " on core " << place.core);
      const auto time = expected(pattern, place, hit());
      if (!time) continue;
      ++compared;
      EXPECT_EQ(measure(kernel, place).warm, *time);
    }
  }
  EXPECT_GT(compared, 15U);
}

// The operands meet at the node of a cache or of a core.
TEST_F(NearDataLatency, LinesOfTwoCachesMeetAtACore) {
  unsigned at_cores = 0;
  unsigned at_caches = 0;
  for (const Pattern& pattern : patterns()) {
    if (pattern.loads != 2 || pattern.number == 4) continue;
    const AssembledKernel kernel = kernel_of(pattern, p_.l1i.line.n);
    for (unsigned core = pattern.number % 5; core < 24; core += 5) {
      for (unsigned a = 0; a < 4; ++a) {
        for (unsigned b = 0; b < 4; ++b) {
          const Place place{core, a, b, (a + b) % 4};
          if (a == b) continue;
          const unsigned node = network_.meeting->find(core, a, b);
          const auto time = expected(pattern, place, hit());
          if (!time) continue;
          SCOPED_TRACE(testing::Message() << "pattern " << pattern.number << " on core " << core << ", caches " << a << " and "
                                          << b << ", node " << node);
          ++(network_.queues[node]->is_at_cache() ? at_caches : at_cores);
          ASSERT_EQ(measure(kernel, place).warm, *time);
        }
      }
    }
  }
  EXPECT_GT(at_cores, 20U);
  EXPECT_GT(at_caches, 20U);
}

// -- other machines

class NearDataStepped : public NearDataLatency {
 protected:
  NearDataStepped() : NearDataLatency(bench<LatencyBench>().stepped) {}
};
class NearDataOnCrossbar : public NearDataLatency {
 protected:
  NearDataOnCrossbar() : NearDataLatency(bench<LatencyBench>().crossbar) {}
};
class NearDataEarlyAck : public NearDataLatency {
 protected:
  NearDataEarlyAck() : NearDataLatency(bench<LatencyBench>().early) {}
};
class NearDataRefusing : public NearDataLatency {
 protected:
  NearDataRefusing() : NearDataLatency(bench<LatencyBench>().refusing) {}
};

// Stepped routers take the same cycles as booked routers if no packets contend.
TEST_F(NearDataStepped, SteppedRoutersTakeTheCyclesOfBookedOnes) {
  for (const Pattern& pattern : patterns()) {
    const AssembledKernel kernel = kernel_of(pattern, p_.l1i.line.n);
    std::vector<Place> places{{0, 2, 2, 2}, {7, 0, 0, 0}};
    if (pattern.loads == 2 && pattern.number != 4) places.push_back(place_at_a_core(pattern));
    for (const Place& place : places) {
      SCOPED_TRACE(testing::Message() << "pattern " << pattern.number << " on core " << place.core);
      EXPECT_EQ(measure(kernel, place).warm, expected(pattern, place, hit()));
    }
  }
}

TEST_F(NearDataOnCrossbar, LatencyIsTheSumOfThePortsLatencies) {
  for (const Pattern& pattern : patterns()) {
    const AssembledKernel kernel = kernel_of(pattern, p_.l1i.line.n);
    for (const unsigned cache : {0U, 3U}) {
      SCOPED_TRACE(testing::Message() << "pattern " << pattern.number << " at cache " << cache);
      const Place place{5, cache, cache, cache};
      EXPECT_EQ(measure(kernel, place).warm, expected(pattern, place, hit()));
    }
  }
}

class NearDataEvicting : public NearDataLatency {
 protected:
  NearDataEvicting() : NearDataLatency(bench<LatencyBench>().evicting) {}
};

// Both operands come from DRAM, where the second row opens tRRD cycles after the first. The second operand evicts the first
// one, which is loaded again when both are to be fetched.
TEST_F(NearDataEvicting, EvictedLinesAreLoadedAgainBeforeTheFetch) {
  evicted_ = 1;
  for (const Pattern& pattern : patterns()) {
    if (pattern.loads != 2 || pattern.stores) continue;  // a store would evict both operands
    const AssembledKernel kernel = kernel_of(pattern, p_.l1i.line.n);
    for (unsigned cache = 0; cache < 4; ++cache) {
      SCOPED_TRACE(testing::Message() << "pattern " << pattern.number << " at cache " << cache);
      const Place place{0, cache, cache, cache};
      const auto without_accesses = expected(pattern, place, 0);  // the second operand arrives a cycle after the first
      ASSERT_TRUE(without_accesses);
      const std::uint64_t accesses = p_.dram.tRRDS.n + 2 * miss();
      EXPECT_EQ(measure(kernel, place).cold, *without_accesses - 1 + accesses);
      EXPECT_EQ(parts_["queue"], 1 + ndc_.fetch_latency.n);
      EXPECT_EQ(parts_["caches"], accesses);
    }
  }
}

// The chain's end does not wait for the store's acknowledgement.
TEST_F(NearDataEarlyAck, AChainEndsBeforeItsStoreIsAcknowledged) {
  for (const Pattern& pattern : patterns()) {
    if (!pattern.stores) continue;
    SCOPED_TRACE(pattern.number);
    const AssembledKernel kernel = kernel_of(pattern, p_.l1i.line.n);
    const Place place{0, 2, 2, 2};
    EXPECT_EQ(measure(kernel, place).warm, expected(pattern, place, hit()));
    EXPECT_EQ(parts_["caches"], hit() + pattern.loads - 1);
  }
}

// The queue accepts the first of a wavefront's two packets, which are sent in consecutive cycles. The core performs the
// comparison of the second packet: the packet's line, five flits, is sent to the core as soon as the cache has responded. The
// caches are 1, 3, 6 and 13 links away.
TEST_F(NearDataRefusing, TheCoreComputesRefusedPackets) {
  Lines lines{"s_load_dwordx4 s[8:11], s[0:1], 0x0",
              "v_and_b32 v1, 31, v0",
              "v_lshlrev_b32 v1, 2, v1",
              "v_lshrrev_b32 v2, 5, v0",
              "v_lshlrev_b32 v2, 9, v2",
              "v_or_b32 v1, v1, v2",
              "s_waitcnt lgkmcnt(0)",
              "ADD_u32 v2, s8, v1",
              "v_mov_b32 v3, s9",
              "s_cmp_lg_u32 s2, s10",
              "s_cbranch_scc1 0"};
  // As in kernel_of(): the chain is in one line of the instruction cache.
  const std::uint64_t line = p_.l1i.line.n;
  const std::uint64_t size = AssembledKernel(isa::Target::gfx803, lines).address(lines.size());
  const std::uint64_t nops = (line - size % line) % line / 4;
  lines.back() = "s_cbranch_scc1 " + std::to_string(nops + 5);
  lines.insert(lines.end(), nops, "s_nop 0");
  const AssembledKernel kernel(
      isa::Target::gfx803, lines + Lines{"s_sleep 127", "LOAD v10, v[2:3]", "s_waitcnt vmcnt(0)", "v_cmp_eq_f32 vcc, 0, v10"});
  ASSERT_EQ(kernel.finalize({.move = false}).chains.size(), 1U);
  for (unsigned number = 0; number < 4; ++number) {
    SCOPED_TRACE(number);
    gpu_.start();
    std::uint64_t latency = 0;
    for (unsigned run = 0; run < 2; ++run) {
      gpu_.mark();
      gpu_.run(kernel, {kVram + kData + std::uint64_t{128} * number, 0}, static_cast<unsigned>(network_.cores.size()), 64);
      const Counts counts = gpu_.growth();
      EXPECT_EQ(counts.at("cu0.ndc.packets"), 2U);
      EXPECT_EQ(counts.at("cu0.ndc.bounced"), 1U);
      EXPECT_EQ(counts.at("cu0.ndc.core_lanes"), 32U);
      latency = counts.at("cu0.ndc.latency");
      gpu_.expect_no_chains();
    }
    const unsigned core = core_node(0);
    const unsigned cache = cache_node(number);
    const std::uint64_t build = 4 * 2 + 1;
    // The second packet arrives one flit after the first.
    const std::uint64_t there = packet(core, cache, 1) + 1 + 1;
    const std::uint64_t operation = 64 / p_.cu.lanes_per_simd;
    EXPECT_EQ(latency, build + there + hit() + packet(cache, core, 5) + p_.cu.vmem_return_latency.n + operation);
  }
}

// -- ALUs

class NearDataAluWidth : public NearDataLatency, public testing::WithParamInterface<NearDataGpu LatencyBench::*> {
 protected:
  NearDataAluWidth() : NearDataLatency(bench<LatencyBench>().*GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Widths, NearDataAluWidth,
                         testing::Values(&LatencyBench::lanes_4, &LatencyBench::lanes_8, &LatencyBench::lanes_16,
                                         &LatencyBench::lanes_32),
                         [](const auto& gpu) {
                           return gpu.param == &LatencyBench::lanes_4    ? "Lanes4"
                                  : gpu.param == &LatencyBench::lanes_8  ? "Lanes8"
                                  : gpu.param == &LatencyBench::lanes_16 ? "Lanes16"
                                                                         : "Lanes32";
                         });

TEST_P(NearDataAluWidth, NarrowAlusTakeLonger) {
  for (const Pattern& pattern : patterns()) {
    if (pattern.number == 4) continue;
    const AssembledKernel kernel = kernel_of(pattern, p_.l1i.line.n);
    std::vector<Place> places{{0, 2, 2, 2}, {9, 1, 1, 1}};
    if (pattern.loads == 2) places.push_back(place_at_a_core(pattern));
    for (const Place& place : places) {
      SCOPED_TRACE(testing::Message() << "pattern " << pattern.number << " on core " << place.core);
      const auto time = expected(pattern, place, hit());
      ASSERT_TRUE(time);
      EXPECT_EQ(measure(kernel, place).warm, *time);
    }
  }
}

// The core at the meeting node executes vector instructions without pause.
TEST_F(NearDataLatency, ABusyCoreDelaysTheResult) {
  for (const Pattern& pattern : patterns()) {
    if (pattern.number != 1 && pattern.number != 9) continue;
    SCOPED_TRACE(pattern.number);
    const Place place = place_at_a_core(pattern);
    const auto time = expected(pattern, place, hit());
    ASSERT_TRUE(time);
    const std::uint64_t contended = gpu_.sum(&ServiceQueueStatistics::contended);
    const Tick contention = gpu_.sum(&ServiceQueueStatistics::contention);
    const std::uint64_t warm = measure(kernel_of(pattern, p_.l1i.line.n, Meanwhile::vector_operations), place).warm;
    EXPECT_GT(gpu_.sum(&ServiceQueueStatistics::contended), contended);
    const Tick delay = gpu_.sum(&ServiceQueueStatistics::contention) - contention;
    EXPECT_GT(delay, Tick{});
    EXPECT_GT(warm, *time);
    EXPECT_LE(warm, *time + 2 * pattern.operations);
  }
}

// The core at the meeting node reads its LDS without pause. Each operand is written to that LDS and read from it.
TEST_F(NearDataLatency, ABusyLdsDelaysTheResult) {
  lds_bytes_ = 512;
  for (const Pattern& pattern : patterns()) {
    if (pattern.loads != 2 || pattern.number == 4) continue;
    SCOPED_TRACE(pattern.number);
    const Place place = place_at_a_core(pattern);
    const auto time = expected(pattern, place, hit());
    ASSERT_TRUE(time);
    const auto sum = [this](auto what) { return gpu_.sum(what); };
    const std::uint64_t idle_lines = sum(&ServiceQueueStatistics::lds_lines);
    const std::uint64_t idle_contended = sum(&ServiceQueueStatistics::lds_contended);
    EXPECT_EQ(measure(kernel_of(pattern, p_.l1i.line.n), place).warm, *time);
    constexpr std::uint64_t kLines = 2 * 2 * 2;  // two runs, two operands, each written and read
    EXPECT_EQ(sum(&ServiceQueueStatistics::lds_lines), idle_lines + kLines);
    EXPECT_EQ(sum(&ServiceQueueStatistics::lds_contended), idle_contended);
    const Tick contention = sum(&ServiceQueueStatistics::lds_contention);
    const std::uint64_t warm = measure(kernel_of(pattern, p_.l1i.line.n, Meanwhile::lds_reads), place).warm;
    EXPECT_EQ(sum(&ServiceQueueStatistics::lds_lines), idle_lines + 2 * kLines);
    // The first run begins the measurement of the core's use.
    EXPECT_EQ(sum(&ServiceQueueStatistics::lds_contended), idle_contended + kLines / 2);
    const Tick delay = sum(&ServiceQueueStatistics::lds_contention) - contention;
    EXPECT_GT(delay, Tick{});
    EXPECT_GT(warm, *time);
    EXPECT_LE(warm, *time + network_.clock.ceil(delay).n);
  }
}

// A wavefront of the same SIMD multiplies integers without pause, at a quarter of the vector ALU's rate. Nevertheless a chain's
// operations are committed without a wait, and the packets leave as early as on an idle core.
TEST_F(NearDataLatency, CommittedOperationsDoNotWaitForTheVectorAlu) {
  for (const Pattern& pattern : patterns()) {
    if (pattern.operations == 0) continue;
    SCOPED_TRACE(pattern.number);
    const unsigned wavefronts = p_.cu.simds + 1;  // the last wavefront is on the first wavefront's SIMD
    Lines lines = Lines{"s_load_dwordx8 s[8:15], s[0:1], 0x0", "v_readfirstlane_b32 s4, v0", "v_and_b32 v1, 31, v0",
                        "v_lshlrev_b32 v1, 2, v1", "s_waitcnt lgkmcnt(0)"} +
                  kOperandAddresses + Lines{"v_mov_b32 v20, 0",   "s_movk_i32 s5, 2000",      "s_cmp_eq_u32 s4, 0",
                                            "s_cbranch_scc1 6",   "v_mul_lo_u32 v20, v1, v1", "s_sub_u32 s5, s5, 1",
                                            "s_cmp_lg_u32 s5, 0", "s_cbranch_scc1 65531",     "s_endpgm"};
    // As in kernel_of(): the chain is in one line of the instruction cache.
    const std::uint64_t line = p_.l1i.line.n;
    const std::uint64_t size = AssembledKernel(isa::Target::gfx803, lines).address(lines.size());
    lines.insert(lines.end(), (line - size % line) % line / 4, "s_nop 0");
    lines.emplace_back("s_sleep 127");
    const AssembledKernel kernel(isa::Target::gfx803, lines + pattern.lines + Lines{"v_xor_b32 v20, v20, v20"});
    ASSERT_EQ(kernel.finalize({.move = false}).chains.size(), 1U);
    gpu_.start();
    gpu_.mark();
    EXPECT_FALSE(
        gpu_.run(kernel, {kVram + kData, kVram + kData + 0x40000, kVram + kData + 0x80000}, 1, 64 * wavefronts).failed);
    gpu_.expect_no_chains();
    const Counts counts = gpu_.growth();
    // All instructions but the loads, their wait and the store.
    EXPECT_EQ(counts.at("cu0.ndc.committed"), pattern.lines.size() - pattern.loads - 1 - (pattern.stores ? 1 : 0));
    // The first 32 lanes access the same lines, and so do the last 32.
    EXPECT_EQ(counts.at("cu0.ndc.packets"), 2U);
    EXPECT_EQ(counts.at("cu0.ndc.latency_build"), 2 * (4 * (pattern.lines.size() - 1) + 1));
  }
}

}  // namespace
}  // namespace lacuna::test
