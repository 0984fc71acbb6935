// Analysis of an instruction before it executes: the lanes of held loads that it needs. No time, no requests.
//
//   touch()   finds the loads of which the instruction reads a register, and the multi-register loads of which it writes one
//   find()    after zero masks have been applied: finds the lanes of each register that the instruction needs
//             (HeldLoad::need), and those that it does not need because the other operand is zero (section 4.3)
//
// models/lazy/lazy_unit.h states the rules.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/decode/decoded_code.h"
#include "models/lazy/held_loads.h"
#include "models/lazy/lazy_parameters.h"

namespace lacuna {

class InstructionNeeds {
 public:
  using Lanes = HeldLoad::Lanes;
  /// Lanes of a register that the instruction does not need because its other operand is zero.
  struct Spared {
    std::uint16_t load;
    std::uint8_t reg;
    std::uint8_t source;
    Lanes lanes;
  };

  InstructionNeeds(HeldLoads& loads, const LazyParameters& parameters)
      : loads_(loads), has_otimes_(lacuna::has_otimes(parameters.mode)), ieee_(parameters.otimes_ieee) {}

  /// Whether the instruction needs all held loads of its wavefront: see the rules in models/lazy/lazy_unit.h.
  static bool needs_everything(const isa::Instruction& instruction, const isa::Wavefront& wave);
  /// Lanes of the destination registers that the instruction writes.
  static Lanes written_lanes(const isa::Instruction& instruction, const isa::Wavefront& wave);

  void touch(HeldLoads::OfWavefront& w, const isa::DecodedInstruction& instruction, bool everything);
  void find(HeldLoads::OfWavefront& w, const isa::DecodedInstruction& instruction, const isa::Wavefront& wave, bool everything);

  /// Numbers of the loads that the last touch() has found, and those added since.
  const std::vector<std::uint16_t>& touched() const { return touched_; }
  void add_touched(std::uint16_t number) { touched_.push_back(number); }
  /// Result of the last find().
  const std::vector<Spared>& spared() const { return spared_; }

 private:
  void keep_addresses(HeldLoads::OfWavefront& w, const isa::DecodedInstruction& instruction, const isa::Wavefront& wave);
  void spare(HeldLoads::OfWavefront& w, const isa::DecodedInstruction& instruction, const isa::Wavefront& wave);

  HeldLoads& loads_;
  const bool has_otimes_;
  const isa::OtimesIeee ieee_;
  std::vector<std::uint16_t> touched_;
  std::vector<Spared> spared_;
};

}  // namespace lacuna
