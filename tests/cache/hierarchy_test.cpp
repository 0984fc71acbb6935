// Tests L1, crossbar, L2 banks and DRAM channels together: with the default parameters, round trips equal the formulas in the
// headers; the whole hierarchy obeys the TLM contract.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <numeric>

#include "models/cache/cache.h"
#include "models/dram/dram_channel.h"
#include "models/noc/crossbar.h"
#include "tests/harness/harness.h"
#include "tests/harness/tlm_contract.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr std::uint64_t kBase = 0x10'0000'0000;
constexpr Bytes kSize{1 << 20};
constexpr unsigned kChannels = 4;
constexpr CacheParameters kL2{.size = 64_KiB,
                              .ways = 16,
                              .write_policy = WritePolicy::write_back,
                              .hit_latency = 53_cycles,
                              .tag_latency = 10_cycles,
                              .fill_latency = 10_cycles};

// No refresh: refreshes occur at absolute times, so a later run would take a different time.
DramParameters dram_without_refresh() {
  DramParameters parameters;
  parameters.tREFI = 0_cycles;
  return parameters;
}

struct Hierarchy : sc_core::sc_module {
  explicit Hierarchy(sc_core::sc_module_name n) : sc_module(n) {
    for (unsigned i = 0; i < 2; ++i) {
      l1.push_back(std::make_unique<Cache>(sc_core::sc_gen_unique_name("l1"), CacheParameters{}, MemoryLevel::l1));
      initiators[i].socket.bind(l1[i]->upstream[0]);
      l1[i]->downstream.bind(noc.sources[i]);
    }
    for (unsigned i = 0; i < kChannels; ++i) {
      const AddressSlice slice = noc.routes().slice(i);
      l2.push_back(std::make_unique<Cache>(sc_core::sc_gen_unique_name("l2"), kL2, MemoryLevel::l2, 1, slice));
      dram.push_back(std::make_unique<DramChannel>(sc_core::sc_gen_unique_name("dram"), dram_without_refresh(), slice, store));
      noc.destinations[i].bind(l2[i]->upstream[0]);
      l2[i]->downstream.bind(dram[i]->memory);
    }
  }
  void reset() {
    for (auto& cache : l1) cache->reset();
    for (auto& cache : l2) cache->reset();
    for (auto& channel : dram) channel->reset();
    noc.reset();
  }
  BackingStore store{kSize};
  sc_core::sc_vector<test::TestInitiator> initiators{"initiator", 2};
  std::vector<std::unique_ptr<Cache>> l1;
  Crossbar noc{"noc", FabricParameters{}, 2, AddressRoutes({{"vram", kBase, kSize, 0, kChannels, 128_B}})};
  std::vector<std::unique_ptr<Cache>> l2;
  std::vector<std::unique_ptr<DramChannel>> dram;
};
LACUNA_TEST_BENCH(Hierarchy)

Hierarchy& fresh_hierarchy() {
  auto& b = test::bench<Hierarchy>();
  b.initiators[1].begin_epoch();
  b.initiators[0].begin_epoch();
  b.initiators[1].share_epoch(b.initiators[0]);
  b.reset();
  return b;
}

constexpr std::uint64_t kL1Cycles = CacheParameters{}.hit_latency.n;
constexpr std::uint64_t kPathCycles = CacheParameters{}.tag_latency.n + (10 + 1) + (10 + 2) + CacheParameters{}.fill_latency.n;
constexpr std::uint64_t kDramCycles = 43 + 10 + 10 + 4;  // front end, tRCDRD (no row is open), tCL, burst

TEST(MemoryHierarchy, UnloadedRoundTripsAreTheSumsOfTheParameters) {
  auto& b = fresh_hierarchy();
  EXPECT_EQ(b.initiators[0].time_read(0_ns, kBase, 64).at, Tick{(kPathCycles + 10 + kDramCycles + 10) * 1000});
  EXPECT_EQ(b.initiators[0].time_read(1000_ns, kBase, 64).at, 1000_ns + Tick{kL1Cycles * 1000});
  EXPECT_EQ(b.initiators[1].time_read(2000_ns, kBase, 64).at, 2000_ns + Tick{(kPathCycles + 53) * 1000});
  // With default parameters: 40, 92 and 126 cycles, as documented in models/cache/cache.h.
  EXPECT_EQ(kL1Cycles, 40u);
  EXPECT_EQ(kPathCycles + 53, 92u);
  EXPECT_EQ(kPathCycles + 10 + kDramCycles + 10, 126u);
}

