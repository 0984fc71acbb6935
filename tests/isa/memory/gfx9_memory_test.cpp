// Tests the memory instructions that gfx90a adds: offsets and scalar addresses of FLAT's segments, half registers, AGPRs as
// data, float atomics, loads to LDS, scalar memory's second offset, scratch and atomics, LDS addressed by lane.
#include <gtest/gtest.h>

#include <bit>

#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

struct Gfx9Machine : Machine {
  std::byte* at;
  std::vector<std::uint32_t> agprs = std::vector<std::uint32_t>(kVgprs * kLanes);
  Gfx9Machine() : at(memory.map(kBase, 65536, Access::read_write)) {
    wave.target = Target::gfx90a;
    wave.agpr = agprs.data();
    wave.agpr_count = kVgprs;
    wave.mode.bits = 0xf0;
    for (std::uint32_t k = 0; k < 16384; ++k) write<std::uint32_t>(at + k * 4, k * 4);
    wave.write64(2, kBase + 4096);
  }
  std::uint32_t& a(unsigned r, unsigned lane) { return agprs[r * kLanes + lane]; }
  void set_address(unsigned r, std::uint64_t base, unsigned step) {
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::uint64_t address = base + l * step;
      v(r, l) = static_cast<std::uint32_t>(address);
      v(r + 1, l) = static_cast<std::uint32_t>(address >> 32);
    }
  }
};

TEST(Gfx9Memory, OffsetsOfFlatAndGlobal) {
  for (const unsigned step : {4U, 12U}) {
    Gfx9Machine m;
    m.set_address(0, kBase + 4096, step);
    for (unsigned l = 0; l < kLanes; ++l) m.v(2, l) = l * step;
    m.run({"flat_load_dword v4, v[0:1] offset:4092", "global_load_dword v5, v[0:1], off offset:-4096",
           "global_load_dword v6, v2, s[2:3] offset:4092", "global_load_dwordx2 v[8:9], v2, s[2:3] offset:-8"});
    ASSERT_EQ(m.wave.event, Event::none);
    for (unsigned l = 0; l < kLanes; ++l) {
      EXPECT_EQ(m.v(4, l), 4096 + l * step + 4092);
      EXPECT_EQ(m.v(5, l), l * step);
      EXPECT_EQ(m.v(6, l), 4096 + l * step + 4092);
      EXPECT_EQ(m.v(8, l), 4096 + l * step - 8);
      EXPECT_EQ(m.v(9, l), 4096 + l * step - 4);
    }
  }
}

TEST(Gfx9Memory, GlobalDoesNotKnowApertures) {
  Gfx9Machine m;
  m.wave.shared_aperture = kBase & ~0xffffffffULL;  // addresses that FLAT would treat as LDS
  m.set_address(0, kBase, 4);
  m.run({"global_load_dword v4, v[0:1], off"});
  EXPECT_EQ(m.v(4, 5), 20U);
  m.run({"flat_load_dword v4, v[0:1]"});
  EXPECT_EQ(m.v(4, 5), 0U);
}

TEST(Gfx9Memory, AgprsAsData) {
  Gfx9Machine m;
  m.set_address(0, kBase, 16);
  m.run({"global_load_dwordx4 a[4:7], v[0:1], off"});
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(m.a(4 + k, l), l * 16 + k * 4);
    m.a(10, l) = 3000 + l;
    m.v(2, l) = l * 4;
  }
  m.run({"global_store_dword v[0:1], a10, off offset:4", "ds_write_b32 v2, a10", "ds_read_b32 a11, v2",
         "ds_read_b64 a[12:13], v2", "global_atomic_add a14, v[0:1], a10, off glc"});
  ASSERT_EQ(m.wave.event, Event::none);
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(read<std::uint32_t>(m.at + l * 16 + 4), 3000 + l);
    EXPECT_EQ(m.a(11, l), 3000 + l);
    EXPECT_EQ(m.a(13, l), l < 63 ? 3001 + l : 0U);
    EXPECT_EQ(m.a(14, l), l * 16);
    EXPECT_EQ(read<std::uint32_t>(m.at + l * 16), l * 16 + 3000 + l);
  }
}

