// Counts of the instructions that a compute unit has issued.
#pragma once

#include <array>
#include <cstdint>

#include "models/isa/decode/instruction.h"

namespace lacuna {

struct IssueStatistics {
  std::array<std::uint64_t, isa::kUnits> issued{};  ///< indexed by isa::Unit
  std::uint64_t wavefront_instructions = 0;
  std::uint64_t thread_instructions = 0;  ///< sum of active lanes; a scalar or control instruction adds 1
  std::uint64_t valu_busy_cycles = 0;     ///< busy cycles of vector ALUs, summed over SIMDs; not in functional mode

  /// Whether thread_instructions counts the lanes of a unit's instructions.
  static constexpr bool counts_lanes(isa::Unit unit) {
    constexpr unsigned kLanes =
        1U << unsigned(isa::Unit::valu) | 1U << unsigned(isa::Unit::vmem) | 1U << unsigned(isa::Unit::lds);
    return (kLanes >> unsigned(unit) & 1) != 0;
  }
};

}  // namespace lacuna
