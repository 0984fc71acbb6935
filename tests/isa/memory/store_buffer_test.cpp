// Tests the store buffer, the loads and stores of wavefronts with a store buffer, and accesses that are deferred because of it.
#include "models/isa/memory/store_buffer.h"

#include <gtest/gtest.h>

#include <random>

#include "models/isa/memory/deferred_access.h"
#include "models/isa/memory/memory_lanes.h"
#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

// -- the buffer

struct Memory {
  alignas(64) std::array<std::byte, 65536> bytes{};
  std::byte* at(std::size_t offset) { return bytes.data() + offset; }
};

std::vector<std::byte> filled(std::size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

TEST(StoreBuffer, KeepsStoresUntilTheFlush) {
  const auto memory = std::make_unique<Memory>();
  StoreBuffer buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_FALSE(buffer.may_hold(memory->at(0), 65536));
  buffer.store(memory->at(60), filled(8, 7).data(), 8);  // two lines
  EXPECT_FALSE(buffer.empty());
  EXPECT_EQ(memory->bytes[60], std::byte{0});

  auto seen = filled(16, 1);
  EXPECT_TRUE(buffer.overlay(memory->at(56), seen.data(), 16));
  for (unsigned k = 0; k < 16; ++k) EXPECT_EQ(seen[k], static_cast<std::byte>(k >= 4 && k < 12 ? 7 : 1)) << k;
  EXPECT_FALSE(buffer.overlay(memory->at(0), seen.data(), 16));  // another part of the line

  buffer.flush();
  for (unsigned k = 0; k < 128; ++k) EXPECT_EQ(memory->bytes[k], static_cast<std::byte>(k >= 60 && k < 68 ? 7 : 0)) << k;
  EXPECT_TRUE(buffer.empty());
  EXPECT_FALSE(buffer.overlay(memory->at(60), seen.data(), 8));
}

TEST(StoreBuffer, RangeTestHoldsLinesOnly) {
  const auto memory = std::make_unique<Memory>();
  StoreBuffer buffer;
  buffer.store(memory->at(640), filled(4, 1).data(), 4);
  buffer.store(memory->at(1280), filled(4, 1).data(), 4);
  EXPECT_FALSE(buffer.may_hold(memory->at(0), 640));
  EXPECT_TRUE(buffer.may_hold(memory->at(0), 641));
  EXPECT_TRUE(buffer.may_hold(memory->at(1343), 4));
  EXPECT_FALSE(buffer.may_hold(memory->at(1344), 4));
}

TEST(StoreBuffer, LineTestMissesNoStore) {
  const auto memory = std::make_unique<Memory>();
  StoreBuffer buffer;
  buffer.store(memory->at(0), filled(4, 1).data(), 4);
  buffer.store(memory->at(4096), filled(4, 1).data(), 4);
  EXPECT_TRUE(buffer.may_meet(memory->at(4096), 4));
  EXPECT_TRUE(buffer.may_meet(memory->at(4092), 8)) << "begins in the line before";
  // may_meet() may also be true for a line that has not been stored to but shares a table entry with one of the two stored
  // lines; few lines do.
  unsigned met = 0;
  for (std::size_t line = 64; line < 4096; line += 64) {
    ASSERT_TRUE(buffer.may_hold(memory->at(line), 4));
    met += buffer.may_meet(memory->at(line), 4) ? 1 : 0;
  }
  EXPECT_LT(met, 8U);
  buffer.flush();
  EXPECT_FALSE(buffer.may_meet(memory->at(4096), 4));
}

TEST(StoreBuffer, MarksLinesUntilTheFlush) {
  const auto memory = std::make_unique<Memory>();
  StoreBuffer buffer;
  EXPECT_FALSE(buffer.any_deferred());
  buffer.mark_deferred(memory->at(124), 8);
  EXPECT_TRUE(buffer.any_deferred());
  EXPECT_FALSE(buffer.deferred(memory->at(0), 64));
  EXPECT_TRUE(buffer.deferred(memory->at(0), 65));
  EXPECT_TRUE(buffer.deferred(memory->at(191), 1));
  EXPECT_FALSE(buffer.deferred(memory->at(192), 1));
  auto seen = filled(8, 3);
  EXPECT_FALSE(buffer.overlay(memory->at(124), seen.data(), 8));  // nothing has been stored
  buffer.flush();
  EXPECT_FALSE(buffer.any_deferred());
  EXPECT_FALSE(buffer.deferred(memory->at(124), 8));
  EXPECT_EQ(memory->bytes[124], std::byte{0});
}

// The buffer agrees with plain memory over several windows, with many lines (the table grows) and with few lines (each is
// removed individually).
TEST(StoreBuffer, AgreesWithMemory) {
  const auto memory = std::make_unique<Memory>();
  const auto model = std::make_unique<Memory>();
  StoreBuffer buffer;
  std::mt19937 random(1);
  for (unsigned window = 0; window < 40; ++window) {
    const unsigned stores = window % 4 == 0 ? 2000 : 10;
    for (unsigned i = 0; i < stores; ++i) {
      const std::size_t bytes = 1 + random() % 100;
      const std::size_t at = random() % (memory->bytes.size() - bytes);
      const auto data = filled(bytes, static_cast<int>(random() % 256));
      buffer.store(memory->at(at), data.data(), bytes);
      std::memcpy(model->at(at), data.data(), bytes);
      const std::size_t from = random() % (memory->bytes.size() - 256);
      std::array<std::byte, 256> seen;
      std::memcpy(seen.data(), memory->at(from), seen.size());
      buffer.overlay(memory->at(from), seen.data(), seen.size());
      ASSERT_EQ(std::memcmp(seen.data(), model->at(from), seen.size()), 0) << "window " << window;
    }
    buffer.flush();
    ASSERT_EQ(std::memcmp(memory->at(0), model->at(0), memory->bytes.size()), 0) << "window " << window;
  }
}

// -- instructions

// Lanes' addresses in v[0:1], `stride` bytes apart; data in v2 to v5.
struct Buffered : Machine {
  explicit Buffered(Target target = Target::gfx90a, std::uint64_t stride = 4) {
    wave.target = target;
    wave.stores = &buffer;
    bytes = memory.map(kBase, 65536, Access::read_write);
    place_lanes([stride](unsigned l) { return kBase + l * stride; });
    for (unsigned l = 0; l < kLanes; ++l) {
      for (unsigned r = 2; r < 6; ++r) v(r, l) = r * 1000 + l;
    }
    wave.write64(2, kBase);
  }
  template <typename AddressOf>
  void place_lanes(AddressOf&& address_of) {
    for (unsigned l = 0; l < kLanes; ++l) {
      v(0, l) = static_cast<std::uint32_t>(address_of(l));
      v(1, l) = static_cast<std::uint32_t>(address_of(l) >> 32);
    }
  }
  void execute(const char* line) {
    step(assemble_by_llvm({line}, wave.target)[0]);
    ASSERT_EQ(wave.event, Event::none) << line;
    if (!wave.access.deferred) return;
    auto& access = deferred.emplace_back(std::make_unique<DeferredAccess>());
    instructions.push_back(std::make_unique<Instruction>(decoded(line)));
    access->capture(*instructions.back(), wave);
  }
  Instruction decoded(const char* line) {
    const auto words = assemble_by_llvm({line}, wave.target)[0];
    return decode(words.data(), static_cast<unsigned>(words.size()), wave.target).instruction;
  }
  void end_window() {
    buffer.flush();
    for (const auto& access : deferred) performer.perform(*access);
    deferred.clear();
  }
  std::uint32_t word(std::size_t offset) const {
    std::uint32_t value;
    std::memcpy(&value, bytes + offset, 4);
    return value;
  }

  StoreBuffer buffer;
  DeferredAccessPerformer performer;
  std::vector<std::unique_ptr<DeferredAccess>> deferred;
  std::vector<std::unique_ptr<Instruction>> instructions;
  std::byte* bytes;
};

struct StoreCase {
  Target target;
  const char* store;
  const char* load;
  unsigned words;
  std::uint64_t stride;
};

class StoresAreSeen : public testing::TestWithParam<StoreCase> {};

TEST_P(StoresAreSeen, ByLoadsOfTheGroupImmediatelyByMemoryLater) {
  const StoreCase& c = GetParam();
  Buffered m(c.target, c.stride);
  m.execute(c.store);
  EXPECT_FALSE(m.wave.access.deferred);
  for (std::size_t at = 0; at < 4096; at += 4) ASSERT_EQ(m.word(at), 0U) << at;
  m.execute(c.load);
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned k = 0; k < c.words; ++k) EXPECT_EQ(m.v(8 + k, l), (2 + k) * 1000 + l) << l;
  }
  m.end_window();
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned k = 0; k < c.words; ++k) EXPECT_EQ(m.word(l * c.stride + k * 4), (2 + k) * 1000 + l) << l;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, StoresAreSeen,
    testing::Values(StoreCase{Target::gfx803, "flat_store_dword v[0:1], v2", "flat_load_dword v8, v[0:1]", 1, 4},
                    StoreCase{Target::gfx90a, "global_store_dword v[0:1], v2, off", "global_load_dword v8, v[0:1], off", 1, 4},
                    StoreCase{Target::gfx90a, "global_store_dwordx4 v[0:1], v[2:5], off",
                              "global_load_dwordx4 v[8:11], v[0:1], off", 4, 16},
                    StoreCase{Target::gfx90a, "global_store_dwordx4 v[0:1], v[2:5], off",
                              "global_load_dwordx4 v[8:11], v[0:1], off", 4, 60},
                    StoreCase{Target::gfx803, "flat_store_dwordx2 v[0:1], v[2:3]", "flat_load_dwordx2 v[8:9], v[0:1]", 2, 84}));

