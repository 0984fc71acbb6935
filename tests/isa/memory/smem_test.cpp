// Tests SMEM instructions: loads, buffers, faults, clocks and cache control, atomics.
#include <gtest/gtest.h>

#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

TEST(ScalarMemory, LoadsOfEveryWidthAndItsRecord) {
  Machine m;
  std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
  for (std::uint32_t k = 0; k < 64; ++k) write<std::uint32_t>(at + k * 4, 100 + k);
  m.wave.write64(2, kBase + 3);  // low bits are ignored
  m.wave.sgpr[4] = 0x21;
  m.run({"s_load_dword s0, s[2:3], 0x8"});
  EXPECT_EQ(m.wave.sgpr[0], 102U);
  EXPECT_EQ(m.wave.access.space, MemoryAccess::Space::scalar);
  EXPECT_EQ(m.wave.access.scalar_address, kBase + 8);
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
  m.wave.sgpr[6] = 8;  // NUM_RECORDS in bytes, as the stride is zero
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

// Tests gfx9's scalar atomics against plain arithmetic, by address and through a buffer.
template <typename U>
void check_atomics(const std::string& suffix) {
  using S = std::make_signed_t<U>;
  struct Operation {
    const char* name;
    U (*result)(U old, U data);
  };
  static constexpr Operation kOperations[] = {
      {"swap", [](U, U data) { return data; }},
      {"add", [](U old, U data) { return old + data; }},
      {"sub", [](U old, U data) { return old - data; }},
      {"smin", [](U old, U data) { return static_cast<S>(old) < static_cast<S>(data) ? old : data; }},
      {"umin", [](U old, U data) { return old < data ? old : data; }},
      {"smax", [](U old, U data) { return static_cast<S>(old) > static_cast<S>(data) ? old : data; }},
      {"umax", [](U old, U data) { return old > data ? old : data; }},
      {"and", [](U old, U data) { return old & data; }},
      {"or", [](U old, U data) { return old | data; }},
      {"xor", [](U old, U data) { return old ^ data; }},
      {"inc", [](U old, U data) { return old >= data ? U{0} : old + 1; }},
      {"dec", [](U old, U data) { return old == 0 || old > data ? data : old - 1; }},
  };
  const std::string data = sizeof(U) == 4 ? "s8" : "s[8:9]";
  constexpr U kTop = U{1} << (sizeof(U) * 8 - 1);
  for (const Operation& operation : kOperations) {
    const std::string name = std::string(operation.name) + suffix + " " + data;
    const auto code = assemble_by_llvm({"s_atomic_" + name + ", s[2:3], 0x10 glc", "s_buffer_atomic_" + name + ", s[4:7], 0x10",
                                        "s_buffer_atomic_" + name + ", s[4:7], 0x20 glc"},
                                       Target::gfx90a);
    for (const U old : {U{0}, U{1}, U{100}, kTop, static_cast<U>(kTop - 1), static_cast<U>(~U{0})}) {
      for (const U value : {U{0}, U{5}, U{100}, static_cast<U>(kTop + 3), static_cast<U>(~U{0})}) {
        Machine m;
        m.wave.target = Target::gfx90a;
        std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
        m.wave.write64(2, kBase);
        m.wave.write64(4, kBase);
        m.wave.sgpr[6] = 0x20;
        m.wave.write64(8, value);
        write<U>(at + 16, old);
        m.step(code[1]);
        EXPECT_EQ(read<U>(at + 16), operation.result(old, value)) << name;
        EXPECT_EQ(static_cast<U>(m.wave.read64(8)), value) << name;
        write<U>(at + 16, old);
        m.step(code[0]);
        EXPECT_EQ(read<U>(at + 16), operation.result(old, value)) << name;
        EXPECT_EQ(static_cast<U>(m.wave.read64(8)), old) << name;
        m.step(code[2]);  // beyond the buffer
        EXPECT_EQ(m.wave.event, Event::none);
        EXPECT_EQ(read<U>(at + 32), U{0}) << name;
        EXPECT_EQ(static_cast<U>(m.wave.read64(8)), U{0}) << name;
      }
    }
  }
}

TEST(ScalarMemory, Atomics) {
  check_atomics<std::uint32_t>("");
  check_atomics<std::uint64_t>("_x2");
}

TEST(ScalarMemory, CompareAndSwapAndMisalignedAtomics) {
  Machine m;
  m.wave.target = Target::gfx90a;
  std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
  m.wave.write64(2, kBase);
  write<std::uint64_t>(at, 7);
  m.wave.write64(8, 9);   // new
  m.wave.write64(10, 7);  // comparand
  m.run({"s_atomic_cmpswap_x2 s[8:11], s[2:3], 0x0 glc"});
  EXPECT_EQ(read<std::uint64_t>(at), 9U);
  EXPECT_EQ(m.wave.read64(8), 7U);
  m.wave.sgpr[12] = 1;
  m.wave.sgpr[13] = 8;
  m.run({"s_atomic_cmpswap s[12:13], s[2:3], 0x0 glc"});
  EXPECT_EQ(read<std::uint64_t>(at), 9U) << "differs from 8";
  EXPECT_EQ(m.wave.sgpr[12], 9U);
  m.run({"s_atomic_add_x2 s[8:9], s[2:3], 0x4"});
  EXPECT_EQ(m.wave.event, Event::memory_fault);
  EXPECT_EQ(m.wave.fault.reason, MemoryFault::Reason::misaligned);
}

}  // namespace
}  // namespace lacuna::isa::test
