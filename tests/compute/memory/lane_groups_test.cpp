#include "models/compute/memory/lane_groups.h"

#include <gtest/gtest.h>

#include <functional>

namespace lacuna {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

unsigned cycles(unsigned bytes, std::uint64_t lanes, const std::function<std::uint64_t(unsigned)>& address) {
  isa::MemoryAccess access;
  access.space = isa::MemoryAccess::Space::global;
  access.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  access.lanes = lanes;
  std::array<std::uint64_t, isa::kLanes> addresses{};
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) addresses[lane] = address(lane);
  return group_cycles(access, addresses);
}

struct Pattern {
  const char* what;
  unsigned bytes;
  std::uint64_t lanes;
  std::function<std::uint64_t(unsigned)> address;
  unsigned cycles;
};

TEST(LaneGroups, CyclesOfAddressPatternsAreAsTabulated) {
  const Pattern table[] = {
      {"a row of dwords: sixteen lanes a cycle", 4, kAll, [](unsigned l) { return 4 * l; }, 4},
      {"the same, not aligned", 4, kAll, [](unsigned l) { return 4 + 4 * l; }, 4},
      {"bytes of a row: four lanes share a word", 1, kAll, [](unsigned l) { return l; }, 4},
      {"all lanes load one dword", 4, kAll, [](unsigned) { return 64; }, 4},
      {"one lane", 4, 1, [](unsigned) { return 64; }, 1},
      {"no lane", 4, 0, [](unsigned) { return 64; }, 0},
      {"half of the lanes", 4, 0xffff'ffff, [](unsigned l) { return 4 * l; }, 2},
      {"dwords 8 B apart: four lanes use two data banks", 4, kAll, [](unsigned l) { return 8 * l; }, 32},
      {"dwords 16 B apart: four lanes use one data bank", 4, kAll, [](unsigned l) { return 16 * l; }, 64},
      {"dwords 64 B apart", 4, kAll, [](unsigned l) { return 64 * l; }, 64},
      {"rows of four dwords in different lines of a tag bank", 4, kAll, [](unsigned l) { return 4 * (l % 4) + 256 * (l / 4); },
       16},
      {"rows of four dwords in neighbouring lines, words of a data bank", 4, kAll,
       [](unsigned l) { return 4 * (l % 4) + 64 * (l / 4); }, 16},
      {"rows of four dwords 80 B apart: different banks", 4, kAll, [](unsigned l) { return 4 * (l % 4) + 80 * (l / 4); }, 4},
      {"a row of doubles: four lanes a cycle", 8, kAll, [](unsigned l) { return 8 * l; }, 16},
      {"doubles 16 B apart", 8, kAll, [](unsigned l) { return 16 * l; }, 16},
      {"doubles 32 B apart: two data banks", 8, kAll, [](unsigned l) { return 32 * l; }, 32},
      {"doubles 64 B apart: one data bank", 8, kAll, [](unsigned l) { return 64 * l; }, 64},
      {"a row of float4: four lanes a cycle", 16, kAll, [](unsigned l) { return 16 * l; }, 16},
      {"float4 of one lane in four", 16, 0x1111'1111'1111'1111, [](unsigned l) { return 16 * l; }, 16},
  };
  for (const Pattern& row : table) EXPECT_EQ(cycles(row.bytes, row.lanes, row.address), row.cycles) << row.what;
}

// The mean over the phases in a line of 16 B, for 64 lanes. Measured on an MI210 (tests/validation/silicon, mi210-stride-*, of
// 32 lanes).
TEST(LaneGroups, CyclesOfStridesAreAsMeasuredOnAnMi210) {
  struct Stride {
    unsigned bytes;
    unsigned elements;
    double measured;
  };
  for (const Stride& stride :
       {Stride{4, 2, 16.1}, Stride{4, 4, 32.2}, Stride{4, 5, 14.1}, Stride{4, 10, 16.1}, Stride{4, 15, 24.2},
        Stride{4, 16, 32.2}, Stride{4, 31, 24.2}, Stride{4, 64, 32.2}, Stride{8, 1, 8.1}, Stride{8, 2, 8.1}, Stride{8, 8, 32.2},
        Stride{8, 10, 12.1}, Stride{8, 30, 24.2}, Stride{8, 32, 32.2}}) {
    double sum = 0;
    const unsigned phases = stride.bytes == 4 ? 4 : 2;  // eight loads 16 B, or 32 B, apart
    for (unsigned phase = 0; phase < phases; ++phase) {
      sum += cycles(stride.bytes, kAll, [&](unsigned l) {
        return std::uint64_t{64} / phases * phase + std::uint64_t{l} * stride.elements * stride.bytes;
      });
    }
    EXPECT_NEAR(sum / phases / 2, stride.measured, 0.25) << stride.elements << " elements of " << stride.bytes << " B";
  }
}

}  // namespace
}  // namespace lacuna
