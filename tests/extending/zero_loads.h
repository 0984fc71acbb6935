// A minimal research machine (docs/guide/extending.md): counts the words returned by vector loads that are zero.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>

#include "models/common/config/extension_texts.h"
#include "models/compute/kernel_activity.h"
#include "models/gpu/device_extension.h"
#include "models/isa/vector/lane_tests.h"

namespace lacuna {

inline constexpr ExtensionCountText kZeroLoadsCounts[] = {{"words", "words", "32-bit words of vector loads that were zero"}};
inline constexpr ExtensionTexts kZeroLoadsTexts{"zero_loads", {}, kZeroLoadsCounts};

/// The machine's part of a compute unit.
class ZeroLoadsStage : public LoadStage {
 public:
  ZeroLoadsStage(const LoadStageContext& unit, ExtensionSlots slots) : LoadStage(unit.memory), slots_(slots) {}

  MemoryTokens::Token access(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                             Cycles cycle) override {
    const isa::MemoryAccess& access = slot.wave.access;
    if (access.operation == isa::MemoryAccess::Operation::load && instruction.dst[0].kind == isa::OperandKind::vgpr) {
      std::uint64_t words = 0;  // the instruction has executed: its registers contain the data
      for (unsigned r = 0; r < instruction.dst[0].words; ++r) {
        const std::uint32_t* const plane = slot.wave.v(instruction.dst[0].index + r);
        words += static_cast<std::uint64_t>(std::popcount(isa::zero_lanes(plane) & access.lanes));
      }
      words_ += words;
      slot.group->work->activity.extension[slots_.first_count] += words;
    }
    return pass_on(slot, instruction, counters, cycle);
  }
  void describe(StatisticsGroup& unit) const override {
    unit.group("zero_loads").add("words", words_, kZeroLoadsCounts[0].meaning, kZeroLoadsCounts[0].unit);
  }

 private:
  const ExtensionSlots slots_;
  std::uint64_t words_ = 0;
};

/// The part of the machine in a device, which only creates the load stages.
class ZeroLoads : public DeviceExtension {
 public:
  explicit ZeroLoads(ExtensionSlots slots) : slots_(slots) {}
  std::unique_ptr<LoadStage> make_stage(const LoadStageContext& unit) override {
    return std::make_unique<ZeroLoadsStage>(unit, slots_);
  }

 private:
  const ExtensionSlots slots_;
};

/// Parameters of the machine, in section zero_loads.
struct ZeroLoadsParameters : ExtensionParameters {
  bool count = false;

  std::unique_ptr<ExtensionParameters> clone() const override { return std::make_unique<ZeroLoadsParameters>(*this); }
  void describe(ParameterSection& section) {
    section.add("count", count, "Whether words of vector loads that are zero are counted", {.source = "example"});
  }
  void describe(ParameterSet& set) override { set.describe("zero_loads", *this); }
  bool is_on() const override { return count; }
  std::unique_ptr<DeviceExtension> make(const GpuDeviceParameters&) const override {
    return std::make_unique<ZeroLoads>(slots);
  }

  ExtensionSlots slots = register_extension(kZeroLoadsTexts);
};

}  // namespace lacuna