// FLAT_SCRATCH is an address; dword d of lane l is at (d * 64 + l) * 4.
TEST(Gfx9Memory, ScratchByVgprAndBySgpr) {
  Gfx9Machine m;
  m.wave.write64(kFlatScratchLo, kBase + 8192);
  for (unsigned l = 0; l < kLanes; ++l) {
    m.v(0, l) = 8;
    m.v(1, l) = 100 + l;
    m.v(2, l) = 200 + l;
  }
  m.wave.sgpr[4] = 16;
  m.run({"scratch_store_dword v0, v1, off offset:4", "scratch_store_dword off, v2, s4 offset:-4",
         "scratch_load_dword v5, v0, off offset:4", "scratch_load_ubyte v6, off, s4 offset:-4",
         "scratch_load_dwordx2 v[8:9], v0, off offset:4"});
  ASSERT_EQ(m.wave.event, Event::none);
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(read<std::uint32_t>(m.at + 8192 + (3 * 64 + l) * 4), 200 + l) << "offsets 12 both";
    EXPECT_EQ(m.v(5, l), 200 + l);
    EXPECT_EQ(m.v(6, l), (200 + l) & 0xff);
    EXPECT_EQ(m.v(9, l), 8192 + (4 * 64 + l) * 4);
  }
  EXPECT_EQ(m.wave.access.space, MemoryAccess::Space::scratch);
}

TEST(Gfx9Memory, HalfRegistersKeepTheOtherHalf) {
  Gfx9Machine m;
  m.set_address(0, kBase, 2);
  for (unsigned l = 0; l < kLanes; ++l) {
    write<std::uint16_t>(m.at + l * 2, static_cast<std::uint16_t>(0x8091 + l));
    for (unsigned r = 2; r < 8; ++r) m.v(r, l) = 0xaaaabbbb;
    m.v(8, l) = l * 2;
    m.set_lds<std::uint16_t>(l * 2, static_cast<std::uint16_t>(0x8091 + l));
    m.v(9, l) = m.v(10, l) = 0xaaaabbbb;
    m.v(11, l) = 0x12345678;
  }
  m.run({"global_load_short_d16 v2, v[0:1], off", "global_load_short_d16_hi v3, v[0:1], off", "flat_load_ubyte_d16 v4, v[0:1]",
         "flat_load_sbyte_d16_hi v5, v[0:1]", "ds_read_u16_d16_hi v9, v8", "ds_read_i8_d16 v10, v8",
         "global_store_short_d16_hi v[0:1], v11, off offset:512", "ds_write_b8_d16_hi v8, v11 offset:1024"});
  ASSERT_EQ(m.wave.event, Event::none);
  for (unsigned l = 0; l < kLanes; ++l) {
    const std::uint32_t half = 0x8091 + l;
    const std::uint32_t byte = half & 0xff;
    const std::uint32_t extended = byte | 0xff00;
    EXPECT_EQ(m.v(2, l), 0xaaaa0000 | half);
    EXPECT_EQ(m.v(3, l), 0xbbbb | half << 16);
    EXPECT_EQ(m.v(4, l), 0xaaaa0000 | byte);
    EXPECT_EQ(m.v(5, l), 0xbbbb | extended << 16);
    EXPECT_EQ(m.v(9, l), 0xbbbb | half << 16);
    EXPECT_EQ(m.v(10, l), 0xaaaa0000 | extended);
    EXPECT_EQ(read<std::uint16_t>(m.at + 512 + l * 2), 0x1234);
    EXPECT_EQ(m.lds_at<std::uint8_t>(1024 + l * 2), 0x34);
  }
}

TEST(Gfx9Memory, FloatAtomics) {
  Gfx9Machine m;
  m.wave.set_exec(7);
  m.set_address(0, kBase, 0);
  for (unsigned l = 0; l < 3; ++l) {
    m.v(2, l) = std::bit_cast<std::uint32_t>(1.5F + static_cast<float>(l));
    const auto wide = std::bit_cast<std::uint64_t>(0.25 * (l + 1));
    m.v(4, l) = static_cast<std::uint32_t>(wide);
    m.v(5, l) = static_cast<std::uint32_t>(wide >> 32);
    m.v(6, l) = 0x3c004000;  // 2.0 and 1.0
  }
  write<float>(m.at, 10);
  write<double>(m.at + 8, 1);
  write<std::uint32_t>(m.at + 16, 0x42003800);  // 0.5 and 3.0
  write<double>(m.at + 24, 0.3);
  write<double>(m.at + 32, 0.3);
  m.run({"global_atomic_add_f32 v3, v[0:1], v2, off glc", "global_atomic_add_f64 v[0:1], v[4:5], off offset:8",
         "global_atomic_pk_add_f16 v[0:1], v6, off offset:16", "flat_atomic_min_f64 v[0:1], v[4:5] offset:24",
         "global_atomic_max_f64 v[0:1], v[4:5], off offset:32"});
  ASSERT_EQ(m.wave.event, Event::none);
  EXPECT_EQ(read<float>(m.at), 10 + 1.5F + 2.5F + 3.5F);
  EXPECT_EQ(std::bit_cast<float>(m.v(3, 1)), 11.5F);
  EXPECT_EQ(read<double>(m.at + 8), 2.5);
  EXPECT_EQ(read<std::uint32_t>(m.at + 16), 0x46004680U) << "6.5 and 6.0";
  EXPECT_EQ(read<double>(m.at + 24), 0.25);
  EXPECT_EQ(read<double>(m.at + 32), 0.75);
}

