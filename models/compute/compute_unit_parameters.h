// Parameters and placement of a compute unit.
#pragma once

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"

namespace lacuna {

/// Level of detail of the timing model. Results of programs never depend on it.
enum class TimingMode : std::uint8_t {
  functional,  ///< instructions only: no memory timing, one instruction per cycle and wavefront
  loose,       ///< timing by resource calendars, in time windows (models/compute/windows.h)
  sampled,     ///< as loose, for parts of a kernel; the rest runs functionally, and its time is estimated (models/sampling)
};

/// Order in which a SIMD offers a cycle to its wavefronts.
enum class IssuePolicy : std::uint8_t {
  oldest,       ///< oldest wavefront first
  round_robin,  ///< in order of slot numbers, starting after the wavefront served first in the last cycle with an issue
  greedy,       ///< first the wavefront served first in the last cycle with an issue, then by age (greedy then oldest)
};

/// Selection of the SIMD that a cycle is offered to.
enum class SimdPolicy : std::uint8_t {
  in_turn,      ///< each SIMD in every turn_period()-th cycle
  last_served,  ///< the previous SIMD as long as it has wavefronts to issue, even if its vector unit is busy; then another SIMD
};

/// Rate at which a vector memory instruction passes the address unit and the first-level cache.
enum class LaneGroups : std::uint8_t {
  none,   ///< lanes_per_simd lanes and one line per cycle
  quads,  ///< a group of four lanes per cycle, or of sixteen with neighbouring dwords (models/compute/memory/lane_groups.h)
};

struct ComputeUnitParameters {
  unsigned simds = 4;
  unsigned lanes_per_simd = 16;
  unsigned wavefronts_per_simd = 10;
  unsigned vgprs_per_simd = 256;
  unsigned sgprs_per_simd = 800;
  IssuePolicy issue_policy = IssuePolicy::oldest;
  SimdPolicy simd_policy = SimdPolicy::in_turn;
  Bytes lds{64 * 1024};
  Bytes lds_granule{512};
  bool lds_conflicts = true;
  LaneGroups lane_groups = LaneGroups::none;
  unsigned transaction_bytes = 64;
  unsigned reorder_entries = 0;

  // Time for which an instruction of each kind occupies its SIMD, relative to the 64 / lanes_per_simd cycles of a plain
  // instruction.
  unsigned f64_rate_divisor = 16;
  unsigned f64_add_rate_divisor = 0;             ///< 0: f64_rate_divisor
  unsigned f64_transcendental_rate_divisor = 0;  ///< 0: transcendental_rate_divisor * f64_rate_divisor
  unsigned mul32_rate_divisor = 4;
  unsigned transcendental_rate_divisor = 4;
  unsigned logic_rate_divisor = 1;  ///< a logic instruction occupies only the port of LatencyClass::valu_logic; meanwhile,
                                    ///< other vector instructions may issue
  Cycles mfma_pass_cycles{4};
  Cycles wait_state_cycles{4};
  // Cycles until the wavefront's next instruction, or until data are available.
  Cycles valu_decode_cycles{0};
  Cycles salu_cycles{4};
  Cycles special_cycles{4};
  Cycles vmem_cycles{4};
  Cycles branch_cycles{8};
  Cycles lds_cycles{1};
  bool lds_transfers = false;
  Cycles lds_latency{64};
  Cycles vmem_address_latency{10};
  Cycles vmem_return_latency{10};
  Cycles smem_latency{10};
  Cycles barrier_latency{4};
  Cycles launch_latency{16};

  /// Cycles from one turn of a SIMD to the next, with SimdPolicy::in_turn: the time for which a vector instruction occupies the
  /// vector unit, so that the SIMD can issue a vector instruction in each turn, but at most the number of SIMDs.
  unsigned turn_period() const;

  void describe(ParameterSection& s);
};

/// Placement of a compute unit in the GPU, for HW_ID and statistics.
struct ComputeUnitPlace {
  unsigned index = 0;  ///< number in the GPU
  unsigned shader_array = 0;
  unsigned in_array = 0;
};

}  // namespace lacuna
