// Tests the memory pipe: times of instructions, responses that arrive later, load stages, wavefronts that end with stores in
// flight.
#include "models/compute/memory/memory_pipe.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/compute/instruction_words.h"
#include "tests/compute/unit_parts.h"

namespace lacuna::test {
namespace {

using namespace literals;

// v[0:1] = s[0:1] + 4 * lane
const Words kAddressOfLane = {0x24000082, 0x32000000, 0x7e020201};

Words join(std::initializer_list<Words> parts) {
  Words all;
  for (const Words& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Starts a wavefront that has executed kAddressOfLane.
WavefrontSlot& start(UnitParts& p, Dispatch& d) {
  WavefrontSlot& slot = *p.start(d).slots[0];
  for (unsigned i = 0; i < 3; ++i) p.issue(slot, Cycles{0});
  return slot;
}

TEST(MemoryPipe, ALoadCompletesWithItsLastLine) {
  UnitParts p;
  const auto d = p.dispatch(join({kAddressOfLane, kFlatLoad, {kEnd}}));
  WavefrontSlot& slot = start(p, *d);
  p.issue(slot, Cycles{20});
  EXPECT_EQ(p.vector_memory.requests, 4U);
  EXPECT_EQ(p.memory.vector_requests(), 4U);
  // in cycles: 10 to the cache, 3 until the last of four lines, 100 in the cache, 10 back: 123
  EXPECT_EQ(slot.vmcnt.when_at_most(0, Cycles{20}), Cycles{20 + 123});
  EXPECT_EQ(slot.lgkmcnt.when_at_most(0, Cycles{20}), Cycles{20 + 123}) << "FLAT counts in both";
}

TEST(MemoryPipe, WaitsForTheAddressUnitAreCounted) {
  UnitParts p;
  const auto d = p.dispatch(join({kAddressOfLane, kFlatLoad, kFlatStore, {kEnd}}));
  WavefrontSlot& slot = start(p, *d);
  p.issue(slot, Cycles{20});
  const VectorMemoryWaits& waits = slot.group->work->activity.vmem_waits;
  EXPECT_EQ(waits.address_unit, 0U);
  // The load occupies the unit for four cycles.
  p.issue(slot, Cycles{21});
  EXPECT_EQ(waits.address_unit, 3U);
  EXPECT_EQ(waits.counter, 0U);
}

TEST(MemoryPipe, AScalarLoadCountsInLgkmcnt) {
  UnitParts p;
  p.scalar_memory.latency = Tick{50'000};
  const auto d = p.dispatch(join({kScalarLoad, {kEnd}}));
  WavefrontSlot& slot = *p.start(*d).slots[0];
  p.issue(slot, Cycles{20});
  EXPECT_EQ(p.memory.scalar_requests(), 1U);
  EXPECT_EQ(slot.vmcnt.outstanding(), 0U);
  EXPECT_EQ(slot.lgkmcnt.when_at_most(0, Cycles{20}), Cycles{20 + 60});
}

TEST(MemoryPipe, LoadRequestsAreCountedByKindAndSource) {
  UnitParts p;
  const auto d = p.dispatch(
      join({kScalarLoad, kScalarLoad, kScalarLoad, kScalarLoad, kScalarLoad, kAddressOfLane, kFlatLoad, kFlatStore, {kEnd}}));
  WavefrontSlot& slot = *p.start(*d).slots[0];
  const KernelActivity& activity = slot.group->work->activity;
  const auto counts = [&activity](LoadKind kind) {
    const LoadSources& sources = activity.loads[static_cast<std::size_t>(kind)];
    return std::array{sources.requests, sources.from_l2, sources.from_memory};
  };
  using Counts = std::array<std::uint64_t, 3>;
  p.issue(slot, Cycles{20});
  EXPECT_EQ(counts(LoadKind::scalar_arguments), (Counts{1, 0, 0})) << "s[0:1] is the pointer to the arguments";
  EXPECT_EQ(activity.scalar_data_dwords, 0U);

  d->packet.kernarg_address = 0;  // from here on, the address is in the data memory
  p.issue(slot, Cycles{40});
  p.scalar_memory.defers = true;
  p.issue(slot, Cycles{60});
  p.scalar_memory.respond();
  EXPECT_EQ(counts(LoadKind::scalar_data), (Counts{2, 0, 0})) << "a hit and a secondary miss";
  LatencyBreakdown below;
  below.add(MemoryLevel::l2, {}, 40_ns);
  p.scalar_memory.below = &below;
  p.issue(slot, Cycles{80});
  p.scalar_memory.respond();
  below.add(MemoryLevel::dram, {}, 100_ns);
  p.issue(slot, Cycles{100});
  p.scalar_memory.respond();
  EXPECT_EQ(counts(LoadKind::scalar_data), (Counts{4, 1, 1}));
  EXPECT_EQ(activity.scalar_data_dwords, 8U);
  EXPECT_EQ(counts(LoadKind::scalar_arguments), (Counts{1, 0, 0}));
  EXPECT_EQ(counts(LoadKind::vector), Counts{});

  p.vector_memory.below = &below;
  for (unsigned i = 0; i < 5; ++i) p.issue(slot, Cycles{120 + 40 * i});
  EXPECT_EQ(counts(LoadKind::vector), (Counts{4, 0, 4})) << "four lines; a store is no load";
  EXPECT_EQ(activity.requests, 9U);
}

TEST(MemoryPipe, LdsInstructionsOccupyTheLdsOneAfterTheOther) {
  UnitParts p;
  const auto d = p.dispatch({kEnd});
  WavefrontSlot& slot = *p.start(*d).slots[0];
  p.memory.issue_lds(slot, {.busy = 4, .conflicts = 3}, Cycles{20});
  p.memory.issue_lds(slot, {.busy = 1, .conflicts = 0}, Cycles{20});
  EXPECT_EQ(slot.lgkmcnt.when_at_most(1, Cycles{20}), Cycles{20 + 4 + 64});
  EXPECT_EQ(slot.lgkmcnt.when_at_most(0, Cycles{20}), Cycles{20 + 5 + 64});
  EXPECT_EQ(p.memory.lds().conflict_cycles(), 3U);
}

TEST(MemoryPipe, AResponseAfterTheWaitReleasesTheWavefront) {
  UnitParts p;
  p.vector_memory.defers = true;
  const auto d = p.dispatch(join({kAddressOfLane, kFlatLoad, {kEnd}}));
  WavefrontSlot& slot = start(p, *d);
  p.issue(slot, Cycles{20});
  EXPECT_EQ(p.memory.oldest_load(), p.tick(30));
  p.memory.wait(slot, 0x0f70, Cycles{24});
  EXPECT_TRUE(slot.held_by(StallReason::vmcnt));
  p.vector_memory.respond();
  EXPECT_FALSE(slot.held());
  EXPECT_EQ(slot.when, Cycles{20 + 123});
  EXPECT_EQ(p.memory.oldest_load(), kNever);
}

TEST(MemoryPipe, AWorkgroupIsDoneWhenItsLastStoreIsPerformed) {
  UnitParts p;
  p.vector_memory.defers = true;
  const auto d = p.dispatch(join({kAddressOfLane, kFlatStore, {kEnd}}));
  WavefrontSlot& slot = start(p, *d);
  p.issue(slot, Cycles{20});
  p.issue(slot, Cycles{24});  // s_endpgm
  EXPECT_EQ(p.pool.resident(), 0U);
  p.deliver();
  EXPECT_TRUE(p.listener.done.empty());
  p.vector_memory.respond();
  p.deliver();
  EXPECT_EQ(p.listener.done, std::vector<Tick>{p.tick(20 + 123 + 1)});
}

TEST(MemoryPipe, ResponsesOfADroppedDispatchReachNoWavefront) {
  UnitParts p;
  p.vector_memory.defers = true;
  const auto d = p.dispatch(join({kAddressOfLane, kFlatLoad, {kEnd}}));
  WavefrontSlot& slot = start(p, *d);
  p.issue(slot, Cycles{20});
  EXPECT_EQ(p.workgroups.abort(*d), 1U);
  const auto next = p.dispatch({kEnd});
  p.start(*next);
  p.vector_memory.respond();
  EXPECT_EQ(slot.vmcnt.outstanding(), 0U);
  EXPECT_EQ(p.pool.resident(), 1U);
  p.deliver();
  EXPECT_TRUE(p.listener.done.empty());
}

/// A load stage that stalls its first instruction, serves no access, and counts calls.
struct CountingStage : LoadStage {
  struct Counts {
    unsigned prepared = 0;
    unsigned accesses = 0;
    unsigned ended = 0;
  };
  CountingStage(const LoadStageContext& context, Counts& c) : LoadStage(context.memory), counts(c) {}
  StageVerdict prepare(WavefrontSlot&, const isa::DecodedInstruction&, Cycles) override {
    return {.issues = counts.prepared++ > 0};
  }
  MemoryTokens::Token access(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                             Cycles cycle) override {
    ++counts.accesses;
    return pass_on(slot, instruction, counters, cycle);
  }
  void wavefront_ended(WavefrontSlot&) override { ++counts.ended; }
  Counts& counts;
};

TEST(MemoryPipe, AccessesPassTheStagesInTheirOrder) {
  CountingStage::Counts first;
  CountingStage::Counts second;
  const std::vector<LoadStageFactory> stages = {
      [&](const LoadStageContext& c) { return std::make_unique<CountingStage>(c, first); },
      [](const LoadStageContext&) { return nullptr; },
      [&](const LoadStageContext& c) { return std::make_unique<CountingStage>(c, second); }};
  UnitParts p{UnitParts::Options{.stages = stages}};
  EXPECT_EQ(p.memory.stages().size(), 2U);
  const auto d = p.dispatch(join({kAddressOfLane, kFlatLoad, {kEnd}}));
  WavefrontSlot& slot = start(p, *d);
  EXPECT_TRUE(slot.staged);
  EXPECT_FALSE(p.memory.prepare(slot, *slot.next, Cycles{20}).issues);
  EXPECT_EQ(second.prepared, 0U) << "the first stage stalls the wavefront";
  EXPECT_FALSE(p.memory.prepare(slot, *slot.next, Cycles{24}).issues);
  EXPECT_TRUE(p.memory.prepare(slot, *slot.next, Cycles{28}).issues);
  p.issue(slot, Cycles{28});
  EXPECT_EQ(first.accesses, 1U);
  EXPECT_EQ(second.accesses, 1U);
  EXPECT_EQ(slot.vmcnt.when_at_most(0, Cycles{28}), Cycles{28 + 123});
  p.issue(slot, Cycles{32});  // s_endpgm
  EXPECT_EQ(first.ended, 1U);
  EXPECT_EQ(second.ended, 1U);
}

/// A load stage that serves no dispatch.
struct IdleStage final : CountingStage {
  using CountingStage::CountingStage;
  bool serves(const Dispatch&) const override { return false; }
};

TEST(MemoryPipe, WavefrontsThatNoStageServesRunAsWithoutStages) {
  CountingStage::Counts idle;
  CountingStage::Counts busy;
  std::vector<LoadStageFactory> stages = {[&](const LoadStageContext& c) { return std::make_unique<IdleStage>(c, idle); }};
  const auto is_staged = [&] {
    UnitParts p{UnitParts::Options{.stages = stages}};
    const auto d = p.dispatch(join({kAddressOfLane, kFlatLoad, {kEnd}}));
    WavefrontSlot& slot = start(p, *d);
    p.issue(slot, Cycles{28});
    EXPECT_EQ(slot.vmcnt.when_at_most(0, Cycles{28}), Cycles{28 + 123});
    p.issue(slot, Cycles{32});  // s_endpgm
    return slot.staged;
  };
  EXPECT_FALSE(is_staged());
  EXPECT_EQ(idle.accesses, 0U);
  EXPECT_EQ(idle.ended, 1U);
  stages.emplace_back([&](const LoadStageContext& c) { return std::make_unique<CountingStage>(c, busy); });
  EXPECT_TRUE(is_staged()) << "one stage of several suffices";
  EXPECT_EQ(idle.accesses, 1U);
  EXPECT_EQ(busy.accesses, 1U);
}

TEST(MemoryPipe, FunctionalModeHasNoStages) {
  const std::vector<LoadStageFactory> stages = {[](const LoadStageContext&) -> std::unique_ptr<LoadStage> {
    ADD_FAILURE();
    return nullptr;
  }};
  UnitParts p{UnitParts::Options{.mode = TimingMode::functional, .stages = stages}};
  EXPECT_TRUE(p.memory.stages().empty());
}

}  // namespace
}  // namespace lacuna::test
