#include "models/gpu/lds_banks.h"

#include <gtest/gtest.h>

#include <functional>

namespace lacuna {
namespace {

using isa::MemoryAccess;

constexpr std::uint64_t kAll = ~std::uint64_t{0};

struct Row {
  const char* what;
  unsigned bytes;
  MemoryAccess::Operation operation;
  std::uint64_t lanes;
  std::function<std::uint64_t(unsigned)> address;
  unsigned busy;
  unsigned conflicts;
};

TEST(LdsBanks, Table) {
  using enum MemoryAccess::Operation;
  const Row table[] = {
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
  for (const Row& row : table) {
    MemoryAccess access;
    access.space = MemoryAccess::Space::lds;
    access.operation = row.operation;
    access.bytes_per_lane = static_cast<std::uint8_t>(row.bytes);
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) access.address[lane] = row.address(lane);
    const LdsCycles cycles = lds_cycles(access, row.lanes);
    EXPECT_EQ(cycles.busy, row.busy) << row.what;
    EXPECT_EQ(cycles.conflicts, row.conflicts) << row.what;
  }
}

TEST(LdsBanks, TwoAddressesOfALane) {
  MemoryAccess access;
  access.bytes_per_lane = 4;
  access.dual = true;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    access.address[lane] = 4 * lane;
    access.address2[lane] = 4 * lane + 64;
  }
  // 16 lanes a pass: dwords 0 to 15 and 16 to 31.
  EXPECT_EQ(lds_cycles(access, kAll).busy, 4U);
  EXPECT_EQ(lds_cycles(access, kAll).conflicts, 0U);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) access.address2[lane] = 4 * lane + 128;
  EXPECT_EQ(lds_cycles(access, kAll).busy, 8U);
  EXPECT_EQ(lds_cycles(access, kAll).conflicts, 4U);
}

}  // namespace
}  // namespace lacuna
