// Tests FLAT instructions with generic addresses: global memory, the LDS and scratch apertures, faults, atomics.
#include <gtest/gtest.h>

#include "tests/isa/memory/atomic_reference.h"
#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

constexpr std::uint64_t kShared = 0x2000000000000000;
constexpr std::uint64_t kPrivate = 0x2000000100000000;

struct FlatMachine : Machine {
  FlatMachine() {
    wave.shared_aperture = kShared;
    wave.private_aperture = kPrivate;
  }
  void set_address(unsigned lane, std::uint64_t address) {
    v(0, lane) = static_cast<std::uint32_t>(address);
    v(1, lane) = static_cast<std::uint32_t>(address >> 32);
  }
};

TEST(Flat, LoadsAndStoresOfEveryWidthAtAnyAlignment) {
  FlatMachine m;
  std::byte* at = m.memory.map(kBase, 8192, Access::read_write);
  for (unsigned l = 0; l < kLanes; ++l) {
    m.set_address(l, kBase + l * 17);
    for (unsigned k = 2; k < 6; ++k) m.v(k, l) = 0xf1e2d300 + k * 64 + l;
  }
  m.run({"flat_store_dwordx4 v[0:1], v[2:5]", "flat_load_dwordx3 v[6:8], v[0:1]", "flat_load_dwordx2 v[10:11], v[0:1]",
         "flat_load_sshort v12, v[0:1]", "flat_load_ubyte v13, v[0:1]", "flat_load_sbyte v14, v[0:1]"});
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(read<std::uint32_t>(at + l * 17), m.v(2, l));
    EXPECT_EQ(m.v(8, l), m.v(4, l));
    EXPECT_EQ(m.v(11, l), m.v(3, l));
    EXPECT_EQ(m.v(12, l), static_cast<std::uint32_t>(static_cast<std::int16_t>(m.v(2, l))));
    EXPECT_EQ(m.v(13, l), m.v(2, l) & 0xff);
    EXPECT_EQ(m.v(14, l), static_cast<std::uint32_t>(static_cast<std::int8_t>(m.v(2, l))));
  }
  EXPECT_EQ(m.memory.finds, 1U);
  EXPECT_EQ(m.wave.access.space, MemoryAccess::Space::global);
  EXPECT_EQ(m.wave.access.lanes, ~std::uint64_t{0});
  EXPECT_EQ(m.addresses.global[3], kBase + 51);
  EXPECT_EQ(m.wave.access.bytes_per_lane, 1);
}

TEST(Flat, InactiveLanesTouchNothing) {
  FlatMachine m;
  std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
  m.wave.set_exec(1ULL << 5);
  m.set_address(5, kBase + 8);
  write<std::uint32_t>(at + 8, 42);
  m.v(2, 4) = 9;
  m.run({"flat_load_dword v2, v[0:1]"});  // the address of inactive lanes is 0, which is not mapped
  EXPECT_EQ(m.wave.event, Event::none);
  EXPECT_EQ(m.v(2, 5), 42U);
  EXPECT_EQ(m.v(2, 4), 9U);
  m.wave.set_exec(0);
  m.run({"flat_load_dword v2, v[0:1]"});
  EXPECT_EQ(m.wave.event, Event::none);
}