TEST(Gfx9Memory, LoadsToLds) {
  Gfx9Machine m;
  m.set_address(0, kBase, 8);
  m.wave.sgpr[kM0] = 256;
  // LLVM 16 has no syntax for the form in FLAT's segments: global_load_sshort v[0:1], off lds.
  m.step({0xdc008000 | 0x13 << 18 | 1 << 13 | 8, 0x007f0000});
  ASSERT_EQ(m.wave.event, Event::none);
  for (unsigned l = 0; l < kLanes; ++l) EXPECT_EQ(m.lds_at<std::uint32_t>(256 + 8 + l * 4), l * 8 + 8);
}

TEST(Gfx9Memory, ScalarOffsetsScratchAndAtomics) {
  Gfx9Machine m;
  m.wave.sgpr[4] = 64;
  m.wave.sgpr[5] = 2;
  m.run({"s_load_dword s8, s[2:3], -0x10", "s_load_dword s9, s[2:3], s4 offset:0x20", "s_load_dword s10, s[2:3], s4",
         "s_scratch_load_dword s11, s[2:3], s5"});
  EXPECT_EQ(m.wave.sgpr[8], 4096U - 16);
  EXPECT_EQ(m.wave.sgpr[9], 4096U + 64 + 32);
  EXPECT_EQ(m.wave.sgpr[10], 4096U + 64);
  EXPECT_EQ(m.wave.sgpr[11], 4096U + 2 * 64) << "an SGPR counts in 64 bytes";
  m.wave.sgpr[12] = 5;
  m.wave.write64(14, 0x100000005);
  write<std::uint64_t>(m.at + 4096 + 8, 7);
  m.run({"s_atomic_add s12, s[2:3], 0x0 glc", "s_atomic_sub_x2 s[14:15], s[2:3], 0x8"});
  EXPECT_EQ(m.wave.sgpr[12], 4096U);
  EXPECT_EQ(read<std::uint32_t>(m.at + 4096), 4101U);
  EXPECT_EQ(read<std::uint64_t>(m.at + 4096 + 8), 7 - 0x100000005ULL);
  EXPECT_EQ(m.wave.read64(14), 0x100000005U) << "nothing is returned without GLC";
}

TEST(Gfx9Memory, LdsByLaneAndCounters) {
  Gfx9Machine m;
  m.wave.sgpr[kM0] = 128;
  for (unsigned l = 0; l < kLanes; ++l) m.v(1, l) = 50 + l;
  m.run({"ds_write_addtid_b32 v1 offset:64", "ds_read_addtid_b32 v2 offset:68"});
  for (unsigned l = 0; l < kLanes; ++l) EXPECT_EQ(m.lds_at<std::uint32_t>(128 + 64 + l * 4), 50 + l);
  EXPECT_EQ(m.v(2, 9), 60U);
  m.wave.set_exec(0x1f);
  m.set_lds<std::uint32_t>(128 + 1024, 1000);
  m.run({"ds_append v3 offset:1024"});
  EXPECT_EQ(m.v(3, 4), 1000U);
  EXPECT_EQ(m.lds_at<std::uint32_t>(128 + 1024), 1005U);
  m.run({"ds_consume v3 offset:1024"});
  EXPECT_EQ(m.v(3, 0), 1005U);
  EXPECT_EQ(m.lds_at<std::uint32_t>(128 + 1024), 1000U);
}

TEST(Gfx9Memory, SwizzleRotatesAndReverses) {
  Gfx9Machine m;
  for (unsigned l = 0; l < kLanes; ++l) m.v(1, l) = l;
  // 0xc000: rotation, with its direction in bit 10 and its amount in bits 9:5; 0xe000: FFT (Vega ISA manual, DS_SWIZZLE_B32).
  m.run({"ds_swizzle_b32 v2, v1 offset:0xc060", "ds_swizzle_b32 v3, v1 offset:0xc4a0", "ds_swizzle_b32 v4, v1 offset:0xe000"});
  for (unsigned l = 0; l < kLanes; ++l) {
    const unsigned half = l & 32;
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < 5; ++bit) reversed |= (l >> bit & 1) << (4 - bit);
    EXPECT_EQ(m.v(2, l), half | ((l + 3) & 31));
    EXPECT_EQ(m.v(3, l), half | ((l - 5) & 31));
    EXPECT_EQ(m.v(4, l), half | reversed);
  }
}

}  // namespace
}  // namespace lacuna::isa::test
