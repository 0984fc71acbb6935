// Tests held loads, zero masks and irrelevant operands: which requests are sent, when, and how they are counted. Programs must
// compute the same results in all modes.
#include "models/lazy/lazy_unit.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/lazy/lazy_bench.h"

namespace lacuna::test {
namespace {

// Encodings by llvm-mc-16 -mcpu=gfx803.
constexpr std::uint32_t kEnd = 0xbf810000;                                      // s_endpgm
constexpr std::uint32_t kBarrier = 0xbf8a0000;                                  // s_barrier
constexpr std::uint32_t kWaitAll = 0xbf8c0070;                                  // s_waitcnt vmcnt(0) lgkmcnt(0)
constexpr std::uint32_t kLaneAddress[] = {0x24000082, 0x32000000, 0x7e020201};  // v[0:1] = kernarg pointer + 4 * lane
constexpr std::uint32_t kWideAddress[] = {0x24000084, 0x32000000, 0x7e020201};  // v[0:1] = kernarg pointer + 16 * lane
constexpr std::uint32_t kFurther[] = {0x320000ff, 0x00001000};                  // v_add_u32 v0, vcc, 0x1000, v0
constexpr std::uint32_t kLoad2[] = {0xdc500000, 0x02000000};                    // flat_load_dword v2, v[0:1]
constexpr std::uint32_t kLoad4[] = {0xdc500000, 0x04000000};                    // flat_load_dword v4, v[0:1]
constexpr std::uint32_t kLoadCoherent3[] = {0xdc510000, 0x03000000};            // flat_load_dword v3, v[0:1] glc
constexpr std::uint32_t kLoadQuad4[] = {0xdc5c0000, 0x04000000};                // flat_load_dwordx4 v[4:7], v[0:1]
constexpr std::uint32_t kLoadTriple4[] = {0xdc580000, 0x04000000};              // flat_load_dwordx3 v[4:6], v[0:1]
constexpr std::uint32_t kLoadByte2[] = {0xdc400000, 0x02000000};                // flat_load_ubyte v2, v[0:1]
constexpr std::uint32_t kLoadSigned2[] = {0xdc440000, 0x02000000};              // flat_load_sbyte v2, v[0:1]
constexpr std::uint32_t kUse2 = 0x7e060302;                                     // v_mov_b32 v3, v2
constexpr std::uint32_t kUse6 = 0x7e060306;                                     // v_mov_b32 v3, v6
constexpr std::uint32_t kClear2 = 0x7e040280;                                   // v_mov_b32 v2, 0
constexpr std::uint32_t kClear6 = 0x7e0c0280;                                   // v_mov_b32 v6, 0
constexpr std::uint32_t kClear4 = 0x7e080280;                                   // v_mov_b32 v4, 0
constexpr std::uint32_t kMultiply24 = 0x0a060902;                               // v_mul_f32 v3, v2, v4
constexpr std::uint32_t kAnd24 = 0x26060902;                                    // v_and_b32 v3, v2, v4
constexpr std::uint32_t kExecLow16[] = {0xbefe01ff, 0x0000ffff};                // s_mov_b64 exec, 0xffff
constexpr std::uint32_t kExecAll = 0xbefe01c1;                                  // s_mov_b64 exec, -1
constexpr std::uint32_t kStore3[] = {0xdc700000, 0x00000300};                   // flat_store_dword v[0:1], v3
constexpr std::uint32_t kStore4[] = {0xdc700000, 0x00000400};                   // flat_store_dword v[0:1], v4
constexpr std::uint32_t kInvalidate[] = {0xe0f80000, 0};                        // buffer_wbinvl1
constexpr std::uint32_t kAtomicAdd3[] = {0xdd080000, 0x00000300};               // flat_atomic_add v[0:1], v3
constexpr std::uint32_t kReadFirstLane2 = 0x7e080502;                           // v_readfirstlane_b32 s4, v2
constexpr std::uint32_t kShift2[] = {0x7e0602fa, 0xff010102};                   // v_mov_b32_dpp v3, v2 row_shl:1
constexpr std::uint32_t kByteOf2[] = {0x7e0402f9, 0x00061004};     // v_mov_b32_sdwa v2, v4 dst_sel:BYTE_0 UNUSED_PRESERVE
constexpr std::uint32_t kWriteLane2[] = {0xd28a0002, 0x00010604};  // v_writelane_b32 v2, s4, 3
constexpr std::uint32_t kPermute2[] = {0xd87e0000, 0x03000200};    // ds_bpermute_b32 v3, v0, v2

LACUNA_TEST_BENCH(LazyBench)

constexpr unsigned kTransactions = 8;  // 32-byte transactions of 64 consecutive dwords

class LazyUnitTest : public testing::Test {
 protected:
  LazyBench& b_ = bench<LazyBench>();
  std::uint64_t cycles_ = 0;
  std::size_t sent_ = 0;  ///< number of vector requests in the last run
  std::vector<std::uint64_t> addresses_;

