// Counts of a compute unit's executed instructions by profile (models/isa/analysis/execution_profile.h), and their energy.
//
// The issue loop only adds to two counters of a record; all other counts, such as register file accesses, are derived when an
// energy meter is read.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/compute/matrix/matrix_parameters.h"
#include "models/compute/toggle_samples.h"
#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"
#include "models/isa/analysis/execution_profile.h"

namespace lacuna {

class ExecutionCounts {
 public:
  /// `profiles` outlives this object.
  explicit ExecutionCounts(const isa::ExecutionProfiles& profiles) : profiles_(profiles) {}
  ExecutionCounts(const ExecutionCounts&) = delete;
  ExecutionCounts& operator=(const ExecutionCounts&) = delete;

  /// Counts an issued instruction; `lanes`: active lanes, 1 for a scalar instruction.
  void count(std::uint16_t profile, std::uint64_t lanes) {
    if (profile >= executed_.size()) [[unlikely]]
      executed_.resize(profile + std::size_t{1});
    Executed& executed = executed_[profile];
    ++executed.instructions;
    executed.lanes += lanes;
  }
  /// Registers blocks valu, mfma, salu, vgpr, sgpr and the energy of LDS accesses. This object must exist as long as `meter` is
  /// read.
  void describe_energy(EnergyMeter& meter, const ComputeEnergy& energy, const MatrixParameters& matrix = {});
  ToggleSamples& toggles() { return toggles_; }

 private:
  static constexpr std::size_t kOperations = static_cast<std::size_t>(isa::Operation::count);
  struct Executed {
    std::uint64_t instructions = 0;
    std::uint64_t lanes = 0;  // active lanes, summed over the instructions
  };
  struct Totals {
    // Lane operations; for matrix instructions: passes; for lane moves and scalar instructions: instructions.
    std::array<std::uint64_t, kOperations> operations{};
    std::uint64_t vgpr_reads = 0;
    std::uint64_t vgpr_writes = 0;
    std::uint64_t sgpr_reads = 0;
    std::uint64_t sgpr_writes = 0;
    std::uint64_t lds_words = 0;
  };
  void update();
  void describe_matrix(EnergyMeter& meter, const ComputeEnergy& energy, const MatrixParameters& matrix);

  const isa::ExecutionProfiles& profiles_;
  ToggleSamples toggles_;
  std::vector<Executed> executed_;  // indexed by profile
  Totals totals_;
};

}  // namespace lacuna