TEST(StoreBufferInstructions, ScalarStoresAndLoads) {
  Buffered m;
  m.wave.write64(4, 0x1122334455667788);
  m.execute("s_store_dwordx2 s[4:5], s[2:3], 0x40");
  EXPECT_EQ(m.word(0x40), 0U);
  m.execute("s_load_dwordx4 s[8:11], s[2:3], 0x3c");
  EXPECT_EQ(m.wave.sgpr[8], 0U);
  EXPECT_EQ(m.wave.sgpr[9], 0x55667788U);
  EXPECT_EQ(m.wave.sgpr[10], 0x11223344U);
  m.end_window();
  EXPECT_EQ(m.word(0x40), 0x55667788U);
}

TEST(StoreBufferInstructions, HalvesAndBytes) {
  Buffered m;
  m.execute("global_store_byte v[0:1], v2, off");
  m.execute("global_store_short_d16_hi v[0:1], v3, off offset:2");
  m.execute("global_load_dword v8, v[0:1], off");
  m.execute("global_load_short_d16_hi v9, v[0:1], off");
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(m.v(8, l), (2000 + l) & 0xff);
    EXPECT_EQ(m.v(9, l) >> 16, (2000 + l) & 0xff);
  }
}

TEST(StoreBufferInstructions, BytesOfALaneInTwoMappings) {
  Buffered m;
  std::byte* second = m.memory.map(kBase + 65536, 4096, Access::read_write);
  m.wave.set_exec(1);
  m.place_lanes([](unsigned) { return kBase + 65534; });
  m.v(2, 0) = 0x44332211;
  m.execute("global_store_dword v[0:1], v2, off");
  EXPECT_EQ(m.bytes[65534], std::byte{0});
  m.execute("global_load_dword v8, v[0:1], off");
  EXPECT_EQ(m.v(8, 0), 0x44332211U);
  m.end_window();
  EXPECT_EQ(m.bytes[65535], std::byte{0x22});
  EXPECT_EQ(second[0], std::byte{0x33});
}