TEST(Flat, FaultNamesTheLaneAndChangesNothing) {
  FlatMachine m;
  std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
  std::byte* constant = m.memory.map(kBase + 4096, 4096, Access::read);
  for (unsigned l = 0; l < kLanes; ++l) {
    m.set_address(l, kBase + l * 4);
    m.v(2, l) = 7;
  }
  m.set_address(37, kBase + 0x10000);
  m.run({"flat_load_dword v2, v[0:1]"});
  EXPECT_EQ(m.wave.event, Event::memory_fault);
  EXPECT_EQ(m.wave.fault.lane, 37U);
  EXPECT_EQ(m.wave.fault.address, kBase + 0x10000);
  EXPECT_EQ(m.wave.fault.bytes, 4U);
  EXPECT_EQ(m.wave.fault.reason, MemoryFault::Reason::not_mapped);
  EXPECT_EQ(m.v(2, 0), 7U);
  m.set_address(37, kBase + 4094);  // two bytes in memory that may not be written
  m.run({"flat_store_dword v[0:1], v2"});
  EXPECT_EQ(m.wave.event, Event::memory_fault);
  EXPECT_EQ(m.wave.fault.reason, MemoryFault::Reason::not_permitted);
  EXPECT_EQ(read<std::uint32_t>(at), 0U) << "no lane has stored";
  write<std::uint16_t>(at + 4094, 0x1234);
  write<std::uint16_t>(constant, 0x5678);
  m.run({"flat_load_dword v3, v[0:1]"});
  EXPECT_EQ(m.wave.event, Event::none);
  EXPECT_EQ(m.v(3, 37), 0x56781234U) << "a read across two mappings";
}

TEST(Flat, StoresAcrossTwoMappings) {
  FlatMachine m;
  std::byte* low = m.memory.map(kBase, 4096, Access::read_write);
  std::byte* high = m.memory.map(kBase + 4096, 4096, Access::read_write);
  m.wave.set_exec(1);
  m.set_address(0, kBase + 4093);
  m.v(2, 0) = 0x44332211;
  m.run({"flat_store_dword v[0:1], v2"});
  EXPECT_EQ(read<std::uint8_t>(low + 4095), 0x33);
  EXPECT_EQ(read<std::uint8_t>(high), 0x44);
}

TEST(Flat, SharedApertureIsTheLds) {
  FlatMachine m;
  std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
  write<std::uint32_t>(at, 11);
  m.set_lds<std::uint32_t>(256, 22);
  for (unsigned l = 0; l < kLanes; ++l) m.set_address(l, l % 2 == 0 ? kBase : kShared + 256);
  m.set_address(63, kShared + 0x100000);  // beyond the allocation
  m.v(2, 63) = 5;
  m.run({"flat_load_dword v2, v[0:1]"});
  EXPECT_EQ(m.wave.event, Event::none);
  EXPECT_EQ(m.v(2, 0), 11U);
  EXPECT_EQ(m.v(2, 1), 22U);
  EXPECT_EQ(m.v(2, 63), 0U);
  EXPECT_EQ(m.wave.access.lanes, 0x5555555555555555U);
  EXPECT_EQ(m.wave.access.lds_lanes, 0xaaaaaaaaaaaaaaaaU);
  m.wave.set_exec(2);
  m.v(3, 1) = 20;
  m.run({"flat_atomic_add v4, v[0:1], v3 glc"});
  EXPECT_EQ(m.lds_at<std::uint32_t>(256), 42U);
  EXPECT_EQ(m.v(4, 1), 22U);
  EXPECT_EQ(m.wave.access.space, MemoryAccess::Space::lds);
}

TEST(Flat, PrivateApertureIsSwizzledScratch) {
  FlatMachine m;
  std::byte* at = m.memory.map(kBase, 65536, Access::read_write);
  m.wave.scratch_base = kBase;
  m.wave.sgpr[kFlatScratchHi] = 16;  // this wavefront's scratch begins at an offset of 4 KiB
  m.wave.sgpr[kFlatScratchLo] = 32;  // bytes of one lane
  for (unsigned l = 0; l < kLanes; ++l) {
    m.set_address(l, kPrivate + 4);
    m.v(2, l) = 1000 + l;
    m.v(3, l) = 2000 + l;
  }
  m.run({"flat_store_dwordx2 v[0:1], v[2:3]", "flat_load_dwordx2 v[4:5], v[0:1]"});
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(read<std::uint32_t>(at + 4096 + (64 + l) * 4), 1000 + l);
    EXPECT_EQ(read<std::uint32_t>(at + 4096 + (128 + l) * 4), 2000 + l);
    EXPECT_EQ(m.v(5, l), 2000 + l);
  }
  EXPECT_EQ(m.wave.access.space, MemoryAccess::Space::scratch);
  EXPECT_EQ(m.addresses.global[1], kBase + 4096 + 65 * 4);
  m.set_address(9, kPrivate + 30);
  m.run({"flat_load_dword v4, v[0:1]"});
  EXPECT_EQ(m.wave.event, Event::memory_fault) << "beyond the lane's scratch";
  EXPECT_EQ(m.wave.fault.lane, 9U);
}

