// Tests accesses to private memory by buffer, FLAT and SCRATCH instructions: a lane can access all of its part and nothing
// beyond.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

constexpr std::uint64_t kPool = 0x7000000000;
constexpr unsigned kPoolBytes = 1 << 16;
constexpr unsigned kSlot = 5;
constexpr unsigned kSlotBytes = 8192;
constexpr std::int64_t kLaneBytes = 40;
constexpr std::uint64_t kPrivateAperture = 0x2000000000000;
constexpr std::uint32_t kStackBytes = 16;  // bytes of a lane below the stack pointer

/// Instructions that access private memory at the lanes' offsets in v0 (v1: the aperture's high half), and the constant that
/// they add to the offsets.
struct Way {
  std::string load;
  std::string store;
  std::int64_t constant = 0;
};

struct PrivateMachine : Machine {
  std::byte* pool;
  explicit PrivateMachine(Target target) : pool(memory.map(kPool, kPoolBytes, Access::read_write)) {
    wave.target = target;
    wave.private_aperture = kPrivateAperture;
    const std::uint64_t base = kPool + kSlot * kSlotBytes;
    wave.private_segment = {.pool = kPool, .pool_bytes = kPoolBytes, .base = base, .lane_bytes = kLaneBytes};
    // s[4:7]: buffer whose base includes the wavefront's offset, as in current kernels; s[8:11]: without the offset, as in
    // older kernels.
    for (const unsigned at : {4U, 8U}) {
      const std::uint64_t start = at == 4 ? base : kPool;
      wave.sgpr[at] = static_cast<std::uint32_t>(start);
      wave.sgpr[at + 1] = static_cast<std::uint32_t>(start >> 32) | 1U << 31;
      wave.sgpr[at + 2] = kPoolBytes;
      wave.sgpr[at + 3] = 1U << 19 | 3U << 21 | 1U << 23 | 4U << 15;
    }
    wave.sgpr[12] = kStackBytes * kLanes;
    wave.sgpr[13] = kSlot * kSlotBytes;
    if (target == Target::gfx803) {
      wave.scratch_base = kPool;
      wave.sgpr[kFlatScratchHi] = kSlot * kSlotBytes / 256;
      wave.sgpr[kFlatScratchLo] = kLaneBytes;
    } else {
      wave.write64(kFlatScratchLo, base);
    }
  }
  void set_offset(unsigned lane, std::int64_t offset) {
    v(0, lane) = static_cast<std::uint32_t>(offset);
    v(1, lane) = static_cast<std::uint32_t>(kPrivateAperture >> 32);
  }
};

std::vector<Way> ways(Target target) {
  std::vector<Way> all = {
      {"buffer_load_{} {}, v0, s[4:7], 0 offen", "buffer_store_{} {}, v0, s[4:7], 0 offen"},
      {"buffer_load_{} {}, v0, s[4:7], s12 offen", "buffer_store_{} {}, v0, s[4:7], s12 offen", kStackBytes},
      {"buffer_load_{} {}, v0, s[4:7], 0 offen offset:12", "buffer_store_{} {}, v0, s[4:7], 0 offen offset:12", 12},
      {"buffer_load_{} {}, v0, s[8:11], s13 offen", "buffer_store_{} {}, v0, s[8:11], s13 offen"},
      {"flat_load_{} {}, v[0:1]", "flat_store_{} {}, v[0:1]"}};
  if (target == Target::gfx803) return all;
  all.push_back({"scratch_load_{} {}, v0, off", "scratch_store_{} v0, {}, off"});
  all.push_back({"scratch_load_{} {}, v0, off offset:12", "scratch_store_{} v0, {}, off offset:12", 12});
  return all;
}

struct Width {
  const char* load;
  const char* store;
  const char* registers;
  unsigned bytes;
};
constexpr Width kWidths[] = {{"ubyte", "byte", "v2", 1},           {"ushort", "short", "v2", 2},
                             {"dword", "dword", "v2", 4},          {"dwordx2", "dwordx2", "v[2:3]", 8},
                             {"dwordx3", "dwordx3", "v[2:4]", 12}, {"dwordx4", "dwordx4", "v[2:5]", 16}};

std::string line(std::string text, const char* width, const Width& w) {
  std::string registers = w.registers;
  const auto put = [&](const std::string& part) { text.replace(text.find("{}"), 2, part); };
  put(width);
  // In FLAT stores the address is the first operand.
  if (text.starts_with("flat_store")) {
    text.replace(text.find("{}, v[0:1]"), 10, "v[0:1], " + registers);
  } else {
    put(registers);
  }
  return text;
}

class PrivateMemoryTest : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(Targets, PrivateMemoryTest, testing::Values(Target::gfx803, Target::gfx90a),
                         [](const auto& target) { return std::string(traits(target.param).name); });