TEST(DeferredAccess, AtomicsWaitAndUseTheRegistersOfTheirIssue) {
  Buffered m;
  m.execute("global_store_dword v[0:1], v2, off");
  m.wave.set_exec(0x5555555555555555);
  m.execute("global_atomic_add v8, v[0:1], v3, off glc");
  EXPECT_TRUE(m.wave.access.deferred);
  // The program continues: it changes other lanes of the destination, and the sources.
  m.wave.set_exec(kAllLanes);
  for (unsigned l = 0; l < kLanes; ++l) {
    if (l % 2 != 0) m.v(8, l) = 77;
    m.v(0, l) = m.v(1, l) = m.v(3, l) = 0;
  }
  EXPECT_EQ(m.word(0), 0U);
  m.end_window();
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(m.word(l * 4), l % 2 == 0 ? 5000 + 2 * l : 2000 + l) << l;
    EXPECT_EQ(m.v(8, l), l % 2 == 0 ? 2000 + l : 77) << l;
  }
}

TEST(DeferredAccess, DestinationThatIsAlsoAddress) {
  Buffered m;
  m.execute("global_atomic_add v[0:1], v2, off");
  m.execute("global_load_dword v1, v[0:1], off");
  EXPECT_TRUE(m.wave.access.deferred);
  m.end_window();
  for (unsigned l = 0; l < kLanes; ++l) EXPECT_EQ(m.v(1, l), 2000 + l) << l;
}

TEST(DeferredAccess, AccessesToTheLineOfADeferredAtomicStayBehindIt) {
  Buffered m(Target::gfx90a, 0);  // all lanes access the same address
  m.wave.set_exec(1);
  m.wave.write64(4, 5);
  m.execute("global_atomic_add v[0:1], v2, off");  // 2000
  m.execute("global_load_dword v8, v[0:1], off");
  EXPECT_TRUE(m.wave.access.deferred);
  m.execute("global_store_dword v[0:1], v3, off");  // 3000
  EXPECT_TRUE(m.wave.access.deferred);
  m.execute("s_load_dword s8, s[2:3], 0x0");
  EXPECT_TRUE(m.wave.access.deferred);
  m.execute("s_atomic_add s4, s[2:3], 0x0 glc");  // 3005
  EXPECT_TRUE(m.wave.access.deferred);
  m.execute("global_load_dword v9, v[0:1], off");
  EXPECT_TRUE(m.wave.access.deferred);
  m.execute("global_load_dword v10, v[0:1], off offset:64");  // another line
  EXPECT_FALSE(m.wave.access.deferred);
  m.end_window();
  EXPECT_EQ(m.v(8, 0), 2000U);
  EXPECT_EQ(m.wave.sgpr[8], 3000U);
  EXPECT_EQ(m.wave.sgpr[4], 3000U);
  EXPECT_EQ(m.v(9, 0), 3005U);
  EXPECT_EQ(m.word(0), 3005U);
}

TEST(DeferredAccess, FaultsWhenItIssues) {
  Buffered m;
  m.place_lanes([](unsigned l) { return kBase + (l == 5 ? 0x10000000 : 0); });
  m.step(assemble_by_llvm({"global_atomic_add v[0:1], v2, off"}, m.wave.target)[0]);
  EXPECT_EQ(m.wave.event, Event::memory_fault);
  EXPECT_FALSE(m.wave.access.deferred);
  EXPECT_FALSE(m.buffer.any_deferred());
}

}  // namespace
}  // namespace lacuna::isa::test