TEST(Flat, AtomicsReturnTheOldValueOnlyWithGlc) {
  FlatMachine m;
  std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
  for (unsigned l = 0; l < kLanes; ++l) {
    m.set_address(l, kBase + l % 4 * 8);
    m.v(2, l) = l;
    m.v(3, l) = 0;
    m.v(4, l) = 99;
  }
  m.run({"flat_atomic_add v[0:1], v2"});
  EXPECT_EQ(m.v(4, 0), 99U);
  EXPECT_FALSE(m.wave.access.returns_data);
  EXPECT_EQ(read<std::uint32_t>(at + 8), 1U + 5 + 9 + 13 + 17 + 21 + 25 + 29 + 33 + 37 + 41 + 45 + 49 + 53 + 57 + 61);
  m.wave.set_exec(1);
  write<std::uint64_t>(at, 0x100000000);
  m.v(2, 0) = 5;  // new value 5, comparand 0x1'0000'0000
  m.v(4, 0) = 0;
  m.v(5, 0) = 1;
  m.run({"flat_atomic_cmpswap_x2 v[6:7], v[0:1], v[2:5] glc"});
  EXPECT_EQ(read<std::uint64_t>(at), 5U);
  EXPECT_EQ(m.v(7, 0), 1U);
  m.set_address(0, kBase + 4);
  m.run({"flat_atomic_add_x2 v[0:1], v[2:3]"});
  EXPECT_EQ(m.wave.fault.reason, MemoryFault::Reason::misaligned);
}

// Lanes that lie side by side in memory take a fast path; in reverse order they do not. Both must give the same result.
TEST(Flat, NeighboursAndScatteredLanesAgree) {
  struct {
    const char* load;
    const char* store;
    unsigned bytes;
  } const kCases[] = {{"flat_load_ubyte v4, v[0:1]", "flat_store_byte v[0:1], v4", 1},
                      {"flat_load_sshort v4, v[0:1]", "flat_store_short v[0:1], v4", 2},
                      {"flat_load_dword v4, v[0:1]", "flat_store_dword v[0:1], v4", 4},
                      {"flat_load_dwordx2 v[4:5], v[0:1]", "flat_store_dwordx2 v[0:1], v[4:5]", 8},
                      {"flat_load_dwordx3 v[4:6], v[0:1]", "flat_store_dwordx3 v[0:1], v[4:6]", 12},
                      {"flat_load_dwordx4 v[4:7], v[0:1]", "flat_store_dwordx4 v[0:1], v[4:7]", 16}};
  for (const auto& c : kCases) {
    FlatMachine m;
    std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
    for (unsigned k = 0; k < 1024; ++k) write<std::uint32_t>(at + k * 4, k * 0x9e3779b1);
    const std::uint64_t end = kBase + 4096;
    const auto side_by_side = [&](std::uint64_t first, bool reverse) {
      for (unsigned l = 0; l < kLanes; ++l) m.set_address(l, first + (reverse ? 63 - l : l) * c.bytes);
    };
    side_by_side(end - 64 * c.bytes, false);  // up to the last byte of the mapping
    m.run({c.load, c.load});
    ASSERT_EQ(m.wave.event, Event::none) << c.load;
    const std::vector<std::uint32_t> forward = m.vgprs;
    side_by_side(end - 64 * c.bytes, true);
    m.run({c.load});
    for (unsigned r = 0; r < c.bytes / 4 + (c.bytes < 4 ? 1 : 0); ++r) {
      for (unsigned l = 0; l < kLanes; ++l) ASSERT_EQ(m.v(4 + r, l), forward[(4 + r) * kLanes + 63 - l]) << c.load;
    }
    side_by_side(kBase, true);
    m.run({c.store});
    EXPECT_EQ(std::memcmp(at, at + 4096 - 64 * c.bytes, 64 * c.bytes), 0) << c.store;
    std::memset(at, 0, 64 * c.bytes);
    m.vgprs = forward;
    side_by_side(kBase, false);
    m.run({c.store});
    EXPECT_EQ(std::memcmp(at, at + 4096 - 64 * c.bytes, 64 * c.bytes), 0) << c.store;
    EXPECT_EQ(m.addresses.global[63], kBase + 63 * c.bytes);
    side_by_side(end - 64 * c.bytes + 1, false);  // one byte too far
    m.run({c.store});
    EXPECT_EQ(m.wave.event, Event::memory_fault) << c.store;
    EXPECT_EQ(m.wave.fault.lane, 63U);
  }
}

