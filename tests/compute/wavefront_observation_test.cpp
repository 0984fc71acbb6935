// Tests the observation of a wavefront: loops that cannot end, loops that make progress, addresses that they read and write.
// Observation does not affect the run.
#include "models/compute/wavefront_observation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "models/tlb/gpuvm.h"
#include "tests/compute/instruction_words.h"
#include "tests/harness/harness.h"

namespace lacuna::test {
namespace {

using End = WavefrontObservation::End;
constexpr std::uint64_t kCode = 0x10000;
constexpr std::uint64_t kData = 0x40000;
constexpr std::uint64_t kBytes = 0x4000;
constexpr unsigned kLimit = 20'000;

// Assembled with llvm-mc-16 for gfx803. s[0:1] holds kData.
const Words kSpinScalar = {0xc0020100, 0, 0xbf8c007f, 0xbf068004, 0xbf85fffb, kEnd};  // s_load_dword until the value is not 0
const Words kCountTo100 = {0xbe850080, 0x80058105, 0xbf07ff05, 100, 0xbf85fffc, kEnd};
const Words kCountAndSpin = {0xbe850080, 0xc0020100, 0, 0xbf8c007f, 0x80058105, 0xbf8e0001, 0xbf82fffa};
const Words kMarch = {0xc0020100, 0, 0xbf8c007f, 0x80068406, 0x8606ff06, 0xff, 0xbe8000ff, kData, 0x80000600, 0xbf82fff6};
const Words kAddress = {0x7e000200, 0x7e020201};  // v[0:1] = s[0:1]
const Words kStore7 = {0x7e040287, 0xdc700000, 0x00000200, 0xbf8c0f70, kEnd};
const Words kStore7ForEver = {0x7e040287, 0xdc700000, 0x00000200, 0xbf82fffd};
// exec = lanes 1 and 2, then flat_atomic_add of 0 until it returns another value.
const Words kLanes1And2 = {0xbefe0186};
const Words kSpinAtomic = {0x7e040280, 0xdd090000, 0x03000200, 0xbf8c0070, 0x7d940680, 0x86fe6a7e, 0xbf89fffa, kEnd};
const Words kSpinLds = {0xbefc00c1, 0x7e000290, 0xd86c0000, 0x01000000, 0xbf8c007f, 0x7d940280, 0xbf87fffb, kEnd};
// All lanes acquire the same lock: flat_atomic_cmpswap of 0 by 1 until all lanes have read 0; the lock is released only then.
const Words kMutex = {0x7e040281, 0x7e060280, 0xbe84017e, 0xdd050000, 0x04000200, 0xbf8c0070, 0x7d9a0880,
                      0x86fe6a7e, 0xbf89fffa, 0xbefe0104, 0x7e0a0280, 0xdd000000, 0x00000500, kEnd};
const Words kReadTime = {0xc0900180, 0, 0xbf8c007f, 0xbf82fffc};

Words join(const std::vector<Words>& parts) {
  Words all;
  for (const Words& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

class WavefrontObservationTest : public testing::Test {
 protected:
  WavefrontObservationTest() : code_bytes_(kBytes), data_(kBytes / 4), lds_(1024), registers_(8 * isa::kLanes) {
    vm_.map(kCode, kBytes, 0x1000'0000, code_bytes_.data(), isa::Access::read | isa::Access::execute);
    vm_.map(kData, kBytes, 0x2000'0000, reinterpret_cast<std::byte*>(data_.data()), isa::Access::read_write);
    wave_.target = isa::Target::gfx803;
    wave_.vgpr = registers_.data();
    wave_.vgpr_count = 8;
    wave_.sgpr_count = 32;
    wave_.lds = lds_.data();
    wave_.lds_bytes = static_cast<std::uint32_t>(lds_.size());
    wave_.memory = &vm_;
    wave_.write64(0, kData);
    wave_.set_exec(~std::uint64_t{0});
  }

  WavefrontObservation observe(const Words& words, unsigned limit = kLimit) {
    std::memcpy(code_bytes_.data(), words.data(), words.size() * 4);
    const auto data = data_;
    const auto lds = lds_;
    const auto registers = registers_;
    const auto sgpr = wave_.sgpr;
    isa::DecodedCode code(vm_, isa::Target::gfx803);
    const WavefrontObservation seen = observe_wavefront(wave_, kCode, code, limit);
    EXPECT_EQ(data_, data) << "memory is as it was";
    EXPECT_EQ(lds_, lds);
    EXPECT_EQ(registers_, registers);
    EXPECT_EQ(wave_.sgpr, sgpr);
    EXPECT_EQ(wave_.pc, 0U);
    return seen;
  }

  GpuVm vm_;
  std::vector<std::byte> code_bytes_;
  std::vector<std::uint32_t> data_;
  std::vector<std::byte> lds_;
  std::vector<std::uint32_t> registers_;
  isa::Wavefront wave_;
};

TEST_F(WavefrontObservationTest, ABranchToItselfRepeats) {
  const WavefrontObservation seen = observe({0xbf82ffff});
  EXPECT_EQ(seen.end, End::repeats);
  EXPECT_EQ(seen.period, 1U);
  EXPECT_EQ(seen.first_pc, kCode);
  EXPECT_EQ(seen.last_pc, kCode);
  EXPECT_TRUE(seen.reads.empty());
  EXPECT_TRUE(seen.spins());
}

TEST_F(WavefrontObservationTest, AScalarLoadThatPollsAValue) {
  data_[0] = 0;
  const WavefrontObservation seen = observe(kSpinScalar);
  EXPECT_EQ(seen.end, End::repeats);
  EXPECT_EQ(seen.period, 4U);
  EXPECT_EQ(seen.last_pc, kCode + 16);
  ASSERT_EQ(seen.reads.size(), 1U);
  EXPECT_EQ(seen.reads[0].pc, kCode);
  EXPECT_EQ(seen.reads[0].ranges, (std::vector<WavefrontObservation::Range>{{.address = kData, .bytes = 4}}));
  EXPECT_FALSE(seen.reads[0].atomic);
  EXPECT_EQ(seen.reads[0].value, 0U);
  data_[0] = 5;
  EXPECT_EQ(observe(kSpinScalar).end, End::end_program) << "the value is there";
}

TEST_F(WavefrontObservationTest, ACountingLoopEnds) {
  const WavefrontObservation seen = observe(kCountTo100);
  EXPECT_EQ(seen.end, End::end_program);
  EXPECT_EQ(seen.instructions, 1U + 3 * 100 + 1);
  EXPECT_EQ(observe(kCountTo100, 50).end, End::limit);
  EXPECT_FALSE(observe(kCountTo100, 50).spins()) << "it waits on no memory";
}

TEST_F(WavefrontObservationTest, ALoopThatCountsItsIterationsSpins) {
  const WavefrontObservation seen = observe(kCountAndSpin);
  EXPECT_EQ(seen.end, End::limit);
  EXPECT_EQ(seen.instructions, kLimit);
  EXPECT_EQ(seen.first_pc, kCode + 4);
  EXPECT_EQ(seen.last_pc, kCode + 24);
  ASSERT_EQ(seen.reads.size(), 1U);
  EXPECT_FALSE(seen.reads[0].moves);
  EXPECT_TRUE(seen.spins());
}

TEST_F(WavefrontObservationTest, ALoopOverAnArrayDoesNotSpin) {
  const WavefrontObservation seen = observe(kMarch, 100);
  EXPECT_EQ(seen.end, End::limit);
  ASSERT_EQ(seen.reads.size(), 1U);
  EXPECT_TRUE(seen.reads[0].moves);
  EXPECT_FALSE(seen.spins());
}

TEST_F(WavefrontObservationTest, OnlyStoresThatChangeMemoryAreReported) {
  const Words program = join({kAddress, kStore7});
  WavefrontObservation seen = observe(program);
  EXPECT_EQ(seen.end, End::end_program);
  EXPECT_TRUE(seen.writes_to({.address = kData, .bytes = 1}));
  EXPECT_TRUE(seen.writes_to({.address = kData + 3, .bytes = 8}));
  EXPECT_FALSE(seen.writes_to({.address = kData + 4, .bytes = 4}));
  EXPECT_FALSE(seen.writes_to({.lds = true, .address = kData, .bytes = 4}));
  data_[0] = 7;
  EXPECT_TRUE(observe(program).writes.empty()) << "it is there already";
  // The first store changes memory, later stores do not: no state changes after the first store.
  data_[0] = 0;
  seen = observe(join({kAddress, kStore7ForEver}));
  EXPECT_EQ(seen.end, End::repeats);
  EXPECT_EQ(seen.writes.size(), 1U);
}

TEST_F(WavefrontObservationTest, AnAtomicOperationThatChangesNothingIsALoad) {
  const WavefrontObservation seen = observe(join({kLanes1And2, kAddress, kSpinAtomic}));
  EXPECT_EQ(seen.end, End::repeats);
  EXPECT_EQ(seen.lanes, 6U);
  ASSERT_EQ(seen.reads.size(), 1U);
  EXPECT_TRUE(seen.reads[0].atomic);
  EXPECT_EQ(seen.reads[0].lane, 1U);
  EXPECT_EQ(seen.reads[0].ranges.size(), 1U) << "both lanes read the same place";
  EXPECT_TRUE(seen.writes.empty());
}

TEST_F(WavefrontObservationTest, TheLaneThatHasTheLockWaitsForTheOthers) {
  const WavefrontObservation seen = observe(join({kAddress, kMutex}));
  EXPECT_EQ(seen.end, End::repeats);
  EXPECT_EQ(seen.lanes, ~std::uint64_t{1}) << "lane 0 has left the loop";
  ASSERT_EQ(seen.reads.size(), 1U);
  EXPECT_EQ(seen.reads[0].value, 1U) << "the lock is taken";
  EXPECT_TRUE(seen.writes_to({.address = kData, .bytes = 4})) << "by lane 0, before the loop";
  EXPECT_FALSE(seen.changes);
}

TEST_F(WavefrontObservationTest, WaitsOnLds) {
  const WavefrontObservation seen = observe(kSpinLds);
  EXPECT_EQ(seen.end, End::repeats);
  ASSERT_EQ(seen.reads.size(), 1U);
  EXPECT_EQ(seen.reads[0].ranges, (std::vector<WavefrontObservation::Range>{{.lds = true, .address = 16, .bytes = 4}}));
  lds_[16] = std::byte{1};
  EXPECT_EQ(observe(kSpinLds).end, End::end_program);
}

TEST_F(WavefrontObservationTest, AClockNeverRepeats) { EXPECT_EQ(observe(kReadTime).end, End::limit); }

TEST_F(WavefrontObservationTest, EndsAtBarriersTrapsAndFaults) {
  EXPECT_EQ(observe({0xbf8a0000, kEnd}).end, End::barrier);
  EXPECT_EQ(observe({0x7e000280, 0xbefc0080, 0xd93b0000, 0, kEnd}).end, End::wave_sync);
  EXPECT_EQ(observe({0xbf920002}).end, End::stopped) << "s_trap";
  EXPECT_EQ(observe({0x7e120280}).end, End::stopped) << "v9, which is not the wavefront's";
  wave_.write64(0, 0x900000);
  EXPECT_EQ(observe(kSpinScalar).end, End::stopped) << "an address that is not mapped";
}

}  // namespace
}  // namespace lacuna::test
