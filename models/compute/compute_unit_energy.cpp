// What a compute unit's work costs (models/energy/energy_meter.h).

#include "models/compute/compute_unit.h"

namespace lacuna {

void ComputeUnit::describe_energy(EnergyMeter& meter, const ComputeEnergy& energy) {
  executions_ = std::make_unique<ExecutionCounts>(fetch_.code().profiles());
  executions_->describe_energy(meter, energy, matrix_parameters_);
  meter.add("lds", "conflict_cycle", lds_.conflict_cycles(), energy.lds_conflict);
  meter.add("issue", "instruction", statistics_.wavefront_instructions, energy.issue);
  meter.add("vmem", "request", vector_memory_.requests(), energy.vmem_request);
  meter.add("clock", "simd_cycle", statistics_.valu_busy_cycles, energy.simd_cycle);
  meter.add("clock", "matrix_cycle", matrix_.busy_cycles(), energy.matrix_cycle);
  for (const auto& stage : stages_) stage->describe_energy(meter, energy);
  meter.add_static("clock", energy.cu_clock);
  meter.add_static("cu_leakage", energy.cu_static);
}

}  // namespace lacuna
