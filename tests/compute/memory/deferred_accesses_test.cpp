// Tests atomic operations that wait for the end of the window.
#include "models/compute/memory/deferred_accesses.h"

#include <gtest/gtest.h>

#include "models/isa/memory/store_buffer.h"
#include "tests/compute/unit_parts.h"

namespace lacuna::test {
namespace {

const Words kAddress = {0x7e000200, 0x7e020201};        // v[0:1] = s[0:1]
const Words kFlatAtomicAdd = {0xdd090000, 0x03000200};  // flat_atomic_add v3, v[0:1], v2 glc

TEST(DeferredAccesses, ArePerformedAndThenCompleteTheirTokens) {
  UnitParts p;
  isa::StoreBuffer stores;
  p.workgroups.attach(0, &stores);
  bool pending = false;
  DeferredWork& work = p.memory.deferred();
  work.attach(pending);
  const auto d = p.dispatch({kAddress[0], kAddress[1], kFlatAtomicAdd[0], kFlatAtomicAdd[1], 0xbf810000});
  WavefrontSlot& slot = *p.start(*d).slots[0];
  p.issue(slot, Cycles{0});
  p.issue(slot, Cycles{4});
  std::fill_n(slot.wave.v(2), isa::kLanes, 5U);
  EXPECT_FALSE(p.memory.has_deferred());
  p.issue(slot, Cycles{8});
  EXPECT_TRUE(pending);
  EXPECT_TRUE(p.memory.has_deferred());
  ASSERT_EQ(work.count(), 1U);
  EXPECT_EQ(work.at(0), p.tick(8));
  EXPECT_EQ(p.data[0], 0U) << "no data move before";
  EXPECT_FALSE(slot.vmcnt.known(0, Cycles{8}));
  work.perform(0);
  EXPECT_EQ(p.data[0], 5 * isa::kLanes);
  EXPECT_FALSE(slot.vmcnt.known(0, Cycles{8})) << "the program does not see the result yet";
  work.clear();
  EXPECT_TRUE(slot.vmcnt.known(0, Cycles{8}));
  EXPECT_EQ(work.count(), 0U);
  EXPECT_EQ(slot.wave.v(3)[1], 5U) << "lanes are added in order";
}

}  // namespace
}  // namespace lacuna::test