TEST(Flat, ManyMappingsAreRemembered) {
  FlatMachine m;
  for (unsigned k = 0; k < 4; ++k) m.memory.map(kBase + k * 0x100000, 4096, Access::read_write);
  for (unsigned l = 0; l < kLanes; ++l) m.set_address(l, kBase + l % 4 * 0x100000);
  m.run({"flat_load_dword v2, v[0:1]", "flat_load_dword v2, v[0:1]", "flat_load_dword v2, v[0:1]"});
  EXPECT_EQ(m.memory.finds, 4U);
}

// In memory f32 denormals become zeros, and f64 and f16 denormals are kept, regardless of MODE.
template <typename F>
void check_sums_in_memory(const char* text, DenormalRules rules) {
  const std::vector<std::uint32_t> words = assemble_by_llvm({text}, Target::gfx90a).at(0);
  for (std::uint32_t mode = 0; mode < 256; mode += 17) {
    FlatMachine m;
    m.wave.target = Target::gfx90a;
    m.wave.mode.bits = mode;
    std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
    FloatSource<F> source(mode + 1);
    std::array<F, kLanes> expected;
    for (unsigned l = 0; l < kLanes; ++l) {
      const F old = source.next();
      F data = source.next();
      while (std::isnan(old + data)) data = source.next();
      m.set_address(l, kBase + l * sizeof(F));
      write<F>(at + l * sizeof(F), old);
      const auto bits = std::bit_cast<BitsOf<F>>(data);
      m.v(2, l) = static_cast<std::uint32_t>(bits);
      if constexpr (sizeof(F) == 8) m.v(3, l) = static_cast<std::uint32_t>(bits >> 32);
      expected[l] = expected_sum(old, data, rules);
    }
    m.step(words);
    ASSERT_EQ(m.wave.event, Event::none);
    for (unsigned l = 0; l < kLanes; ++l) {
      EXPECT_EQ(read<BitsOf<F>>(at + l * sizeof(F)), std::bit_cast<BitsOf<F>>(expected[l])) << text << " MODE " << mode;
    }
  }
}

TEST(Flat, FloatSumsInMemory) {
  check_sums_in_memory<float>("global_atomic_add_f32 v[0:1], v2, off", {false, false});
  check_sums_in_memory<double>("global_atomic_add_f64 v[0:1], v[2:3], off", {true, true});
  check_sums_in_memory<double>("flat_atomic_add_f64 v[0:1], v[2:3]", {true, true});
}

TEST(Flat, PackedHalfSumsKeepDenormals) {
  FlatMachine m;
  m.wave.target = Target::gfx90a;
  std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
  m.wave.mode.bits = 0;  // flush everything
  m.wave.set_exec(1);
  m.set_address(0, kBase);
  write<std::uint32_t>(at, 0x83ff0001);
  m.v(2, 0) = 0x00010002;
  m.run({"global_atomic_pk_add_f16 v3, v[0:1], v2, off glc"});
  EXPECT_EQ(m.v(3, 0), 0x83ff0001U);
  EXPECT_EQ(read<std::uint32_t>(at), 0x83fe0003U);
}

}  // namespace
}  // namespace lacuna::isa::test
