#include "models/compute/compute_unit.h"

#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include "include/lacuna/abi/gpu_registers.h"
#include "tests/compute/compute_unit_bench.h"
#include "tests/compute/instruction_words.h"

namespace lacuna::test {
namespace {

// Encodings by llvm-mc-16 -mcpu=gfx803.
constexpr std::uint32_t kWaitNothing = 0xbf8c0f7f;   // s_waitcnt vmcnt(15) lgkmcnt(15)
constexpr std::uint32_t kWaitLgkm = 0xbf8c007f;      // s_waitcnt lgkmcnt(0)
constexpr std::uint32_t kReciprocal = 0x7e024501;    // v_rcp_f32 v1, v1
constexpr std::uint32_t kLongSleep = 0xbf8e007f;     // s_sleep 0x7f
const Words kMultiply32 = {0xd2850001, 0x00020301};  // v_mul_lo_u32 v1, v1, v1

Words join(std::initializer_list<Words> parts) {
  Words all;
  for (const Words& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// v[0:1] = kernarg pointer + 4 * lane, the addresses of flat accesses to consecutive dwords of the data page.
const Words kLaneAddress = {0x24000082,   // v_lshlrev_b32 v0, 2, v0
                            0x32000000,   // v_add_u32 v0, vcc, s0, v0
                            0x7e020201};  // v_mov_b32 v1, s1

LACUNA_TEST_BENCH(ComputeUnitBench)

class ComputeUnitTest : public testing::Test {
 protected:
  ComputeUnitBench& b_ = bench<ComputeUnitBench>();
  /// Cycles that `body` adds to a program that ends immediately.
  std::uint64_t cost(ComputeUnit& unit, const Words& body) {
    const auto empty = b_.program({kEnd});
    const std::uint64_t base = b_.run(unit, *empty);
    const auto whole = b_.program(join({body, {kEnd}}));
    return b_.run(unit, *whole) - base;
  }
};

TEST_F(ComputeUnitTest, LatencyTable) {
  // Parameters at their defaults: 16 lanes per SIMD; rates of f64 1/16, of mul32 and transcendental instructions 1/4; latencies
  // in cycles: LDS 64, vmem 10 + 10, smem 10, memory 100.
  const struct {
    const char* what;
    Words body;
    std::uint64_t cycles;
  } table[] = {
      {"move", {kMove}, 4},
      {"two moves", {kMove, kMove}, 8},
      {"32-bit multiply", kMultiply32, 16},
      {"f64 multiply", kMultiply64, 64},
      {"reciprocal", {kReciprocal}, 16},
      {"scalar move", {kScalarMove}, 4},
      {"nop", {kNop}, 4},
      {"nop of four wait states", {kNop | 3}, 16},
      {"barrier of one wavefront", {kBarrier}, 4},
      // in cycles: 10 to the L1, 3 until the last of four lines, 100 in the L1, 10 back: 123, rounded up to the SIMD's issue
      // slot
      {"load and wait", join({kFlatLoad, {kWaitAll}}), 124},
      // the program does not wait for the store, but the workgroup ends when the store is performed
      {"store", kFlatStore, 123},
      // 100 cycles in the cache and 10 outside it, rounded up to the next issue slot of the SIMD, a multiple of 4
      {"scalar load and wait", join({kScalarLoad, {kWaitLgkm}}), 112},
      // 256 bytes at 128 bytes per cycle, then 64 cycles, rounded up to the SIMD's issue slot
      {"LDS write and wait", join({kLdsWrite, {kWaitLgkm}}), 68},
  };
  for (const auto& row : table) {
    const bool uses_address = row.what == std::string_view("load and wait") || row.what == std::string_view("store");
    const Words setup = uses_address ? kLaneAddress : Words{};
    const std::uint64_t setup_cost = 4 * setup.size();
    EXPECT_EQ(cost(b_.in_short_windows(), join({setup, row.body})) - setup_cost, row.cycles) << row.what;
  }
}

TEST_F(ComputeUnitTest, LatenciesWithStagesAndAReorderBuffer) {
  // Decoding takes one cycle before the vector unit, special instructions one cycle; the next instruction after a vector memory
  // instruction issues 8 cycles later; LDS accesses take one cycle; the reorder buffer has two entries. All else is as above,
  // but wavefronts do not wait for issue slots of their SIMD.
  const struct {
    const char* what;
    Words setup;
    std::uint64_t setup_cycles;
    Words body;
    std::uint64_t cycles;
  } table[] = {
      {"move", {}, 0, {kMove}, 5},
      {"two moves", {}, 0, {kMove, kMove}, 10},
      {"32-bit multiply", {}, 0, kMultiply32, 17},
      {"scalar move", {}, 0, {kScalarMove}, 4},
      {"nop", {}, 0, {kNop}, 1},
      {"load and go on", kLaneAddress, 15, join({kFlatLoad, {kWaitNothing}}), 9},
      // the third and fourth line enter the buffer when the first and second line have left it, after 100 cycles
      {"load and wait", kLaneAddress, 15, join({kFlatLoad, {kWaitAll}}), 10 + 1 + 100 + 100 + 10},
      {"LDS write and wait, lanes in one bank",
       {0x24000087 /* v_lshlrev_b32 v0, 7, v0 */},
       5,
       join({kLdsWrite, {kWaitLgkm}}),
       1 + 64},
  };
  for (const auto& row : table) {
    const Words body = join({row.setup, row.body});
    const std::uint64_t cycles = cost(b_.staged_unit(), body) - row.setup_cycles;
    if (row.what == std::string_view("load and go on")) {
      // The workgroup ends only when the load has returned. Longer operations after the load make the time until the next
      // instruction visible.
      Words longer;
      for (int i = 0; i < 20; ++i) longer = join({longer, kMultiply32});
      const std::uint64_t with = cost(b_.staged_unit(), join({body, longer}));
      const std::uint64_t without = cost(b_.staged_unit(), join({row.setup, longer}));
      EXPECT_EQ(with - without, row.cycles) << row.what;
    } else {
      EXPECT_EQ(cycles, row.cycles) << row.what;
    }
  }
}

TEST_F(ComputeUnitTest, VectorInstructionsOfTwoWavefrontsHideTheDecoder) {
  const Words moves(15, kMove);
  const auto cycles = [&](unsigned wavefronts) {
    const auto empty = b_.program({kEnd}, wavefronts);
    const std::uint64_t base = b_.run(b_.staged_unit(), *empty);
    const auto whole = b_.program(join({moves, {kEnd}}), wavefronts);
    return static_cast<double>(b_.run(b_.staged_unit(), *whole) - base);
  };
  EXPECT_NEAR(cycles(4), 15 * 5, 5) << "one on each SIMD";
  EXPECT_NEAR(cycles(8), 4 * 2 * 15 * 4, 20) << "two on a SIMD keep its vector unit busy, and the other SIMDs waiting";
}

TEST_F(ComputeUnitTest, CodeArgumentsAndPacketHaveSeparatePagesWithASalt) {
  constexpr std::uint64_t kSalt = std::uint64_t{7} << 48;
  const auto d = b_.program(join({kLaneAddress, kScalarLoad, kFlatLoad, {kWaitAll, kEnd}}));
  d->packet_address = ComputeUnitBench::kData + 0x3000;
  for (const std::uint64_t salt : {std::uint64_t{0}, kSalt}) {
    for (RecordingTranslation* tlb : {&b_.vector_tlb, &b_.scalar_tlb, &b_.instruction_tlb}) tlb->addresses.clear();
    d->page_salt = salt;
    ASSERT_GT(b_.run(b_.staged_unit(), *d), 0U);
    EXPECT_EQ(b_.scalar_tlb.addresses, std::vector<std::uint64_t>{ComputeUnitBench::kData ^ salt});
    EXPECT_EQ(b_.vector_tlb.addresses, std::vector<std::uint64_t>{ComputeUnitBench::kData});
    ASSERT_FALSE(b_.instruction_tlb.addresses.empty());
    for (const std::uint64_t address : b_.instruction_tlb.addresses) EXPECT_EQ(address >> 48, salt >> 48);
  }
  EXPECT_TRUE(d->launch_page(d->packet_address));
  EXPECT_FALSE(d->launch_page(ComputeUnitBench::kData + 0x1000));
}

TEST_F(ComputeUnitTest, LanesThatAccessTheSameBankAreSerialized) {
  const auto conflicts = [&](std::uint32_t shift) {
    const auto program = b_.program({0x24000080 | shift,          // v_lshlrev_b32 v0, shift, v0: bytes between lanes
                                     0x7e020280,                  // v_mov_b32 v1, 0
                                     0xbefc00c1,                  // s_mov_b32 m0, -1
                                     kLdsWrite[0], kLdsWrite[1],  //
                                     kEnd});
    const std::uint64_t before = b_.loose().lds().conflict_cycles();
    EXPECT_NE(b_.run(b_.loose(), *program), 0u);
    return b_.loose().lds().conflict_cycles() - before;
  };
  EXPECT_EQ(conflicts(2), 0u) << "a dword apart: 32 lanes, 32 banks, two passes";
  EXPECT_EQ(conflicts(3), 2u) << "two dwords apart: each pass of 32 lanes meets in 16 banks";
  EXPECT_EQ(conflicts(4), 6u) << "four dwords apart: four lanes in each of 8 banks";
}

// The next line is requested when the wavefront enters the current line, even if the current line arrived long before: the
// request is not made for that past time.
TEST_F(ComputeUnitTest, NoRequestIsMadeInThePast) {
  Words words(48, kNop);  // three lines
  words.front() = kLongSleep;
  words.push_back(kEnd);
  const auto program = b_.program(words);
  ASSERT_GT(b_.run(b_.loose(), *program), 1000U);  // many windows
  EXPECT_LT(b_.memories[0]->furthest_ahead, Tick{1'000'000});
}

TEST_F(ComputeUnitTest, LengthOfWindowsDoesNotChangeASingleWavefront) {
  const Words body =
      join({kLaneAddress, kFlatLoad, {kWaitAll, kMove, kReciprocal}, kMultiply64, kFlatStore, {kWaitAll, kBarrier}});
  EXPECT_EQ(cost(b_.loose(), body), cost(b_.in_short_windows(), body));
}

// Four SIMDs that are served in turn run concurrently. With SimdPolicy::last_served, a SIMD with two wavefronts always has a
// wavefront that can issue: the SIMDs execute their older wavefronts one after the other, then the younger concurrently.
TEST_F(ComputeUnitTest, WithLastServedASimdWithTwoWavefrontsStarvesTheOthers) {
  const Words moves(15, kMove);  // a line of instructions together with s_endpgm
  const auto cycles = [&](ComputeUnit& unit, unsigned wavefronts) {
    const auto empty = b_.program({kEnd}, wavefronts);
    const std::uint64_t base = b_.run(unit, *empty);
    const auto whole = b_.program(join({moves, {kEnd}}), wavefronts);
    return static_cast<double>(b_.run(unit, *whole) - base);
  };
  EXPECT_NEAR(cycles(b_.loose(), 8), 2 * 15 * 4, 8);
  EXPECT_NEAR(cycles(b_.last_served(), 8), (4 + 1) * 15 * 4, 8);
  EXPECT_NEAR(cycles(b_.loose(), 4), 15 * 4, 8);
  EXPECT_NEAR(cycles(b_.last_served(), 4), 15 * 4, 8) << "a single wavefront requests nothing while its instruction executes";
}

TEST_F(ComputeUnitTest, LinesOfALoadAreRequestedOnce) {
  const auto d = b_.program(join({kLaneAddress, kFlatLoad, {kWaitAll, kEnd}}));
  b_.memories[0]->vector_addresses.clear();
  ASSERT_GT(b_.run(b_.loose(), *d), 0u);
  const std::vector<std::uint64_t> expected = {0x2000'0000, 0x2000'0040, 0x2000'0080, 0x2000'00c0};
  EXPECT_EQ(b_.memories[0]->vector_addresses, expected) << "bus addresses of 64 consecutive dwords";
}

TEST_F(ComputeUnitTest, AllModesComputeTheSame) {
  // data[lane] = 4 * lane + kernarg address, by flat_store_dword v[0:1], v0
  const Words body = join({kLaneAddress, {0xdc700000, 0x00000000}, {kWaitAll, kEnd}});
  for (const auto& unit : b_.units) {
    std::fill_n(b_.data(), 64, 0u);
    const auto d = b_.program(body);
    ASSERT_GT(b_.run(*unit, *d), 0u);
    for (std::uint32_t lane = 0; lane < 64; ++lane) EXPECT_EQ(b_.data()[lane], ComputeUnitBench::kData + 4 * lane);
    EXPECT_EQ(d->wavefront_instructions, 6u);
    EXPECT_EQ(d->thread_instructions, 4u * 64 + 2);
    EXPECT_TRUE(unit->idle());
  }
}

// Timed modes execute a part of the loop before it issues; instructions are counted when they issue, with the lanes active
// then.
TEST_F(ComputeUnitTest, ALoopWithDecreasingLanesIsCountedAsItIssues) {
  const Words setup = {0x7e060300,               // v_mov_b32 v3, v0
                       0x7e080280,               // v_mov_b32 v4, 0
                       0xbe880083};              // s_mov_b32 s8, 3
  const Words loop = {0x7d980690,                // v_cmp_gt_u32 vcc, 16, v3
                      0xbe8a206a,                // s_and_saveexec_b64 s[10:11], vcc
                      0xbf880002,                // s_cbranch_execz, past the additions
                      0x32080881,                // v_add_u32 v4, vcc, 1, v4
                      0x32080881,                // v_add_u32 v4, vcc, 1, v4: executed together with the previous one
                      0x87fe0a7e,                // s_or_b64 exec, exec, s[10:11]
                      0x32060690,                // v_add_u32 v3, vcc, 16, v3
                      0x80888108,                // s_sub_u32 s8, s8, 1
                      0xbf078008,                // s_cmp_lg_u32 s8, 0
                      0xbf85fff6};               // s_cbranch_scc1, to the comparison
  const Words store = {0xdc700000, 0x00000400};  // flat_store_dword v[0:1], v4
  for (const auto& unit : b_.units) {
    const auto d = b_.program(join({setup, kLaneAddress, loop, store, {kWaitAll, kEnd}}));
    std::fill_n(b_.data(), 64, 9u);
    ASSERT_GT(b_.run(*unit, *d), 0u);
    for (std::uint32_t lane = 0; lane < 64; ++lane) EXPECT_EQ(b_.data()[lane], lane < 16 ? 2u : 0u) << lane;
    // In the second and third iteration the additions are skipped.
    EXPECT_EQ(d->wavefront_instructions, 3u + 3 + 10 + 8 + 8 + 3);
    EXPECT_EQ(d->thread_instructions, 2u * 64 + 1 + 3 * 64 + (3 * (2 * 64 + 6) + 2 * 16) + 64 + 2);
  }
}

TEST_F(ComputeUnitTest, AtomicsReturnTheirValuesAndComeBeforeTheNextLoad) {
  const Words kAtomicAdd = {0xdd090000, 0x02000000};  // flat_atomic_add v2, v[0:1], v0 glc
  const Words kLoadAgain = {0xdc500000, 0x03000000};  // flat_load_dword v3, v[0:1]
  const Words kSum = {0x32040702};                    // v_add_u32 v2, vcc, v2, v3
  const Words body = join({kLaneAddress, kAtomicAdd, kLoadAgain, {kWaitAll}, kSum, kFlatStore, {kWaitAll, kEnd}});
  for (const auto& unit : b_.units) {
    std::iota(b_.data(), b_.data() + 64, 0u);
    const auto d = b_.program(body);
    ASSERT_GT(b_.run(*unit, *d), 0u);
    for (std::uint32_t lane = 0; lane < 64; ++lane) EXPECT_EQ(b_.data()[lane], 2 * lane + ComputeUnitBench::kData + 4 * lane);
  }
}

TEST_F(ComputeUnitTest, EndWithOutstandingStoresLosesNone) {
  // No s_waitcnt between the store and s_endpgm: the workgroup is done only when memory has accepted the last store.
  const Words body = join({kLaneAddress, {0xdc700000, 0x00000000}, {kEnd}});
  for (const auto& unit : b_.units) {
    std::fill_n(b_.data(), 64, 0u);
    const auto without = b_.program(join({kLaneAddress, {kEnd}}));
    const std::uint64_t least = b_.run(*unit, *without) + b_.memories[0]->latency.ps / 1000;
    const auto d = b_.program(body);
    const std::uint64_t cycles = b_.run(*unit, *d);
    ASSERT_GT(cycles, 0u);
    for (std::uint32_t lane = 0; lane < 64; ++lane) EXPECT_EQ(b_.data()[lane], ComputeUnitBench::kData + 4 * lane);
    if (unit.get() != &b_.functional()) {
      EXPECT_GE(cycles, least);
    }
    EXPECT_TRUE(unit->idle());
  }
}

TEST_F(ComputeUnitTest, BarrierHoldsTheFastUntilTheSlow) {
  // Wavefronts of one workgroup run the same code; 16 wavefronts share four SIMDs, so the last reaches the barrier later than
  // the first.
  const auto one = b_.program({kMove, kBarrier, kEnd}, 1);
  const std::uint64_t alone = b_.run(b_.in_short_windows(), *one);
  const auto many = b_.program({kMove, kBarrier, kEnd}, 16);
  const std::uint64_t all = b_.run(b_.in_short_windows(), *many);
  // Four wavefronts per SIMD: the fourth issues its v_mov 3 x 4 cycles after the first.
  EXPECT_GE(all, alone + 12);
  EXPECT_LE(all, alone + 40);
}

TEST_F(ComputeUnitTest, ResourcesLimitResidency) {
  struct Row {
    const char* what;
    WorkgroupNeeds needs;
    unsigned fit;
  };
  const Row table[] = {
      {"wavefront slots", {.wavefronts = 1, .vgprs = 4, .agprs = 0, .sgprs = 16, .lds_bytes = 0}, 40},
      {"VGPRs: 256 / 84 = 3 a SIMD", {.wavefronts = 1, .vgprs = 84, .agprs = 0, .sgprs = 16, .lds_bytes = 0}, 12},
      {"SGPRs: 800 / 112 = 7 a SIMD", {.wavefronts = 1, .vgprs = 4, .agprs = 0, .sgprs = 112, .lds_bytes = 0}, 28},
      {"LDS: 65536 / 20480 = 3", {.wavefronts = 1, .vgprs = 4, .agprs = 0, .sgprs = 16, .lds_bytes = 20000}, 3},
      {"whole workgroups: 40 / 16", {.wavefronts = 16, .vgprs = 4, .agprs = 0, .sgprs = 16, .lds_bytes = 0}, 2},
  };
  for (const Row& row : table) {
    const auto d = b_.program({0xbf82ffff});  // s_branch to itself
    d->needs = row.needs;
    d->grid = d->workgroup = {row.needs.wavefronts * isa::kLanes, 1, 1};
    unsigned launched = 0;
    while (launched < 100 && b_.loose().launch(*d, 0, now(), {})) ++launched;
    EXPECT_EQ(launched, row.fit) << row.what;
    EXPECT_EQ(b_.loose().abort(*d), row.fit);
    EXPECT_TRUE(b_.loose().idle());
    EXPECT_TRUE(b_.loose().launch(*d, 0, now(), {})) << row.what << ": abort gives everything back";
    b_.loose().abort(*d);
  }
}

// Wavefronts receive their initial state when the unit runs next; reports before that also show the initial state.
TEST_F(ComputeUnitTest, WavefrontsThatHaveNotIssuedAreAtTheirEntry) {
  const auto before = b_.program({kMove, kMove, kEnd}, 2);
  ASSERT_GT(b_.run(b_.loose(), *before), 0U);
  const auto d = b_.program({kMove, kEnd}, 2);
  ASSERT_TRUE(b_.loose().launch(*d, 0, now(), {}));
  std::vector<WavefrontSnapshot> wavefronts;
  b_.loose().take_snapshot(wavefronts);
  ASSERT_EQ(wavefronts.size(), 2U);
  for (const WavefrontSnapshot& w : wavefronts) {
    EXPECT_EQ(w.dispatch, d.get());
    EXPECT_EQ(w.pc, 0x10000U);
    EXPECT_EQ(w.work_items, 64U);
    EXPECT_EQ(w.wait, WavefrontWait::none);
  }
  EXPECT_EQ(wavefronts[0].wave_in_group + wavefronts[1].wave_in_group, 1U);
  EXPECT_EQ(d->wavefronts, 2U);
  EXPECT_EQ(b_.loose().abort(*d), 1U);
  EXPECT_TRUE(b_.loose().idle());
  ASSERT_TRUE(b_.loose().launch(*d, 0, now(), {}));
  EXPECT_EQ(b_.loose().abort(*d), 1U);
  EXPECT_TRUE(d->activity.classes.empty()) << "not collected yet";
  d->collect();
  EXPECT_EQ(d->activity.classes[0].wavefronts, 2U);
  EXPECT_GT(b_.run(b_.loose(), *before), 0U) << "aborted ones leave no trace";
}

TEST_F(ComputeUnitTest, FitErrorsHaveNumbers) {
  WorkgroupNeeds needs{.wavefronts = 1, .vgprs = 8, .agprs = 0, .sgprs = 16, .lds_bytes = 65536};
  EXPECT_EQ(b_.loose().fit_error(needs), std::nullopt);
  needs.lds_bytes = 65537;
  EXPECT_EQ(b_.loose().fit_error(needs), "workgroup needs 65537 bytes of LDS, a compute unit has 65536");
  needs = {.wavefronts = 16, .vgprs = 64, .agprs = 0, .sgprs = 16, .lds_bytes = 0};
  EXPECT_EQ(b_.loose().fit_error(needs), std::nullopt);
  needs.vgprs = 68;
  EXPECT_EQ(b_.loose().fit_error(needs), "workgroup has 16 wavefronts, its registers let a compute unit hold 12");
}

TEST_F(ComputeUnitTest, StoreToUnmappedMemoryNamesEverything) {
  const auto d = b_.program(join({{0x7e000280, 0x7e020280}, kFlatStore, {kEnd}}));  // v0 = v1 = 0
  b_.run(b_.loose(), *d);
  ASSERT_EQ(b_.listener.faults.size(), 1u);
  const WavefrontFault& f = b_.listener.faults[0];
  EXPECT_EQ(f.code, static_cast<std::uint32_t>(LACUNA_FAULT_NOT_MAPPED));
  EXPECT_EQ(f.address, 0u);
  EXPECT_EQ(f.pc, ComputeUnitBench::kCode + 8);
  for (const char* part : {"store", "lane 0", "0x0", "flat_store_dword v[0:1], v2", "workgroup (0, 0, 0)", "wavefront 0",
                           "65536 bytes before the mapping [0x10000, 0x20000)"}) {
    EXPECT_NE((f.what + f.where).find(part), std::string::npos) << part << " in: " << f.what << f.where;
  }
  EXPECT_TRUE(b_.loose().idle());
}

TEST_F(ComputeUnitTest, StoreToCodeIsNotPermitted) {
  const auto d = b_.program(join({{0x7e0002ff, 0x10000, 0x7e020280}, kFlatStore, {kEnd}}));  // v0 = 0x10000
  b_.run(b_.loose(), *d);
  ASSERT_EQ(b_.listener.faults.size(), 1u);
  EXPECT_EQ(b_.listener.faults[0].code, static_cast<std::uint32_t>(LACUNA_FAULT_NOT_PERMITTED));
}

TEST_F(ComputeUnitTest, UnknownInstructionNamesItsBytes) {
  const auto d = b_.program({kMove, 0xfc000000, kEnd});  // no encoding of gfx803
  b_.run(b_.loose(), *d);
  ASSERT_EQ(b_.listener.faults.size(), 1u);
  EXPECT_EQ(b_.listener.faults[0].code, static_cast<std::uint32_t>(LACUNA_FAULT_ILLEGAL_INSTRUCTION));
  EXPECT_EQ(b_.listener.faults[0].pc, ComputeUnitBench::kCode + 4);
  EXPECT_NE(b_.listener.faults[0].what.find("fc000000"), std::string::npos) << b_.listener.faults[0].what;
}

TEST_F(ComputeUnitTest, RunningOffTheCodeIsAFetchFault) {
  const auto d = b_.program({0xbf827fff});  // s_branch 0x7fff words ahead, past the mapping
  b_.run(b_.loose(), *d);
  ASSERT_EQ(b_.listener.faults.size(), 1u);
  EXPECT_EQ(b_.listener.faults[0].code, static_cast<std::uint32_t>(LACUNA_FAULT_FETCH));
}

TEST_F(ComputeUnitTest, TrapNamesTheLanesThatAreActive) {
  const struct {
    std::uint32_t exec;  // low half, as a literal; the high half is zero
    const char* lanes;
  } cases[] = {{0x20, "trap 2, lane 5"}, {0xc0000010, "trap 2, 3 lanes, the first is lane 4"}, {0, "trap 2, no active lane"}};
  for (const auto& [exec, lanes] : cases) {
    b_.listener.faults.clear();
    const auto trap = b_.program({0xbefe00ff, exec, 0xbeff0080, 0xbf920002, kEnd});  // s_mov_b32 exec_lo, exec_hi; s_trap 2
    b_.run(b_.loose(), *trap);
    ASSERT_EQ(b_.listener.faults.size(), 1u);
    EXPECT_EQ(b_.listener.faults[0].code, static_cast<std::uint32_t>(LACUNA_FAULT_TRAP));
    EXPECT_EQ(b_.listener.faults[0].what, lanes);
  }
  const auto whole = b_.program({0xbf920002, kEnd});
  b_.run(b_.loose(), *whole);
  EXPECT_EQ(b_.listener.faults.back().what, "trap 2, 64 lanes, the first is lane 0");
}

TEST_F(ComputeUnitTest, DebuggerTrapsAreSkippedWithoutADebugger) {
  const auto breakpoint = b_.program({0xbf920003, kMove, kEnd});  // s_trap 3
  for (ComputeUnit* unit : {&b_.loose(), &b_.functional()}) {
    b_.run(*unit, *breakpoint);
    EXPECT_TRUE(b_.listener.faults.empty());
  }
}

// A lane accesses the buffer of private memory beyond the lane's private memory.
TEST_F(ComputeUnitTest, ExceededPrivateMemoryNamesTheLimitAndItsSource) {
  const auto d = b_.program({0xe0700000, 0x80000200, kEnd});  // buffer_store_dword v2, off, s[0:3], 0
  d->packet.private_segment_size = 16;
  d->scratch.base = ComputeUnitBench::kData;
  d->scratch.bytes = 4096;
  d->scratch.resource_descriptor = {ComputeUnitBench::kData, 1u << 31, 4096, 1u << 19 | 3u << 21 | 1u << 23};
  d->descriptor.properties = 1;
  d->descriptor.rsrc2 = 4u << 1;
  b_.run(b_.loose(), *d);
  EXPECT_TRUE(b_.listener.faults.empty()) << b_.listener.faults[0].what;
  const auto beyond = b_.program({0xe0700010, 0x80000200, kEnd});  // offset:16
  beyond->packet = d->packet;
  beyond->scratch = d->scratch;
  beyond->descriptor = d->descriptor;
  b_.run(b_.loose(), *beyond);
  ASSERT_EQ(b_.listener.faults.size(), 1u);
  const WavefrontFault& f = b_.listener.faults[0];
  EXPECT_EQ(f.code, static_cast<std::uint32_t>(LACUNA_FAULT_PRIVATE_RANGE));
  EXPECT_EQ(f.address, 16u);
  for (const char* part :
       {"private memory of 16 bytes a lane exceeded", "store or atomic of 4 bytes at its byte 16", "lane 0",
        "buffer_store_dword", "workgroup (0, 0, 0)", "wavefront 0", "private_segment_size", ".private_segment_fixed_size"}) {
    EXPECT_NE((f.what + f.where).find(part), std::string::npos) << part << " in: " << f.what << f.where;
  }
}

TEST_F(ComputeUnitTest, Message) {
  const auto message = b_.program({0xbefc0085, 0xbf900001, kEnd});  // s_mov_b32 m0, 5; s_sendmsg sendmsg(MSG_INTERRUPT)
  b_.run(b_.loose(), *message);
  EXPECT_EQ(b_.listener.messages, std::vector<std::uint32_t>{5});
}

}  // namespace
}  // namespace lacuna::test
