// Tests the effects of the events that instructions raise in their wavefronts.
#include "models/compute/wavefront_events.h"

#include <gtest/gtest.h>

#include "tests/compute/instruction_words.h"
#include "tests/compute/unit_parts.h"

namespace lacuna::test {
namespace {

/// A cache whose invalidation takes 40 ns. Counts invalidations.
struct SlowCache : CacheMaintenance {
  Tick invalidate(Tick at) override {
    ++invalidations;
    return at + Tick{40'000};
  }
  Tick write_back(Tick at) override { return at; }
  void drop_clean(std::uint64_t, std::uint64_t) override {}
  unsigned invalidations = 0;
};

class WavefrontEventsTest : public testing::Test {
 protected:
  /// Handles an event as if the wavefront's next instruction, which issued in cycle 20 and takes 4, had raised it.
  bool raise(isa::Event event, std::uint32_t value = 0) {
    slot_.when = Cycles{24};
    slot_.wave.raise(event, value);
    const bool continues = p_.events.handle(slot_, *slot_.next, Cycles{20});
    EXPECT_EQ(slot_.wave.event, isa::Event::none);
    return continues;
  }

  UnitParts p_;
  std::unique_ptr<Dispatch> dispatch_ = p_.dispatch({kNop, kNop, kEnd});
  ResidentWorkgroup& group_ = p_.start(*dispatch_);
  WavefrontSlot& slot_ = *group_.slots[0];
};

TEST_F(WavefrontEventsTest, SleepAndWaitStatesDelayTheWavefront) {
  EXPECT_TRUE(raise(isa::Event::sleep, 64));
  EXPECT_EQ(slot_.when, Cycles{84});
  EXPECT_EQ((*slot_.activity)[StallCause::sleep], 60U);
  EXPECT_TRUE(raise(isa::Event::wait_states, 3));
  EXPECT_EQ(slot_.when, Cycles{24 + 3 * 4});
}

TEST_F(WavefrontEventsTest, AMessageIsReportedWithM0) {
  slot_.wave.sgpr[isa::kM0] = 5;
  EXPECT_TRUE(raise(isa::Event::message, 1));
  EXPECT_TRUE(raise(isa::Event::message, 2)) << "no interrupt";
  p_.deliver();
  EXPECT_EQ(p_.listener.messages, std::vector<std::uint32_t>{5});
}

TEST_F(WavefrontEventsTest, FaultsStopTheWavefront) {
  const struct {
    isa::Event event;
    std::uint32_t value;
    const char* what;
  } table[] = {{isa::Event::message, 1 | isa::kMessageThenHalt, "wavefront halted itself (s_sendmsghalt)"},
               {isa::Event::halt, 0, "wavefront halted itself (s_sethalt 1)"},
               {isa::Event::trap, 2, "trap 2, 64 lanes, the first is lane 0"},
               {isa::Event::arithmetic_exception, 0, "arithmetic exception"},
               {isa::Event::illegal_instruction, 0, "illegal instruction"},
               {isa::Event::wave_sync, 0, "global wave sync, which the queue has not been given"}};
  for (const auto& row : table) {
    EXPECT_FALSE(raise(row.event, row.value)) << row.what;
    EXPECT_TRUE(slot_.held_by(StallReason::fault));
    p_.deliver();
    EXPECT_EQ(p_.listener.faults.back().what, row.what);
  }
}

TEST_F(WavefrontEventsTest, WithoutADebuggerItsTrapIsSkipped) {
  EXPECT_TRUE(raise(isa::Event::trap, isa::kDebugTrap));
  EXPECT_FALSE(slot_.held());
}

TEST_F(WavefrontEventsTest, TheEndOfTheProgramEndsTheWavefront) {
  EXPECT_FALSE(raise(isa::Event::end_program));
  EXPECT_FALSE(slot_.resident);
  p_.deliver();
  EXPECT_EQ(p_.listener.done, std::vector<Tick>{p_.tick(21)});
}

TEST_F(WavefrontEventsTest, SyncHoldsTheWavefrontUntilItIsReleased) {
  dispatch_->may_sync_grid = true;
  p_.listener.sync_passes = false;
  EXPECT_FALSE(raise(isa::Event::wave_sync, 1u << 8));
  p_.deliver();
  EXPECT_TRUE(slot_.held_by(StallReason::sync));
  p_.events.release_from_sync(slot_, p_.tick(100));
  EXPECT_FALSE(slot_.held());
  EXPECT_EQ(slot_.when, Cycles{100} + p_.parameters.barrier_latency);
}

class CacheInvalidationTest : public WavefrontEventsTest {
 protected:
  CacheInvalidationTest() { p_.events.attach_caches(&vector_, &scalar_, &instruction_); }
  bool invalidate(const Words& words) {
    const auto d = p_.dispatch(words);
    slot_.next = p_.code.at(UnitParts::kCode);
    return raise(isa::Event::cache_invalidate);
  }
  SlowCache vector_;
  SlowCache scalar_;
  SlowCache instruction_;
};

TEST_F(CacheInvalidationTest, VectorCacheInvalidationCountsInVmcnt) {
  EXPECT_TRUE(invalidate({0xe0f80000, 0}));  // buffer_wbinvl1
  EXPECT_EQ(vector_.invalidations, 1U);
  EXPECT_EQ(slot_.when, Cycles{24});
  EXPECT_EQ(slot_.vmcnt.when_at_most(0, Cycles{20}), Cycles{60});
}

TEST_F(CacheInvalidationTest, ScalarCacheInvalidationDelaysTheWavefront) {
  EXPECT_TRUE(invalidate({0xc0800000, 0}));  // s_dcache_inv
  EXPECT_EQ(scalar_.invalidations, 1U);
  EXPECT_EQ(slot_.when, Cycles{60});
}

TEST_F(CacheInvalidationTest, CodeInvalidationHoldsTheWavefrontUntilTheEndOfTheWindow) {
  EXPECT_FALSE(invalidate({0xbf930000}));  // s_icache_inv
  EXPECT_EQ(instruction_.invalidations, 1U);
  EXPECT_TRUE(slot_.held_by(StallReason::sync));
  p_.deliver();
  EXPECT_FALSE(slot_.held());
}

}  // namespace
}  // namespace lacuna::test
