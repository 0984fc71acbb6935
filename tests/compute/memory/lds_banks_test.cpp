#include "models/compute/memory/lds_banks.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "models/compute/memory/local_data_share.h"

namespace lacuna {
namespace {

using isa::MemoryAccess;

constexpr std::uint64_t kAll = ~std::uint64_t{0};

struct Pattern {
  const char* what;
  unsigned bytes;
  MemoryAccess::Operation operation;
  std::uint64_t lanes;
  std::function<std::uint64_t(unsigned)> address;
  unsigned busy;
  unsigned conflicts;
};

TEST(LdsBanks, CyclesAndConflictsOfAddressPatternsAreAsTabulated) {
  using enum MemoryAccess::Operation;
  const Pattern table[] = {
      {"a row of dwords: 32 lanes a cycle", 4, load, kAll, [](unsigned l) { return 4 * l; }, 2, 0},
      {"all lanes read one dword", 4, load, kAll, [](unsigned) { return 40; }, 2, 0},
      {"all lanes write one dword", 4, store, kAll, [](unsigned) { return 40; }, 2, 0},
      {"stride of two dwords: two lanes a bank", 4, load, kAll, [](unsigned l) { return 8 * l; }, 4, 2},
      {"stride of 32 dwords: all in one bank", 4, load, kAll, [](unsigned l) { return 128 * l; }, 64, 62},
      {"stride of 33 dwords: none", 4, load, kAll, [](unsigned l) { return 132 * l; }, 2, 0},
      {"a permutation of the banks", 4, load, kAll, [](unsigned l) { return 4 * (l ^ 21U); }, 2, 0},
      {"bytes of a dword are one dword", 1, load, kAll, [](unsigned l) { return l; }, 2, 0},
      {"half the lanes: one pass", 4, load, 0xffffffff, [](unsigned l) { return 4 * l; }, 1, 0},
      {"one lane", 4, load, 1, [](unsigned) { return 4; }, 1, 0},
      {"no lane", 4, load, 0, [](unsigned) { return 4; }, 1, 0},
      {"64-bit: 16 lanes a cycle", 8, load, kAll, [](unsigned l) { return 8 * l; }, 4, 0},
      {"128-bit: 8 lanes a cycle", 16, load, kAll, [](unsigned l) { return 16 * l; }, 8, 0},
      {"64-bit, stride of 16 bytes", 8, load, kAll, [](unsigned l) { return 16 * l; }, 8, 4},
      {"atomics on different dwords", 4, atomic, kAll, [](unsigned l) { return 4 * l; }, 2, 0},
      {"atomics on one dword take turns", 4, atomic, kAll, [](unsigned) { return 0; }, 64, 62},
      {"a histogram of four bins", 4, atomic, kAll, [](unsigned l) { return 4 * (l % 4); }, 16, 14},
  };
  LdsBanks banks;
  for (const Pattern& row : table) {
    MemoryAccess access;
    access.space = MemoryAccess::Space::lds;
    access.operation = row.operation;
    access.bytes_per_lane = static_cast<std::uint8_t>(row.bytes);
    LdsBanks::Offsets offsets{};
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) offsets[lane] = static_cast<std::uint32_t>(row.address(lane));
    const LdsCycles cycles = banks.cycles(access, offsets, row.lanes, 0);
    EXPECT_EQ(cycles.busy, row.busy) << row.what;
    EXPECT_EQ(cycles.conflicts, row.conflicts) << row.what;
  }
}

// Of the LDS of gfx90a, an instruction takes two cycles even if a pass of its lanes takes one.
TEST(LocalDataShare, AnInstructionTakesAMinimumOfCycles) {
  ComputeUnitParameters parameters;
  parameters.lds_cycles = Cycles{2};
  LdsBanks banks;
  LocalDataShare lds(parameters, Clock(Frequency{1'000'000'000}), banks);
  MemoryAccess access;
  access.space = MemoryAccess::Space::lds;
  access.bytes_per_lane = 4;
  access.lanes = 1;
  LdsBanks::Offsets offsets{};
  const isa::DecodedInstruction instruction;
  EXPECT_EQ(lds.cycles(access, offsets, instruction).busy, 2);
  EXPECT_EQ(lds.cycles(access, offsets, instruction).conflicts, 0);
  access.lanes = kAll;
  access.operation = MemoryAccess::Operation::atomic;
  EXPECT_EQ(lds.cycles(access, offsets, instruction).busy, 64);
  parameters.lds_conflicts = false;
  EXPECT_EQ(lds.cycles(access, offsets, instruction).busy, 2);
}

TEST(LdsBanks, TwoAddressesOfALane) {
  MemoryAccess access;
  access.bytes_per_lane = 4;
  access.dual = true;
  access.dual_distance = 64;
  LdsBanks::Offsets offsets{};
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) offsets[lane] = 4 * lane;
  // A pass serves 16 lanes, each with two dwords: the first pass accesses dwords 0 to 15 and 16 to 31.
  EXPECT_EQ(LdsBanks().cycles(access, offsets, kAll, 0).busy, 4U);
  EXPECT_EQ(LdsBanks().cycles(access, offsets, kAll, 0).conflicts, 0U);
  access.dual_distance = 128;
  EXPECT_EQ(LdsBanks().cycles(access, offsets, kAll, 0).busy, 8U);
  EXPECT_EQ(LdsBanks().cycles(access, offsets, kAll, 0).conflicts, 4U);
}

TEST(LdsBanks, CachedCyclesEqualCountedOnes) {
  std::mt19937 random(5);
  LdsBanks banks;
  MemoryAccess access;
  access.bytes_per_lane = 4;
  LdsBanks::Offsets offsets{};
  for (int i = 0; i < 2000; ++i) {
    // Usually repeats the pattern at another address; sometimes changes the pattern or the access.
    const std::uint32_t shift = random() % 4 == 0 ? random() % 64 : 4 * (random() % 64);
    const std::uint32_t change = random() % 8;
    for (std::uint32_t& offset : offsets) offset = change == 0 ? static_cast<std::uint32_t>(random()) % 1024 : offset + shift;
    if (change == 1) access.dual_distance = static_cast<std::uint32_t>(random()) % 1024;
    if (change == 2) access.dual = !access.dual;
    if (change == 3) access.bytes_per_lane = static_cast<std::uint8_t>(4 << random() % 2);
    if (change == 4) {
      access.operation = random() % 2 == 0 ? MemoryAccess::Operation::load : MemoryAccess::Operation::atomic;
    }
    const std::uint64_t lanes = change == 5 ? random() : kAll;
    const LdsCycles remembered = banks.cycles(access, offsets, lanes, 0);
    const LdsCycles counted = LdsBanks().cycles(access, offsets, lanes, 0);
    ASSERT_EQ(remembered.busy, counted.busy) << i;
    ASSERT_EQ(remembered.conflicts, counted.conflicts) << i;
  }
}

}  // namespace
}  // namespace lacuna
