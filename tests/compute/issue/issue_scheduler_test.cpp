#include "models/compute/issue/issue_scheduler.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/compute/instruction_words.h"
#include "tests/compute/unit_parts.h"

namespace lacuna::test {
namespace {

/// Numbers of the slots of SIMD 0 in the order in which a cycle is offered to them. `uses`: use of the cycle by each wavefront,
/// indexed by slot number; CycleUse::none by default.
std::vector<unsigned> offered(IssueScheduler& scheduler, WavefrontPool& pool, Cycles cycle,
                              const std::vector<CycleUse>& uses = {}) {
  std::vector<unsigned> order;
  pool.simds()[0]->wake(cycle);
  scheduler.run(cycle + Cycles{1}, [&](Simd& simd, WavefrontSlot& slot, unsigned, Cycles at) {
    if (simd.number != 0 || at != cycle) return CycleUse::none;
    order.push_back(slot.number);
    return slot.number < uses.size() ? uses[slot.number] : CycleUse::none;
  });
  return order;
}

TEST(IssueScheduler, FavouredWavefrontsComeFirst) {
  for (const IssuePolicy policy : {IssuePolicy::oldest, IssuePolicy::greedy}) {
    UnitParts p;
    ComputeUnitParameters parameters = p.parameters;
    parameters.issue_policy = policy;
    IssueScheduler scheduler(parameters, p.pool);
    scheduler.reset();
    const auto d = p.dispatch({kEnd}, 3 * parameters.simds + 1);
    ASSERT_NE(p.pool.place(*d, 0, {}), nullptr);
    Simd& simd = *p.pool.simds()[0];
    ASSERT_EQ(simd.slots.size(), 4U);
    for (WavefrontSlot& slot : simd.slots) {
      slot.stalls = 0;
      slot.when = Cycles{0};
      slot.publish(isa::Unit::valu);
    }
    // Cycle of the n-th turn of SIMD 0: each SIMD has one turn in `simds` cycles.
    const auto turn = [&](std::uint64_t n) { return Cycles{parameters.simds * n}; };
    EXPECT_EQ(offered(scheduler, p.pool, turn(1)), (std::vector<unsigned>{0, 1, 2, 3}));
    simd.issue.favour(2, true);
    EXPECT_EQ(offered(scheduler, p.pool, turn(2)), (std::vector<unsigned>{2, 0, 1, 3}));
    simd.issue.favour(3, true);
    EXPECT_EQ(offered(scheduler, p.pool, turn(3)), (std::vector<unsigned>{2, 3, 0, 1}));
    simd.issue.favour(2, false);
    EXPECT_EQ(offered(scheduler, p.pool, turn(4)), (std::vector<unsigned>{3, 0, 1, 2}));
    // A wavefront with precedence that is not ready does not delay the others.
    simd.slots[3].when = turn(100);
    simd.slots[3].publish(isa::Unit::valu);
    EXPECT_EQ(offered(scheduler, p.pool, turn(5)), (std::vector<unsigned>{0, 1, 2}));
    scheduler.reset();
    EXPECT_EQ(simd.issue.favoured, 0U);
  }
}

// An instruction uses the issue slot of its unit, unless it is committed without execution.
TEST(IssueScheduler, CommittedInstructionsDoNotUseTheIssueSlot) {
  UnitParts p;
  IssueScheduler scheduler(p.parameters, p.pool);
  scheduler.reset();
  const auto d = p.dispatch({kEnd}, 3 * p.parameters.simds + 1);
  ASSERT_NE(p.pool.place(*d, 0, {}), nullptr);
  Simd& simd = *p.pool.simds()[0];
  const auto all_ready = [&] {
    for (WavefrontSlot& slot : simd.slots) {
      slot.stalls = 0;
      slot.when = Cycles{0};
      slot.publish(slot.number == 2 ? isa::Unit::salu : isa::Unit::valu);
    }
  };
  std::uint64_t turns = 0;
  const auto uses = [&](const std::vector<CycleUse>& all) {
    all_ready();
    return offered(scheduler, p.pool, Cycles{p.parameters.simds * ++turns}, all);
  };
  using Numbers = std::vector<unsigned>;
  EXPECT_EQ(uses({}), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(uses({CycleUse::unit}), (Numbers{0, 2}));
  EXPECT_EQ(uses({CycleUse::none, CycleUse::unit}), (Numbers{0, 1, 2}));
  EXPECT_EQ(uses({CycleUse::committed}), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(uses({CycleUse::committed, CycleUse::unit}), (Numbers{0, 1, 2}));
}

}  // namespace
}  // namespace lacuna::test