TEST_P(PrivateMemoryTest, ALaneReachesItsPartAndNothingBeyond) {
  std::vector<std::string> lines;
  for (const Way& way : ways(GetParam())) {
    for (const Width& width : kWidths) {
      lines.push_back(line(way.load, width.load, width));
      lines.push_back(line(way.store, width.store, width));
    }
  }
  const auto code = assemble_by_llvm(lines, GetParam());
  ASSERT_EQ(code.size(), lines.size());
  PrivateMachine m(GetParam());
  std::size_t next = 0;
  for (const Way& way : ways(GetParam())) {
    for (const Width& width : kWidths) {
      for (const bool store : {false, true}) {
        const std::size_t instruction = next++;
        for (std::int64_t offset = -20; offset < kLaneBytes + 20; ++offset) {
          const unsigned lane = static_cast<unsigned>(offset + 20) * 7 % kLanes;
          // The sum of VGPR and constant has 32 bits; the stack pointer is added to it without losing a carry.
          const bool by_stack = way.load.find("s12") != std::string::npos;
          if (by_stack && offset < way.constant) continue;
          for (unsigned l = 0; l < kLanes; ++l) m.set_offset(l, by_stack ? 0 : -way.constant);
          m.set_offset(lane, offset - way.constant);
          // FLAT addresses below the aperture do not access private memory.
          if (way.load.starts_with("flat") && offset < 0) continue;
          const std::vector<std::byte> before(m.pool, m.pool + kPoolBytes);
          m.v(2, lane) = 0xa5a5a5a5;
          m.step(code[instruction]);
          const bool inside = offset >= 0 && offset + width.bytes <= kLaneBytes;
          ASSERT_EQ(m.wave.event, inside ? Event::none : Event::memory_fault) << lines[instruction] << ", offset " << offset;
          if (inside) continue;
          EXPECT_EQ(m.wave.fault.reason, MemoryFault::Reason::private_out_of_range) << lines[instruction];
          EXPECT_EQ(m.wave.fault.lane, lane) << lines[instruction];
          EXPECT_EQ(static_cast<std::int64_t>(m.wave.fault.address), offset) << lines[instruction];
          EXPECT_EQ(m.wave.fault.bytes, width.bytes);
          EXPECT_EQ(m.wave.fault.wanted, store ? Access::write : Access::read);
          EXPECT_TRUE(std::equal(before.begin(), before.end(), m.pool)) << lines[instruction] << " has stored";
          m.wave.event = Event::none;
        }
      }
    }
  }
}

// Stack pointers that an endless recursion would reach: beyond the lane's part, beyond the wavefront's part, and beyond the
// whole pool.
TEST_P(PrivateMemoryTest, AStackPointerBeyondTheEndIsFound) {
  const auto code = assemble_by_llvm(
      {"buffer_store_dword v2, off, s[4:7], s12", "buffer_load_dword v2, off, s[4:7], s12 offset:4"}, GetParam());
  for (const std::uint32_t stack : {40U, 128U, 512U, 1U << 20}) {
    for (const auto& words : code) {
      PrivateMachine m(GetParam());
      m.wave.sgpr[12] = stack * kLanes;
      m.wave.set_exec(1ULL << 9 | 1ULL << 33);
      m.step(words);
      ASSERT_EQ(m.wave.event, Event::memory_fault) << stack;
      EXPECT_EQ(m.wave.fault.reason, MemoryFault::Reason::private_out_of_range);
      EXPECT_EQ(m.wave.fault.lane, 9U);
      EXPECT_EQ(m.wave.fault.address, stack + (&words == &code[1] ? 4 : 0));
    }
  }
}

// On gfx9 LLVM folds constants into the instruction although the remaining address may be negative.
TEST_P(PrivateMemoryTest, ANegativeAddressPlusAConstantMayBeInside) {
  PrivateMachine m(GetParam());
  for (unsigned l = 0; l < kLanes; ++l) {
    m.set_offset(l, -8);
    m.v(2, l) = 3000 + l;
  }
  m.run({"buffer_store_dword v2, v0, s[4:7], 0 offen offset:20"});
  ASSERT_EQ(m.wave.event, Event::none);
  for (unsigned l = 0; l < kLanes; ++l)
    EXPECT_EQ(read<std::uint32_t>(m.pool + kSlot * kSlotBytes + (3 * kLanes + l) * 4), 3000 + l);
}

// Other buffers with the same format are not private memory. If the queue has no private memory, no buffer is private memory.
TEST_P(PrivateMemoryTest, OtherBuffersHaveNoSuchBound) {
  PrivateMachine m(GetParam());
  for (unsigned l = 0; l < kLanes; ++l) m.set_offset(l, 44);
  m.wave.private_segment.pool = kPool + kPoolBytes;
  m.run({"buffer_load_dword v2, v0, s[4:7], 0 offen"});
  EXPECT_EQ(m.wave.event, Event::none);
  m.wave.private_segment = {};
  m.run({"buffer_load_dword v2, v0, s[4:7], 0 offen"});
  EXPECT_EQ(m.wave.event, Event::none);
}

// A dispatch without private memory, on a queue with private memory.
TEST_P(PrivateMemoryTest, WithoutPrivateMemoryEveryAccessFaults) {
  PrivateMachine m(GetParam());
  for (unsigned l = 0; l < kLanes; ++l) m.set_offset(l, 0);
  m.wave.private_segment.lane_bytes = 0;
  m.run({"buffer_load_ubyte v2, v0, s[4:7], 0 offen"});
  EXPECT_EQ(m.wave.event, Event::memory_fault);
  EXPECT_EQ(m.wave.fault.address, 0U);
}

}  // namespace
}  // namespace lacuna::isa::test