TEST(MemoryHierarchy, TheBreakdownSumsToTheWholeUnderLoad) {
  auto& b = fresh_hierarchy();
  for (unsigned i = 0; i < 300; ++i) {
    const Tick at{(i / 4) * 1000};
    const auto c = b.initiators[i % 2].time_read(at, kBase + (i * 37 % 512) * 64, 64);
    ASSERT_TRUE(c.ok());
    const auto sum = [](const auto& parts) { return std::accumulate(parts.begin(), parts.end(), Tick{}); };
    // The sum includes the time for which a secondary miss waits at the L1 for another request's fill.
    EXPECT_EQ(sum(c.latency.queueing) + sum(c.latency.service), c.at - at) << i;
  }
}

TEST(MemoryHierarchy, AStreamIsBoundByDram) {
  auto& b = fresh_hierarchy();
  Tick last{};
  constexpr unsigned kLines = 4096;
  for (unsigned i = 0; i < kLines; ++i) {
    last = later(last, b.initiators[i % 2].time_read(0_ns, kBase + std::uint64_t{i} * 64, 64).at);
  }
  // 4 channels transfer 16 bytes per cycle each, and each of two L1s accepts up to one line (64 bytes) in two cycles over its
  // 32-byte port: at most 64 bytes per cycle.
  const double bytes_per_cycle = kLines * 64.0 / (static_cast<double>(last.ps) / 1000.0);
  EXPECT_LE(bytes_per_cycle, 64.0);
  EXPECT_GE(bytes_per_cycle, 64.0 * 0.85);
}

TEST(MemoryHierarchy, StoresThatMissEverywhereAreHeldBackByDram) {
  auto& b = fresh_hierarchy();
  Tick last{};
  constexpr unsigned kLines = 8192;  // 512 KiB, twice the capacity of L2
  for (unsigned i = 0; i < kLines; ++i) {
    last = later(last, b.initiators[i % 2].time_write(0_ns, kBase + std::uint64_t{i} * 64, 64).at);
  }
  // The second half evicts the first, at 64 bytes per cycle.
  EXPECT_GE(last, Tick{kLines / 2 * 1000 * 9 / 10});
}

TEST(MemoryHierarchy, OneL1DoesNotSeeAnothersStoreButL2Does) {
  auto& b = fresh_hierarchy();
  b.initiators[0].time_read(0_ns, kBase, 64);
  b.initiators[1].time_write(1000_ns, kBase, 64);
  EXPECT_EQ(b.initiators[0].time_read(2000_ns, kBase, 64).at, 2040_ns) << "L1 is not coherent: it keeps its line";
  b.l1[0]->invalidate(b.initiators[0].epoch() + 3000_ns);
  EXPECT_EQ(b.initiators[0].time_read(4000_ns, kBase, 64).at, 4092_ns);
}

TEST(MemoryHierarchy, DataPassThroughAllLevels) {
  auto& b = fresh_hierarchy();
  std::array<std::byte, 1000> out{};
  for (unsigned i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(i * 7);
  EXPECT_TRUE(b.initiators[0].write(0_ns, kBase + 77, out).ok());
  std::array<std::byte, 1000> in{};
  EXPECT_TRUE(b.initiators[1].read(0_ns, kBase + 77, in).ok());
  EXPECT_EQ(in, out);
  EXPECT_EQ(b.store.data()[77 + 5], out[5]);
}

TEST(MemoryHierarchy, TwoRunsGiveTheSameTimes) {
  std::array<std::uint64_t, 2> hashes{};
  for (std::uint64_t& hash : hashes) {
    auto& b = fresh_hierarchy();
    hash = 0xcbf29ce484222325;
    std::uint64_t random = 12345;
    for (unsigned i = 0; i < 2000; ++i) {
      random = random * 6364136223846793005 + 1442695040888963407;
      const Tick at{(i * 3 + (random >> 60)) * 1000};
      const std::uint64_t address = kBase + (random >> 33) % 4096 * 64;
      auto& initiator = b.initiators[(random >> 20) & 1];
      const auto c = (random >> 50 & 3) == 0 ? initiator.time_write(at, address, 64) : initiator.time_read(at, address, 64);
      hash = (hash ^ c.at.ps) * 0x100000001b3;
    }
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

}  // namespace

test::ContractTarget test::contract_target() {
  auto& b = bench<Hierarchy>();
  return {.initiator = b.initiators[0], .address = kBase + 0x80, .length = 64, .end = kBase + kSize.n, .reset = [&b] {
            b.reset();
          }};
}

}  // namespace lacuna
