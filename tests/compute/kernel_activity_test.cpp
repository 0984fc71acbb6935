// Tests the breakdown of wavefronts' time: the parts add up to the total, and each cause is charged if the test produces it.
#include "models/compute/kernel_activity.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/compute/compute_unit_bench.h"
#include "tests/compute/instruction_words.h"

namespace lacuna::test {
namespace {

// Encodings by llvm-mc-16 -mcpu=gfx803.
constexpr std::uint32_t kSleep = 0xbf8e0002;  // s_sleep 2
/// v[0:1] = kernarg pointer + 4 * lane.
constexpr std::uint32_t kLaneAddresses[] = {0x24000082, 0x32000000, 0x7e020201};

LACUNA_TEST_BENCH(ComputeUnitBench)

class KernelActivityTest : public testing::Test {
 protected:
  ComputeUnitBench& b_ = bench<ComputeUnitBench>();

  /// Runs the program and checks that the stall causes add up to the whole time.
  KernelActivity run(const Words& words, unsigned wavefronts = 1) {
    const auto d = b_.program(words, wavefronts);
    EXPECT_GT(b_.run(b_.loose(), *d), 0u);
    const WavefrontClass all = d->activity.all();
    EXPECT_EQ(std::accumulate(all.cycles.begin(), all.cycles.end(), std::uint64_t{0}), all.resident);
    EXPECT_EQ(all.wavefronts, wavefronts);
    EXPECT_EQ(all[StallCause::issue], d->wavefront_instructions);
    return d->activity;
  }
  static std::uint64_t of(const KernelActivity& a, StallCause t) { return a.all()[t]; }
};

TEST_F(KernelActivityTest, AnInstructionIssuesAndIsWaitedFor) {
  const KernelActivity a = run(program(kMove, kMove, kEnd));
  EXPECT_EQ(of(a, StallCause::issue), 3u);
  EXPECT_EQ(of(a, StallCause::dependency), 2u * 3) << "four cycles each, in one of which it issues";
  EXPECT_GT(of(a, StallCause::fetch), 50u) << "the first line comes from memory, 100 cycles away";
  EXPECT_EQ(a.issued[static_cast<std::size_t>(isa::Unit::valu)], 2u);
  EXPECT_EQ(a.requests, 0u);
}

TEST_F(KernelActivityTest, WaitsAreAccountedByCounter) {
  const KernelActivity vector = run(program(kLaneAddresses, kFlatLoad, kWaitAll, kEnd));
  EXPECT_NEAR(static_cast<double>(of(vector, StallCause::vmcnt)), 118, 4) << "123 cycles, less those of issue and wait";
  EXPECT_EQ(of(vector, StallCause::lgkmcnt), 0u);
  EXPECT_EQ(vector.requests, 4u);
  EXPECT_EQ(vector.request_time, Tick{4 * 100'000}) << "100 ns each";
  const KernelActivity scalar = run(program(kScalarLoad, kWaitAll, kEnd));
  EXPECT_NEAR(static_cast<double>(of(scalar, StallCause::lgkmcnt)), 104, 4);
  EXPECT_EQ(of(scalar, StallCause::vmcnt), 0u);
  const KernelActivity sleeping = run(program(kSleep, kEnd));
  EXPECT_NEAR(static_cast<double>(of(sleeping, StallCause::sleep)), 124, 4);
}

TEST_F(KernelActivityTest, LanesInTheSameBankStallAsLdsConflicts) {
  // A stride of four dwords: 32 lanes use eight banks, so each of two passes takes four cycles.
  const KernelActivity a = run(program(0x24000084, 0x7e020280, 0xbefc00c1, kLdsWrite, kWaitAll, kEnd));
  EXPECT_EQ(of(a, StallCause::lds_conflict), 6u);
  EXPECT_GT(of(a, StallCause::lgkmcnt), 50u);
}

TEST_F(KernelActivityTest, WavefrontsThatShareASimdStallForItsBusyUnit) {
  // Eight wavefronts, two per SIMD: the second waits for the ALU while the first multiplies for 64 cycles.
  const KernelActivity a = run(program(kMultiply64, kMultiply64, kMultiply64, kMultiply64, kEnd), 8);
  EXPECT_GT(of(a, StallCause::unit_busy), 4u * 3 * 60);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(a.classes[i].wavefronts, 1u) << "each place in the workgroup is a class";
  EXPECT_EQ(a.classes.size(), 8u);
}

TEST_F(KernelActivityTest, BarriersHoldTheFast) {
  const KernelActivity a = run(program(kMultiply64, kBarrier, kEnd), 8);
  EXPECT_GT(of(a, StallCause::barrier), 4u * 60) << "half of them wait for the other half";
}

TEST_F(KernelActivityTest, FunctionalModeRecordsNoCycles) {
  const auto d = b_.program(program(kLaneAddresses, kFlatLoad, kWaitAll, kBarrier, kSleep, kEnd), 8);
  ASSERT_GT(b_.run(b_.functional(), *d), 0u);
  const WavefrontClass all = d->activity.all();
  EXPECT_EQ(all.wavefronts, 8u);
  EXPECT_EQ(all.resident, 0u);
  for (const std::uint64_t cycles : all.cycles) EXPECT_EQ(cycles, 0u);
}

/// Responds after a fixed time.
class SlowTranslation : public TranslationLevel {
 public:
  Tick translate(std::uint64_t, Tick at) override { return at + Tick{200'000}; }
  void retire(Tick) override {}
};

TEST_F(KernelActivityTest, TranslationIsSeparateFromMemory) {
  SlowTranslation slow;
  b_.loose().attach_tlbs(&slow, nullptr, nullptr);
  const KernelActivity a = run(program(kLaneAddresses, kFlatLoad, kWaitAll, kEnd));
  b_.loose().attach_tlbs(nullptr, nullptr, nullptr);
  // One page, four lines. Without translation the last line would have left three cycles after the first, so it waits for
  // translation in only 197 of the 200 cycles.
  EXPECT_EQ(of(a, StallCause::tlb), 197u);
  EXPECT_NEAR(static_cast<double>(of(a, StallCause::vmcnt)), 118, 4);
  EXPECT_EQ(a.latency.service[static_cast<std::size_t>(MemoryLevel::tlb)], Tick{(200 + 199 + 198 + 197) * 1000});
}

/// Responds immediately, and counts lookups before the horizon of retire().
class PunctualTranslation : public TranslationLevel {
 public:
  Tick translate(std::uint64_t, Tick at) override {
    ++lookups;
    if (at < horizon) ++late;
    return at;
  }
  void retire(Tick time) override { horizon = time; }
  Tick horizon{};
  unsigned lookups = 0;
  unsigned late = 0;
};

// The line after next is requested when the wavefront enters the next line, no matter when the next line arrived.
TEST_F(KernelActivityTest, NoRequestIsMadeInThePast) {
  PunctualTranslation tlb;
  b_.loose().attach_tlbs(nullptr, nullptr, &tlb);
  Words words = program(kLaneAddresses);
  for (int line = 0; line < 8; ++line) {
    const Words part = program(kFlatLoad, Words(14, kWaitAll));
    words.insert(words.end(), part.begin(), part.end());
  }
  words.push_back(kEnd);
  run(words);
  b_.loose().attach_tlbs(nullptr, nullptr, nullptr);
  EXPECT_GT(tlb.lookups, 8u);
  EXPECT_EQ(tlb.late, 0u);
}

}  // namespace
}  // namespace lacuna::test
