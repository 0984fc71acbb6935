#include "models/compute/execution_counts.h"

namespace lacuna {

void ExecutionCounts::update() {
  totals_ = {};
  for (std::size_t i = 0; i < executed_.size(); ++i) {
    const Executed& executed = executed_[i];
    if (executed.instructions == 0) continue;
    const isa::ExecutionProfile& profile = profiles_[i];
    const bool whole = profile.operation == isa::Operation::lane || profile.operation == isa::Operation::scalar;
    // Matrix instructions do not look at EXEC.
    const std::uint64_t lanes = profile.passes != 0 ? executed.instructions * isa::kLanes : executed.lanes;
    totals_.operations[static_cast<std::size_t>(profile.operation)] += profile.passes != 0
                                                                           ? executed.instructions * profile.passes
                                                                       : whole ? executed.instructions
                                                                               : lanes;
    totals_.vgpr_reads += lanes * profile.vgpr_reads;
    totals_.vgpr_writes += lanes * profile.vgpr_writes;
    totals_.sgpr_reads += executed.instructions * profile.sgpr_reads;
    totals_.sgpr_writes += executed.instructions * profile.sgpr_writes;
    totals_.lds_words += lanes * profile.lds_words;
  }
}

void ExecutionCounts::describe_energy(EnergyMeter& meter, const ComputeEnergy& e) {
  using isa::Operation;
  const auto operation = [&](const char* block, const char* name, Operation o, double picojoules) {
    meter.add(block, name, totals_.operations[static_cast<std::size_t>(o)], picojoules);
  };
  operation("valu", "int32", Operation::int32, e.valu_int32);
  operation("valu", "f16", Operation::f16, e.valu_f16);
  operation("valu", "packed", Operation::packed, e.valu_packed);
  operation("valu", "f32", Operation::f32, e.valu_f32);
  operation("valu", "f32_fma", Operation::f32_fma, e.valu_f32_fma);
  operation("valu", "f64", Operation::f64, e.valu_f64);
  operation("valu", "f64_fma", Operation::f64_fma, e.valu_f64_fma);
  operation("valu", "mul32", Operation::mul32, e.valu_mul32);
  operation("valu", "transcendental", Operation::transcendental, e.valu_transcendental);
  operation("valu", "transcendental_f64", Operation::transcendental_f64, e.valu_transcendental_f64);
  operation("valu", "lane", Operation::lane, e.valu_lane);
  operation("mfma", "f64_pass", Operation::mfma_f64, e.mfma_f64_pass);
  operation("mfma", "f32_pass", Operation::mfma_f32, e.mfma_f32_pass);
  operation("mfma", "narrow_pass", Operation::mfma_narrow, e.mfma_narrow_pass);
  operation("salu", "instruction", Operation::scalar, e.salu);
  meter.add("vgpr", "read", totals_.vgpr_reads, e.vgpr_read);
  meter.add("vgpr", "write", totals_.vgpr_writes, e.vgpr_write);
  meter.add("sgpr", "read", totals_.sgpr_reads, e.sgpr_read);
  meter.add("sgpr", "write", totals_.sgpr_writes, e.sgpr_write);
  meter.add("lds", "word", totals_.lds_words, e.lds_word);
  meter.before_reading([this] { update(); });
}

}  // namespace lacuna
