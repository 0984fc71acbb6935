// Tests MUBUF instructions: addressing by descriptor, range checks, swizzled scratch, atomics, faults.
#include <gtest/gtest.h>

#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

struct BufferMachine : Machine {
  std::byte* at;
  BufferMachine() : at(memory.map(kBase, 65536, Access::read_write)) {
    for (std::uint32_t k = 0; k < 16384; ++k) write<std::uint32_t>(at + k * 4, k * 4);
  }
  void descriptor(std::uint32_t stride, bool swizzle, std::uint32_t records, std::uint32_t word3) {
    wave.sgpr[4] = static_cast<std::uint32_t>(kBase);
    wave.sgpr[5] = static_cast<std::uint32_t>(kBase >> 32) | stride << 16 | (swizzle ? 1U << 31 : 0);
    wave.sgpr[6] = records;
    wave.sgpr[7] = word3;
  }
};

TEST(Buffer, LinearAddressing) {
  BufferMachine m;
  m.descriptor(16, false, 65536, 0);
  m.wave.sgpr[8] = 1024;
  for (unsigned l = 0; l < kLanes; ++l) {
    m.v(0, l) = l;      // index, in records
    m.v(1, l) = l % 4;  // offset, in bytes
    m.v(2, l) = l * 4;
  }
  m.run({"buffer_load_dword v3, v2, s[4:7], s8 offen offset:8", "buffer_load_dword v4, v0, s[4:7], 0 idxen offset:4",
         "buffer_load_ubyte v5, v[0:1], s[4:7], 0 idxen offen", "buffer_load_dword v6, off, s[4:7], 0 offset:12"});
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(m.v(3, l), 1024 + l * 4 + 8);
    EXPECT_EQ(m.v(4, l), l * 16 + 4);
    EXPECT_EQ(m.v(5, l), l % 4 == 0 ? (l * 16) & 0xff : (l % 4 == 1 ? (l * 16) >> 8 : 0));
    EXPECT_EQ(m.v(6, l), 12U);
  }
}

TEST(Buffer, OutOfRangeReadsZeroAndWritesNothing) {
  BufferMachine m;
  m.descriptor(0, false, 64, 0);
  for (unsigned l = 0; l < kLanes; ++l) {
    m.v(0, l) = 56 + l * 4;
    m.v(1, l) = 0xdead;
    m.v(2, l) = 0xbeef;
  }
  m.run({"buffer_load_dword v1, v0, s[4:7], 0 offen"});
  EXPECT_EQ(m.wave.event, Event::none);
  EXPECT_EQ(m.v(1, 1), 60U);
  EXPECT_EQ(m.v(1, 2), 0U);
  EXPECT_EQ(m.wave.access.lanes, 3U) << "only lanes in range access memory";
  m.run({"buffer_store_dword v2, v0, s[4:7], 0 offen offset:4"});
  EXPECT_EQ(read<std::uint32_t>(m.at + 60), 0xbeefU);
  EXPECT_EQ(read<std::uint32_t>(m.at + 64), 64U);
}

TEST(Buffer, SwizzledStructuresAreCheckedByIndex) {
  BufferMachine m;
  m.descriptor(8, true, 20, 0 << 19 | 0 << 21);  // 20 records of 8 bytes, elements of 2 bytes, 8 records interleaved
  for (unsigned l = 0; l < kLanes; ++l) m.v(0, l) = l;
  m.run({"buffer_load_ushort v1, v0, s[4:7], 0 idxen offset:2"});
  for (unsigned l = 0; l < 20; ++l) {
    const unsigned offset = ((l / 8) * 8 + 2) * 8 + l % 8 * 2;
    EXPECT_EQ(m.v(1, l), offset % 4 == 0 ? offset : 0U) << l;
  }
  EXPECT_EQ(m.v(1, 20), 0U);
  EXPECT_EQ(m.wave.access.lanes, (1U << 20) - 1);
}

TEST(Buffer, ScratchDescriptorInterleavesLanes) {
  BufferMachine m;
  // Scratch descriptor as the queue sets it up: swizzle, elements of 4 bytes, 64 lanes interleaved, lane number added.
  m.descriptor(0, true, 65536, 1U << 19 | 3U << 21 | 1U << 23 | 4U << 15);
  m.wave.sgpr[8] = 4096;
  for (unsigned l = 0; l < kLanes; ++l) {
    m.v(0, l) = 8;
    m.v(1, l) = 500 + l;
    m.v(2, l) = 700 + l;
  }
  m.run({"buffer_store_dword v1, off, s[4:7], s8 offset:4", "buffer_store_dword v2, v0, s[4:7], s8 offen offset:4",
         "buffer_load_dwordx2 v[3:4], off, s[4:7], s8 offset:4", "buffer_load_ubyte v5, off, s[4:7], s8 offset:5"});
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(read<std::uint32_t>(m.at + 4096 + 64 * 4 + l * 4), 500 + l);
    EXPECT_EQ(read<std::uint32_t>(m.at + 4096 + 3 * 64 * 4 + l * 4), 700 + l);
    EXPECT_EQ(m.v(3, l), 500 + l);
    EXPECT_EQ(m.v(4, l), 4096 + 2 * 64 * 4 + l * 4) << "the next element of the same lane";
    EXPECT_EQ(m.v(5, l), (500 + l) >> 8);
  }
  EXPECT_EQ(m.addresses.global[2], kBase + 4096 + 256 + 9);
}

TEST(Buffer, AtomicsAndFaults) {
  BufferMachine m;
  m.descriptor(0, false, 0x80000000, 0);
  m.wave.set_exec(3);
  m.v(0, 0) = m.v(0, 1) = 0;
  m.v(1, 0) = 5;
  m.v(1, 1) = 6;
  write<std::uint32_t>(m.at, 100);
  m.run({"buffer_atomic_add v1, v0, s[4:7], 0 offen glc"});
  EXPECT_EQ(read<std::uint32_t>(m.at), 111U);
  EXPECT_EQ(m.v(1, 0), 100U);
  EXPECT_EQ(m.v(1, 1), 105U);
  m.v(0, 1) = 65536;
  m.run({"buffer_load_dword v2, v0, s[4:7], 0 offen"});
  EXPECT_EQ(m.wave.event, Event::memory_fault);
  EXPECT_EQ(m.wave.fault.lane, 1U);
  EXPECT_EQ(m.wave.fault.address, kBase + 65536);
  m.run({"buffer_wbinvl1"});
  EXPECT_EQ(m.wave.event, Event::cache_invalidate);
}

}  // namespace
}  // namespace lacuna::isa::test
