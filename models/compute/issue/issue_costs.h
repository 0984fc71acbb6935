// Occupancy of units by an issued instruction, as far as it does not depend on the state of the machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/common/time/units.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/issue/lds_transfers.h"
#include "models/isa/decode/instruction.h"

namespace lacuna {

class IssueCosts {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};  ///< the instruction does not use the vector unit
  static constexpr std::uint32_t kMatrix = kNone - 1;        ///< the matrix unit determines the cycles

  explicit IssueCosts(const ComputeUnitParameters& p) {
    using isa::LatencyClass;
    const unsigned pass = isa::kLanes / p.lanes_per_simd;
    vector_.fill(kNone);
    for (const LatencyClass plain : {LatencyClass::valu, LatencyClass::valu_logic, LatencyClass::valu_lane}) at(plain) = pass;
    logic_port_ = Cycles{p.logic_rate_divisor == 1 ? 0 : pass * p.logic_rate_divisor};
    const auto given_or = [](unsigned given, unsigned derived) { return given != 0 ? given : derived; };
    at(LatencyClass::valu_f64) = pass * given_or(p.f64_add_rate_divisor, p.f64_rate_divisor);
    at(LatencyClass::valu_f64_multiply) = pass * p.f64_rate_divisor;
    at(LatencyClass::valu_mul32) = pass * p.mul32_rate_divisor;
    at(LatencyClass::valu_transcendental) = pass * p.transcendental_rate_divisor;
    at(LatencyClass::valu_transcendental_f64) =
        pass * given_or(p.f64_transcendental_rate_divisor, p.transcendental_rate_divisor * p.f64_rate_divisor);
    for (const LatencyClass matrix :
         {LatencyClass::mfma_2_pass, LatencyClass::mfma_4_pass, LatencyClass::mfma_8_pass, LatencyClass::mfma_16_pass})
      at(matrix) = kMatrix;
    wavefront_.fill(p.salu_cycles);
    wavefront_[static_cast<std::size_t>(isa::Unit::vmem)] = p.vmem_cycles;
    wavefront_[static_cast<std::size_t>(isa::Unit::special)] = p.special_cycles;
    branch_ = p.branch_cycles;
    lds_transfer_ = p.lds_transfers ? pass : 0;
  }

  /// Cycles for which the SIMD's vector unit issues no other instruction.
  std::uint32_t vector_unit(const isa::Instruction& instruction) const {
    return vector_[static_cast<std::size_t>(instruction.latency)];
  }
  /// Cycles for which the SIMD's vector unit issues no other instruction of LatencyClass::valu_logic; 0: vector_unit() cycles,
  /// as for all other instructions.
  Cycles logic_port() const { return logic_port_; }
  /// Cycles until the wavefront's next instruction, after an instruction that does not use the vector unit.
  Cycles wavefront(const isa::Instruction& instruction) const {
    if (instruction.latency == isa::LatencyClass::branch) return branch_;
    const Cycles plain = wavefront_[static_cast<std::size_t>(instruction.unit)];
    if (lds_transfer_ == 0 || instruction.unit != isa::Unit::lds) return plain;
    return std::max(plain, Cycles{std::uint64_t{lds_transfer_} * lds_transfers(instruction)});
  }

 private:
  std::uint32_t& at(isa::LatencyClass latency) { return vector_[static_cast<std::size_t>(latency)]; }

  std::array<std::uint32_t, static_cast<std::size_t>(isa::LatencyClass::count)> vector_;
  std::array<Cycles, isa::kUnits> wavefront_;
  Cycles branch_;
  Cycles logic_port_;
  unsigned lds_transfer_;  // cycles for each dword that an LDS instruction moves; 0: none
};

}  // namespace lacuna
