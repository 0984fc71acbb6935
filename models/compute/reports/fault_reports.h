// Errors and warnings of a compute unit's wavefronts: their texts, and the reports that contain the texts.
//
// A fault holds its wavefront (StallReason::fault) until its dispatch is aborted. A warning does not affect the wavefront,
// which continues although a program on silicon would get other results; a warning is reported once for each kernel and
// instruction, but every occurrence is counted.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "models/compute/compute_unit_context.h"
#include "models/compute/reports/unit_reports.h"
#include "models/compute/wavefront_pool.h"
#include "models/isa/decode/instruction.h"

namespace lacuna {

class FaultReports {
 public:
  /// The referenced objects must outlive this object.
  FaultReports(ComputeUnitPlace place, const ComputeUnitContext& context, UnitReports& reports)
      : place_(place),
        target_(context.target),
        clock_(context.clock),
        vm_(context.vm),
        code_(context.code),
        fine_grained_float_atomics_(context.fine_grained_float_atomics),
        reports_(reports) {}

  /// Sets the apertures of FLAT addresses, for texts; 0: none.
  void set_apertures(std::uint64_t shared, std::uint64_t private_base) {
    shared_aperture_ = shared;
    private_aperture_ = private_base;
  }

  /// Reports a fault. `code`: LACUNA_FAULT_*. `remark` is appended to the location.
  void fault(WavefrontSlot& slot, std::uint32_t code, std::uint64_t address, std::uint64_t pc, const std::string& what,
             Cycles cycle, const std::string& remark = {});
  /// Reports s_trap.
  void trap(WavefrontSlot& slot, std::uint64_t pc, Cycles cycle);
  /// Reports a memory fault, whose details are in slot.wave.fault.
  void memory_fault(WavefrontSlot& slot, const isa::Instruction& instruction, std::uint64_t pc, Cycles cycle);
  /// Reports that there is no instruction at the wavefront's PC.
  void fetch_fault(WavefrontSlot& slot, Cycles cycle);
  /// Reports an instruction that the executor rejects.
  void illegal_instruction(WavefrontSlot& slot, const isa::Instruction& instruction, std::uint64_t pc, Cycles cycle);
  /// Reports that the next instruction names registers beyond the wavefront's allocation.
  void registers_exceeded(WavefrontSlot& slot, Cycles cycle);

  /// Warns of a float atomic on fine-grained memory, which MI200 does not perform. slot.wave.event_value: number of lanes that
  /// executed the atomic; slot.wave.fault: access of the first of these lanes.
  void warn_of_fine_grained_atomic(const WavefrontSlot& slot, std::uint64_t pc, Cycles cycle);
  /// Number of lanes so far that have executed float atomics on fine-grained memory.
  const std::uint64_t& fine_grained_float_atomics() const { return fine_grained_lanes_; }

 private:
  void private_fault(WavefrontSlot& slot, std::uint64_t pc, Cycles cycle);
  std::string nearest(std::uint64_t address) const;
  std::unique_ptr<WavefrontFault> describe(const WavefrontSlot& slot, std::uint32_t code, std::uint64_t address,
                                           std::uint64_t pc, const std::string& what, const std::string& remark = {}) const;

  const ComputeUnitPlace place_;
  const isa::Target target_;
  const Clock clock_;
  GpuVm& vm_;
  isa::DecodedCode& code_;
  const isa::FineGrainedFloatAtomics fine_grained_float_atomics_;
  UnitReports& reports_;
  std::uint64_t shared_aperture_ = 0;
  std::uint64_t private_aperture_ = 0;
  std::uint64_t fine_grained_lanes_ = 0;
  std::set<std::pair<std::uint64_t, std::uint64_t>> warned_;  ///< entry point of the kernel and PC, of reported warnings
};

}  // namespace lacuna
