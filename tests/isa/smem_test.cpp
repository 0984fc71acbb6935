// Scalar memory.
#include <gtest/gtest.h>

#include "tests/isa/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

constexpr std::uint64_t kBase = 0x7000000000;

TEST(ScalarMemory, LoadsOfEveryWidthAndItsRecord) {
  Machine m;
  std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
  for (std::uint32_t k = 0; k < 64; ++k) write<std::uint32_t>(at + k * 4, 100 + k);
  m.wave.write64(2, kBase + 3);  // low bits do not count
  m.wave.sgpr[4] = 0x21;
  m.run({"s_load_dword s0, s[2:3], 0x8"});
  EXPECT_EQ(m.wave.sgpr[0], 102U);
  EXPECT_EQ(m.wave.access.space, MemoryAccess::Space::scalar);
  EXPECT_EQ(m.wave.access.address[0], kBase + 8);
  EXPECT_EQ(m.wave.access.bytes_per_lane, 4);
  m.run({"s_load_dwordx16 s[16:31], s[2:3], s4"});
  for (unsigned k = 0; k < 16; ++k) EXPECT_EQ(m.wave.sgpr[16 + k], 109 + k);
  m.run({"s_load_dwordx2 s[2:3], s[2:3], 0x0"});  // overwrites its own base
  EXPECT_EQ(m.wave.sgpr[3], 101U);
}

TEST(ScalarMemory, LoadsAcrossTwoMappings) {
  Machine m;
  std::byte* low = m.memory.map(kBase, 4096, Access::read);
  std::byte* high = m.memory.map(kBase + 4096, 4096, Access::read);
  write<std::uint32_t>(low + 4092, 1);
  write<std::uint32_t>(high, 2);
  m.wave.write64(2, kBase + 4092);
  m.run({"s_load_dwordx2 s[0:1], s[2:3], 0x0"});
  EXPECT_EQ(m.wave.read64(0), 0x200000001U);
}

TEST(ScalarMemory, FaultsNameTheAddressAndWriteNothing) {
  Machine m;
  m.memory.map(kBase, 4096, Access::read);
  m.wave.write64(2, kBase + 4092);
  m.wave.write64(0, 0x1111222233334444);
  m.run({"s_load_dwordx2 s[0:1], s[2:3], 0x0"});
  EXPECT_EQ(m.wave.event, Event::memory_fault);
  EXPECT_EQ(m.wave.fault.reason, MemoryFault::Reason::not_mapped);
  EXPECT_EQ(m.wave.fault.address, kBase + 4096);
  EXPECT_EQ(m.wave.read64(0), 0x1111222233334444U);
  m.run({"s_store_dword s0, s[2:3], 0x0"});
  EXPECT_EQ(m.wave.fault.reason, MemoryFault::Reason::not_permitted);
  EXPECT_EQ(m.wave.fault.wanted, Access::write);
}

TEST(ScalarMemory, BufferLoadsAreBounded) {
  Machine m;
  std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
  for (std::uint32_t k = 0; k < 8; ++k) write<std::uint32_t>(at + k * 4, 1 + k);
  m.wave.write64(4, kBase);
  m.wave.sgpr[6] = 8;  // bytes, as the stride is zero
  m.wave.sgpr[7] = 0;
  m.run({"s_buffer_load_dwordx4 s[8:11], s[4:7], 0x0"});
  EXPECT_EQ(m.wave.read64(8), 0x200000001U);
  EXPECT_EQ(m.wave.read64(10), 0U);
  m.run({"s_buffer_store_dword s8, s[4:7], 0x8"});  // outside
  EXPECT_EQ(read<std::uint32_t>(at + 8), 3U);
}

TEST(ScalarMemory, TimeAndCacheControl) {
  Machine m;
  m.wave.clock = 0x123456789;
  m.wave.real_time = 42;
  m.run({"s_memtime s[0:1]", "s_memrealtime s[2:3]"});
  EXPECT_EQ(m.wave.read64(0), 0x123456789U);
  EXPECT_EQ(m.wave.read64(2), 42U);
  m.run({"s_dcache_inv"});
  EXPECT_EQ(m.wave.event, Event::cache_invalidate);
}

TEST(ScalarMemory, WindowIsLookedUpOnceAndAgainAfterRemapping) {
  Machine m;
  m.memory.map(kBase, 4096, Access::read);
  m.wave.write64(2, kBase);
  m.run({"s_load_dword s0, s[2:3], 0x0", "s_load_dword s0, s[2:3], 0x4", "s_load_dword s0, s[2:3], 0x8"});
  EXPECT_EQ(m.memory.finds, 1U);
  m.memory.unmap(kBase);
  m.run({"s_load_dword s0, s[2:3], 0x0"});
  EXPECT_EQ(m.wave.event, Event::memory_fault);
}

}  // namespace
}  // namespace lacuna::isa::test
