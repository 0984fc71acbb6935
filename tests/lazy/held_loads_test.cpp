// Tests the table of held loads: the lanes and registers that wait for a load.
#include "models/lazy/held_loads.h"

#include <gtest/gtest.h>

#include <vector>

namespace lacuna {
namespace {

using isa::OperandKind;

HeldLoad& hold(HeldLoads& loads, HeldLoads::OfWavefront& w, isa::RegisterRange registers, std::uint64_t lanes) {
  HeldLoad& load = loads.take();
  load.registers = registers;
  load.bytes = static_cast<std::uint8_t>(4 * registers.count);
  load.lanes = lanes;
  loads.enter(w, load);
  return load;
}

TEST(HeldLoads, AllLanesOfAllRegistersAreBusyAtFirst) {
  HeldLoads loads;
  HeldLoads::OfWavefront w;
  const HeldLoad& load = hold(loads, w, {OperandKind::vgpr, 4, 2}, 0xff);
  EXPECT_EQ(load.busy, (HeldLoad::LaneMasks{0xff, 0xff, 0, 0}));
  EXPECT_EQ(w.loads, std::vector<std::uint16_t>{load.number});
  EXPECT_TRUE(HeldLoads::is_any_held(w, {OperandKind::vgpr, 2, 3}));
  EXPECT_FALSE(HeldLoads::is_any_held(w, {OperandKind::vgpr, 0, 4}));
  EXPECT_FALSE(HeldLoads::is_any_held(w, {OperandKind::agpr, 4, 2})) << "another file";
  EXPECT_TRUE(w.busy.contains_any({OperandKind::vgpr, 5, 1}));
}

TEST(HeldLoads, BusyRegistersOfARangeNameTheirLoad) {
  HeldLoads loads;
  HeldLoads::OfWavefront w;
  const HeldLoad& first = hold(loads, w, {OperandKind::vgpr, 4, 2}, 1);
  const HeldLoad& second = hold(loads, w, {OperandKind::vgpr, 8, 1}, 1);
  std::vector<std::pair<unsigned, unsigned>> found;
  loads.for_busy(w, {OperandKind::vgpr, 5, 4}, [&](const HeldLoad& load, unsigned r) { found.emplace_back(load.number, r); });
  EXPECT_EQ(found, (std::vector<std::pair<unsigned, unsigned>>{{first.number, 1}, {second.number, 0}}));
  loads.for_busy(w, {OperandKind::sgpr, 4, 2}, [](const HeldLoad&, unsigned) { FAIL() << "scalar registers hold no loads"; });
}

TEST(HeldLoads, TheLastLaneEndsALoad) {
  HeldLoads loads;
  HeldLoads::OfWavefront w;
  HeldLoad& load = hold(loads, w, {OperandKind::agpr, 4, 2}, 0b11);
  EXPECT_FALSE(loads.free_lanes(w, load, 0, 0b01));
  EXPECT_TRUE(HeldLoads::is_any_held(w, {OperandKind::agpr, 4, 1})) << "a lane is left";
  EXPECT_FALSE(loads.free_lanes(w, load, 0, 0b11));
  EXPECT_FALSE(HeldLoads::is_any_held(w, {OperandKind::agpr, 4, 1}));
  EXPECT_FALSE(w.busy.contains_any({OperandKind::agpr, 4, 1}));
  EXPECT_FALSE(loads.free_lanes(w, load, 0, 0b11)) << "not busy any more";
  EXPECT_TRUE(loads.free_lanes(w, load, 1, ~std::uint64_t{0}));
  EXPECT_TRUE(w.loads.empty());
}

TEST(HeldLoads, RecordsAreReused) {
  HeldLoads loads;
  HeldLoads::OfWavefront w;
  HeldLoad& load = hold(loads, w, {OperandKind::vgpr, 4, 1}, 1);
  load.suspended[0] = load.served[0] = 1;
  load.has_zeros = true;
  unsigned dropped = 0;
  loads.drop_all(w, [&](HeldLoad& one) {
    loads.release(one);
    ++dropped;
  });
  EXPECT_EQ(dropped, 1U);
  EXPECT_FALSE(HeldLoads::is_any_held(w, {OperandKind::vgpr, 4, 1}));
  const HeldLoad& again = hold(loads, w, {OperandKind::vgpr, 6, 1}, 2);
  EXPECT_EQ(&again, &load);
  EXPECT_EQ(again.suspended[0] | again.served[0], 0U);
  EXPECT_FALSE(again.has_zeros);
  EXPECT_FALSE(again.is_needed());
}

}  // namespace
}  // namespace lacuna
