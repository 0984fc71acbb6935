// Read access to the resident wavefronts of a compute unit, for reports between windows. Inspection changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/compute/compute_unit_parameters.h"
#include "models/compute/dispatch.h"
#include "models/compute/kernel_activity.h"
#include "models/compute/wavefront_pool.h"
#include "models/compute/wavefront_snapshot.h"
#include "models/isa/decode/decoded_code.h"
#include "models/isa/target.h"

namespace lacuna {

class WavefrontInspector {
 public:
  /// The referenced objects must outlive this object.
  WavefrontInspector(ComputeUnitPlace place, isa::Target target, const WavefrontPool& pool, isa::DecodedCode& code)
      : place_(place), target_(target), pool_(pool), code_(code) {}

  const ComputeUnitPlace& place() const { return place_; }
  /// Appends the resident wavefronts. `end`: end of the last window.
  void take_snapshot(Cycles end, std::vector<WavefrontSnapshot>& wavefronts) const;
  /// Sets `observation` of a wavefront that can continue, by observing at most `limit` instructions.
  void observe(WavefrontSnapshot& wavefront, unsigned limit) const;
  /// Text of an instruction, such as "s_cbranch_execnz 65530", or of the error if there is no instruction.
  std::string instruction_text(std::uint64_t pc) const;
  /// Adds the residence times of wavefronts that have not ended.
  void add_resident(const Dispatch& dispatch, KernelActivity& activity) const;

 private:
  const isa::DecodedInstruction* previous_instruction(const WavefrontSlot& slot) const;
  WavefrontWait wait_of(const WavefrontSlot& slot, Cycles end) const;

  const ComputeUnitPlace place_;
  const isa::Target target_;
  const WavefrontPool& pool_;
  isa::DecodedCode& code_;
};

}  // namespace lacuna