  void SetUp() override {
    b_.clear_data();
    b_.zero_cache = {};
  }
  /// Sets every word of data memory to a value other than zero.
  void fill() {
    for (std::uint32_t i = 0; i < LazyBench::kBytes / 4; ++i) b_.data()[i] = 0x3f800000 + i;
  }
  /// Runs in a mode, and checks the invariants.
  KernelActivity run(LazyMode mode, const Words& words, unsigned wavefronts = 1, AddressUnit occupied = AddressUnit::once) {
    const auto d = b_.program(words, wavefronts);
    b_.lazy_memory(mode, occupied).vector_addresses.clear();
    cycles_ = b_.run(b_.lazy_unit(mode, occupied), *d);
    EXPECT_GT(cycles_, 0u);
    addresses_ = b_.lazy_memory(mode, occupied).vector_addresses;
    sent_ = addresses_.size();
    const WavefrontClass all = d->activity.all();
    EXPECT_EQ(std::accumulate(all.cycles.begin(), all.cycles.end(), std::uint64_t{0}), all.resident);
    EXPECT_EQ(of(d->activity, LazyCount::lanes_changed), 0u);
    return d->activity;
  }
  static std::uint64_t of(const KernelActivity& a, LazyCount count) {
    return a.extension[lazy_slots().first_count + static_cast<std::size_t>(count)];
  }
  static std::uint64_t of(const KernelActivity& a, StallCause t) { return a.all()[t]; }
  static std::uint64_t of(const KernelActivity& a, LazyCause cause) {
    return a.all()
        .cycles[static_cast<std::size_t>(extension_stall(lazy_slots().first_cause + static_cast<std::size_t>(cause)))];
  }
};

TEST_F(LazyUnitTest, UnusedLoadsAreNeverSent) {
  const KernelActivity a = run(LazyMode::lazy, program(kLaneAddress, kLoad2, kWaitAll, kEnd));
  EXPECT_EQ(sent_, 0u) << "s_waitcnt does not make it leave";
  EXPECT_EQ(of(a, LazyCount::loads_held), 1u);
  EXPECT_EQ(of(a, LazyCount::dead), kTransactions);
  EXPECT_LT(cycles_, 300u) << "no wavefront waits for memory, except for the first instructions";
}

TEST_F(LazyUnitTest, TheFirstUseSendsItAndWaits) {
  const KernelActivity a = run(LazyMode::lazy, program(kLaneAddress, kLoad2, kWaitAll, kUse2, kUse2, kEnd));
  EXPECT_EQ(sent_, kTransactions);
  EXPECT_EQ(of(a, LazyCount::issued), kTransactions);
  EXPECT_EQ(of(a, LazyCount::dead), 0u);
  EXPECT_EQ(of(a, StallCause::vmcnt), 0u);
  // Cycles: 5 to the first request, 7 more to the last, 100 in memory, 10 to the registers.
  EXPECT_EQ(of(a, LazyCause::registers), 122u);
  EXPECT_EQ(a.requests, kTransactions) << "still counted as load requests";
}

TEST_F(LazyUnitTest, LazyCostsNothingWhenTheUseFollowsImmediately) {
  const Words words = program(kLaneAddress, kLoad2, kWaitAll, kUse2, kEnd);
  run(LazyMode::eager, words);
  const std::uint64_t eager = cycles_;
  run(LazyMode::lazy, words);
  EXPECT_NEAR(static_cast<double>(cycles_), static_cast<double>(eager), 12) << "the instructions between, and a second issue";
}

TEST_F(LazyUnitTest, CyclesFromTheUseOfAHeldLoadToItsData) {
  // Cycles count from the instruction that needs the load: the last of 8 requests departs 7 cycles after the first, and its
  // data take 100 cycles in memory and 10 to the registers.
  constexpr unsigned kFromFirst = 7 + 100 + 10;
  struct Row {
    AddressUnit occupied;
    unsigned between;  ///< number of vector instructions between the load and its use; like the load, each takes 4 cycles
    unsigned first;    ///< cycles from the use to the first request
  };
  constexpr std::array kRows{
      Row{AddressUnit::once, 0, 6},                                  // 10 cycles after the load, like an eager load
      Row{AddressUnit::once, 1, 5},   Row{AddressUnit::once, 8, 5},  // lazy.issue_latency
      Row{AddressUnit::twice, 0, 10}, Row{AddressUnit::twice, 1, 10}, Row{AddressUnit::twice, 8, 10},
  };
  for (const Row& row : kRows) {
    Words between;
    for (unsigned i = 0; i < row.between; ++i) between.push_back(kClear4);
    const KernelActivity a = run(LazyMode::lazy, program(kLaneAddress, kLoad2, between, kUse2, kEnd), 1, row.occupied);
    EXPECT_EQ(of(a, LazyCause::registers), row.first + kFromFirst)
        << "twice: " << (row.occupied == AddressUnit::twice) << ", instructions between: " << row.between;
  }
}

TEST_F(LazyUnitTest, LoadsSentTogetherShareThePort) {
  // In the first run, the instruction after `held` needs one held load of 8 transactions; in the second run, it needs two.
  const Words held = program(kLaneAddress, kLoad2, kFurther, kLoad4, kClear6, kClear6, kClear6);
  for (const AddressUnit occupied : {AddressUnit::once, AddressUnit::twice}) {
    run(LazyMode::lazy, program(held, kUse2, kEnd), 1, occupied);
    EXPECT_EQ(sent_, kTransactions);
    const std::uint64_t one = cycles_;
    run(LazyMode::lazy, program(held, kAnd24, kEnd), 1, occupied);
    EXPECT_EQ(sent_, 2 * kTransactions);
    EXPECT_EQ(cycles_, one + kTransactions);
  }
}

TEST_F(LazyUnitTest, AHeldLoadOccupiesTheAddressUnitOnce) {
  // Ten wavefronts: each load occupies the address unit for 4 cycles when it is held, and with `twice` for 8 more when it is
  // sent.
  const Words words = program(kLaneAddress, kLoad2, kUse2, kLoad2, kUse2, kLoad2, kUse2, kLoad2, kUse2, kEnd);
  run(LazyMode::lazy, words, 10, AddressUnit::twice);
  const std::uint64_t twice = cycles_;
  run(LazyMode::lazy, words, 10);
  EXPECT_LT(cycles_, twice);
}

TEST_F(LazyUnitTest, OverwrittenLoadsAreDropped) {
  const KernelActivity a = run(LazyMode::lazy, program(kLaneAddress, kLoad2, kClear2, kUse2, kEnd));
  EXPECT_EQ(sent_, 0u);
  EXPECT_EQ(of(a, LazyCount::dead), kTransactions);
}

TEST_F(LazyUnitTest, ExecDeterminesTheNeededLanes) {
  const KernelActivity some = run(LazyMode::lazy, program(kLaneAddress, kLoad2, kExecLow16, kUse2, kEnd));
  EXPECT_EQ(sent_, 2u) << "16 lanes";
  EXPECT_EQ(of(some, LazyCount::dead), kTransactions - 2);
  const KernelActivity rest = run(LazyMode::lazy, program(kLaneAddress, kLoad2, kExecLow16, kUse2, kExecAll, kUse2, kEnd));
  EXPECT_EQ(sent_, kTransactions) << "each once";
  EXPECT_EQ(of(rest, LazyCount::dead), 0u);
  // Lanes that are overwritten under EXEC are not needed; all other lanes are.
  run(LazyMode::lazy, program(kLaneAddress, kLoad2, kExecLow16, kClear2, kExecAll, kUse2, kEnd));
  EXPECT_EQ(sent_, kTransactions - 2);
  // The address is captured when the load executes.
  run(LazyMode::lazy, program(kLaneAddress, kExecLow16, kLoad2, kExecAll, kUse2, kEnd));
  EXPECT_EQ(sent_, 2u);
}

TEST_F(LazyUnitTest, ALoadOverAPartlyHeldOneIsSentImmediately) {
  const KernelActivity a =
      run(LazyMode::lazy, program(kLaneAddress, kLoad2, kExecLow16, kLoad2, kWaitAll, kExecAll, kUse2, kEnd));
  EXPECT_EQ(of(a, LazyCount::loads_held), 1u);
  EXPECT_EQ(of(a, LazyCount::loads_eager), 1u);
  EXPECT_EQ(sent_, kTransactions) << "two immediately, the others when they are used";
}

TEST_F(LazyUnitTest, ATransactionFillsAllItsRegisters) {
  // 16 bytes per lane: a transaction of 32 bytes serves two lanes. Loading one register of a lane also loads its other
  // registers.
  const KernelActivity a = run(LazyMode::lazy, program(kWideAddress, kLoadQuad4, kUse6, kUse6, kClear4, kEnd));
  EXPECT_EQ(sent_, 32u);
  EXPECT_EQ(of(a, LazyCount::issued), 32u);
  EXPECT_EQ(of(a, LazyCount::dead), 0u);
}

TEST_F(LazyUnitTest, OverwritingTheFirstRegisterKeepsTheAddressOfTheOthers) {
  // The first register holds the address for all four registers.
  run(LazyMode::lazy, program(kWideAddress, kLoadQuad4, kClear4, kEnd));
  EXPECT_EQ(sent_, 32u);
  run(LazyMode::lazy, program(kWideAddress, kLoadQuad4, 0x7e0c0280 /* v_mov_b32 v6, 0 */, kEnd));
  EXPECT_EQ(sent_, 0u);
  const KernelActivity again = run(LazyMode::lazy, program(kWideAddress, kLoadQuad4, kLoadQuad4, kUse6, kEnd));
  EXPECT_EQ(sent_, 32u) << "an instruction that overwrites all of them needs none";
  EXPECT_EQ(of(again, LazyCount::dead), 32u);
  // If the first register is zero but others are not, the transactions are sent and do not change the first register.
  fill();
  for (unsigned lane = 0; lane < 64; ++lane) b_.data()[4 * lane] = 0;
  const KernelActivity zero = run(LazyMode::lazy_zero, program(kWideAddress, kLoadQuad4, kUse6, kEnd));
  EXPECT_EQ(sent_, 32u);
  EXPECT_EQ(of(zero, LazyCount::zero_part), 0u);
}

TEST_F(LazyUnitTest, AFirstUseMaySendAllLoads) {
  const Words words = program(kLaneAddress, kLoad2, kFurther, kLoad4, kUse2, kEnd);
  run(LazyMode::lazy, words);
  EXPECT_EQ(sent_, kTransactions);
  const auto d = b_.program(words);
  EXPECT_GT(b_.run(b_.lazy_in_groups(), *d), 0u);
  EXPECT_EQ(of(d->activity, LazyCount::issued), 2 * kTransactions);
  EXPECT_EQ(of(d->activity, LazyCount::dead), 0u);
}

TEST_F(LazyUnitTest, FormsThatCannotBeHeldAreSentImmediately) {
  for (const auto& load : {program(kLoadTriple4), program(kLoadSigned2), program(kLoadCoherent3)}) {
    const KernelActivity a = run(LazyMode::lazy, program(kLaneAddress, load, kWaitAll, kEnd));
    EXPECT_EQ(of(a, LazyCount::loads_held), 0u);
    EXPECT_EQ(of(a, LazyCount::loads_eager), 1u);
    EXPECT_GE(sent_, kTransactions);
    EXPECT_GT(of(a, StallCause::vmcnt), 0u);
  }
  const KernelActivity byte = run(LazyMode::lazy, program(kLaneAddress, kLoadByte2, kUse2, kEnd));
  EXPECT_EQ(of(byte, LazyCount::loads_held), 1u);
  EXPECT_EQ(sent_, kTransactions);
}

TEST_F(LazyUnitTest, AStoreFirstSendsTheLoadsThatItOverlaps) {
  fill();
  for (const LazyMode mode : {LazyMode::eager, LazyMode::lazy, LazyMode::lazy_zero_otimes}) {
    fill();
    run(mode, program(kLaneAddress, kLoad2, kClear4, kStore4, kUse2, kStore3, kEnd));
    EXPECT_EQ(b_.data()[5], 0x3f800005u) << "the load's value, not the store's";
  }
  run(LazyMode::lazy, program(kLaneAddress, kLoad2, kClear4, kStore4, kUse2, kEnd));
  EXPECT_EQ(sent_, 2 * kTransactions);
  const KernelActivity apart = run(LazyMode::lazy, program(kLaneAddress, kLoad2, kFurther, kStore4, kEnd));
  EXPECT_EQ(sent_, kTransactions) << "the store alone";
  EXPECT_EQ(of(apart, LazyCount::dead), kTransactions);
}

TEST_F(LazyUnitTest, OrderingInstructionsSendAllHeldLoads) {
  for (const Words& order : {program(kBarrier), program(kInvalidate)}) {
    run(LazyMode::lazy, program(kLaneAddress, kLoad2, order, kEnd));
    EXPECT_EQ(sent_, kTransactions);
  }
  for (const Words& order : {program(kAtomicAdd3), program(kLoadCoherent3)}) {
    run(LazyMode::lazy, program(kLaneAddress, kLoad2, kFurther, order, kWaitAll, kEnd));
    EXPECT_EQ(sent_, 2 * kTransactions);
    EXPECT_LT(addresses_.front(), 0x2000'1000u) << "the load first";
  }
}

TEST_F(LazyUnitTest, LaneMovesNeedAllLanes) {
  for (const Words& use : {program(kReadFirstLane2), program(kShift2), program(kPermute2), program(kWriteLane2)}) {
    run(LazyMode::lazy, program(kLaneAddress, kLoad2, kExecLow16, use, kEnd));
    EXPECT_EQ(sent_, kTransactions);
  }
  run(LazyMode::lazy, program(kLaneAddress, kLoad2, kExecLow16, kByteOf2, kEnd));
  EXPECT_EQ(sent_, 2u) << "a part of the register is kept, in lanes of EXEC";
}

TEST_F(LazyUnitTest, AFaultEndsAWavefrontWithHeldLoads) {
  // The second load's address is unmapped: it faults when it executes, like an eager load.
  for (const LazyMode mode : {LazyMode::eager, LazyMode::lazy, LazyMode::lazy_zero_otimes}) {
    const auto d = b_.program(program(kLaneAddress, kLoad2, 0x7e0002c1 /* v_mov_b32 v0, -1 */, kLoad4, kUse2, kEnd));
    b_.run(b_.lazy_unit(mode), *d);
    ASSERT_EQ(b_.listener.faults.size(), 1u);
    EXPECT_EQ(b_.listener.faults[0].pc, ComputeUnitBench::kCode + 24);
    EXPECT_TRUE(b_.lazy_unit(mode).idle());
  }
}

// -- zero masks

TEST_F(LazyUnitTest, ZerosAreNotLoaded) {
  const KernelActivity a = run(LazyMode::lazy_zero, program(kLaneAddress, kLoad2, kWaitAll, kUse2, kStore3, kEnd));
  EXPECT_EQ(of(a, LazyCount::zero_block), kTransactions);
  EXPECT_EQ(of(a, LazyCount::issued), 0u);
  EXPECT_EQ(of(a, LazyCount::zero_reads), 1u) << "256 bytes, of the 1,024 that a mask transaction covers";
  EXPECT_EQ(b_.zero_cache.reads.size(), 1u);
  EXPECT_EQ(of(a, LazyCount::writes_eliminated), kTransactions) << "zeros are stored as their masks alone";
  EXPECT_EQ(sent_, 0u);
  ASSERT_EQ(b_.zero_cache.writes.size(), 1u);
  EXPECT_EQ(b_.zero_cache.writes[0].byte_mask, ByteMask(0xff)) << "64 words";
  EXPECT_GT(of(a, LazyCause::zero_mask), 0u);
  EXPECT_EQ(of(a, LazyCause::registers), 0u);
}

TEST_F(LazyUnitTest, OnlyLoadedWordsMustBeZero) {
  fill();
  for (unsigned lane = 0; lane < 16; ++lane) b_.data()[lane] = 0;
  for (unsigned word = 0; word < 64; word += 2) b_.data()[1024 + word] = 0;
  const KernelActivity a = run(LazyMode::lazy_zero, program(kLaneAddress, kLoad2, kUse2, kEnd));
  EXPECT_EQ(sent_, kTransactions - 2);
  EXPECT_EQ(of(a, LazyCount::zero_block), 2u);
  EXPECT_EQ(of(a, LazyCount::zero_part), 0u);
  // With a stride of 8 bytes per lane, only every second word is loaded. In the lower half these words are all zero, so their
  // transactions are not sent.
  const Words stride = program(0x24000083 /* v_lshlrev_b32 v0, 3, v0 */, 0x32000000, 0x7e020201, kFurther, kLoad2, kUse2, kEnd);
  const KernelActivity part = run(LazyMode::lazy_zero, stride);
  EXPECT_EQ(of(part, LazyCount::zero_part), 8u) << "of the lower half";
  EXPECT_EQ(of(part, LazyCount::zero_block), 0u);
}

TEST_F(LazyUnitTest, EagerLoadsAreSentIndependentlyOfMasks) {
  b_.zero_cache.latency = Tick{20'000};
  const Words words = program(kLaneAddress, kLoad2, kWaitAll, kUse2, kEnd);
  const KernelActivity a = run(LazyMode::eager_zero, words);
  EXPECT_EQ(sent_, kTransactions);
  EXPECT_EQ(of(a, LazyCount::zero_sent), kTransactions);
  EXPECT_EQ(of(a, LazyCause::registers), 0u);
  const std::uint64_t zeros = cycles_;
  fill();
  run(LazyMode::eager_zero, words);
  EXPECT_EQ(sent_, kTransactions);
  EXPECT_GT(cycles_, zeros + 60) << "the masks answer in 20 cycles, memory in 100";
}

TEST_F(LazyUnitTest, UnknownZerosAreLoaded) {
  ZeroMasks masks(0x2000'0000, Bytes{LazyBench::kBytes}, 1);
  LazyUnit& unit = *b_.stage(LazyMode::lazy_zero);
  unit.attach(ZeroPath{.l1z = &b_.zero_cache, .map = &b_.zero_map, .masks = &masks});
  const Words words = program(kLaneAddress, kLoad2, kUse2, kStore3, kEnd);
  run(LazyMode::lazy_zero, words);
  EXPECT_EQ(sent_, kTransactions) << "never written; zeros are stored";
  masks.window_ended();
  run(LazyMode::lazy_zero, words);
  EXPECT_EQ(sent_, 0u) << "the store has made them known";
  unit.attach(ZeroPath{.l1z = &b_.zero_cache, .map = &b_.zero_map});
}

// -- operands that do not affect the result

TEST_F(LazyUnitTest, ALoadMultipliedByZeroIsSuspended) {
  fill();
  for (unsigned lane = 0; lane < 32; ++lane) b_.data()[lane] = 0;  // words of v2; the words of v4, 4 KiB further, are not zero
  const Words product = program(kLaneAddress, kLoad2, kFurther, kLoad4, kWaitAll, kMultiply24, kClear4, kEnd);
  run(LazyMode::lazy_zero, product);
  EXPECT_EQ(sent_, 4u + kTransactions);
  const KernelActivity a = run(LazyMode::lazy_zero_otimes, product);
  EXPECT_EQ(sent_, 4u + 4u);
  EXPECT_EQ(of(a, LazyCount::zero_block), 4u);
  EXPECT_EQ(of(a, LazyCount::otimes), 4u);
  EXPECT_EQ(of(a, LazyCount::dead), 0u);
  EXPECT_EQ(of(a, LazyCount::lanes_differ), 0u);
  // A later instruction needs the suspended lanes.
  const KernelActivity later = run(LazyMode::lazy_zero_otimes, program(kLaneAddress, kLoad2, kFurther, kLoad4, kMultiply24,
                                                                       0x7e060304 /* v_mov_b32 v3, v4 */, kEnd));
  EXPECT_EQ(sent_, 4u + kTransactions);
  EXPECT_EQ(of(later, LazyCount::suspended_issued), 4u);
  EXPECT_EQ(of(later, LazyCount::otimes), 0u);
}

TEST_F(LazyUnitTest, LanesWhoseIeeeResultDiffers) {
  fill();
  for (unsigned lane = 0; lane < 64; ++lane) b_.data()[lane] = 0;
  b_.data()[1024 + 3] = 0x7f800000;  // infinity
  b_.data()[1024 + 5] = 0xbf800000;  // -1: 0 x -1 is -0
  const Words product = program(kLaneAddress, kLoad2, kFurther, kLoad4, kMultiply24, kClear4, kEnd);
  const KernelActivity a = run(LazyMode::lazy_zero_otimes, product);
  EXPECT_EQ(of(a, LazyCount::lanes_differ), 2u);
  const Words logical = program(kLaneAddress, kLoad2, kFurther, kLoad4, kAnd24, kClear4, kEnd);
  const KernelActivity exact = run(LazyMode::lazy_zero_otimes, logical);
  EXPECT_EQ(of(exact, LazyCount::otimes), kTransactions);
  EXPECT_EQ(of(exact, LazyCount::lanes_differ), 0u);
}

// -- all modes

TEST_F(LazyUnitTest, EveryModeComputesTheSame) {
  const Words words =
      program(kLaneAddress, kLoad2, kFurther, kLoad4, kWaitAll, kMultiply24, kFurther, kStore3, kExecLow16, kAnd24, kStore4,
              kExecAll, kBarrier, kLoad2, kUse2, kFurther, kStore3, kAtomicAdd3, kWaitAll, kEnd);
  std::vector<std::uint32_t> expected;
  for (const LazyMode mode :
       {LazyMode::eager, LazyMode::eager_zero, LazyMode::lazy, LazyMode::lazy_zero, LazyMode::lazy_zero_otimes}) {
    for (const AddressUnit occupied : {AddressUnit::once, AddressUnit::twice}) {
      fill();
      for (std::uint32_t i = 0; i < 4096; i += 3) b_.data()[i] = 0;
      run(mode, words, 1, occupied);
      const std::vector<std::uint32_t> result(b_.data(), b_.data() + LazyBench::kBytes / 4);
      if (expected.empty()) expected = result;
      EXPECT_EQ(result, expected);
    }
  }
}

}  // namespace
}  // namespace lacuna::test
