#include "models/compute/execution_counts.h"

namespace lacuna {

void ExecutionCounts::update() {
  totals_ = {};
  for (std::size_t i = 0; i < executed_.size(); ++i) {
    const Executed& executed = executed_[i];
    if (executed.instructions == 0) continue;
    const isa::ExecutionProfile& profile = profiles_[i];
    const bool whole = profile.operation == isa::Operation::lane || profile.operation == isa::Operation::scalar;
    // Matrix instructions ignore EXEC.
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

namespace {

// Energy of a pass in a unit with these extensions, relative to a unit without extensions.
double pass_factor(const MatrixEnergy& e, const MatrixParameters& matrix) {
  using isa::MatrixDesign;
  using isa::MatrixExtensions;
  double factor = matrix.pass_percent() / 100.0;
  if (isa::has(matrix.extensions, MatrixExtensions::m3xu)) {
    factor *= matrix.design == MatrixDesign::m3xu_pipelined ? e.power_m3xu_pipelined
              : matrix.design == MatrixDesign::m3xu         ? e.power_m3xu
                                                            : e.power_fp32_native;
  }
  if (isa::has(matrix.extensions, MatrixExtensions::simd2)) factor *= e.power_simd2;
  return factor;
}

}  // namespace

void ExecutionCounts::describe_energy(EnergyMeter& meter, const ComputeEnergy& e, const MatrixParameters& matrix) {
  using isa::Operation;
  const auto operation = [&](const char* block, const char* name, Operation o, double picojoules) {
    meter.add(block, name, totals_.operations[static_cast<std::size_t>(o)], picojoules,
              o == Operation::lane || o == Operation::scalar ? DataKind::none : DataKind::alu);
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
  describe_matrix(meter, e, matrix);
  operation("salu", "instruction", Operation::scalar, e.salu);
  meter.add("vgpr", "read", totals_.vgpr_reads, e.vgpr_read, DataKind::arrays);
  meter.add("vgpr", "write", totals_.vgpr_writes, e.vgpr_write, DataKind::arrays);
  meter.add("sgpr", "read", totals_.sgpr_reads, e.sgpr_read);
  meter.add("sgpr", "write", totals_.sgpr_writes, e.sgpr_write);
  meter.add("lds", "word", totals_.lds_words, e.lds_word, DataKind::arrays);
  meter.before_reading([this] { update(); });
}

// Extensions affect only the energy of narrow formats: f32 and f64 have separate multipliers.
void ExecutionCounts::describe_matrix(EnergyMeter& meter, const ComputeEnergy& e, const MatrixParameters& matrix) {
  using isa::Operation;
  const double narrow = e.mfma_narrow_pass * pass_factor(e.matrix, matrix);
  const auto operation = [&](Operation o, double picojoules) {
    const auto number = static_cast<std::size_t>(o);
    meter.add("mfma", std::string(isa::kMatrixOperationTexts[number - isa::kFirstMatrixOperation].name) + "_pass",
              totals_.operations[number], picojoules, DataKind::alu);
  };
  operation(Operation::mfma_f64, e.mfma_f64_pass);
  operation(Operation::mfma_f32, e.mfma_f32_pass);
  operation(Operation::mfma_narrow, narrow);
  if (isa::has(matrix.extensions, isa::MatrixExtensions::m3xu)) {
    operation(Operation::mfma_m3xu_tf32, narrow * e.matrix.tf32);
    operation(Operation::mfma_m3xu_fp32, narrow * e.matrix.fp32);
    operation(Operation::mfma_m3xu_fp32c, narrow * e.matrix.fp32c);
    operation(Operation::mfma_m3xu_fp64, narrow * e.matrix.fp64);
  }
  if (isa::has(matrix.extensions, isa::MatrixExtensions::simd2)) {
    operation(Operation::mfma_simd2_mma, narrow * e.matrix.mma);
    operation(Operation::mfma_simd2_minplus, narrow * e.matrix.minplus);
    operation(Operation::mfma_simd2_maxplus, narrow * e.matrix.maxplus);
    operation(Operation::mfma_simd2_minmul, narrow * e.matrix.minmul);
    operation(Operation::mfma_simd2_maxmul, narrow * e.matrix.maxmul);
    operation(Operation::mfma_simd2_minmax, narrow * e.matrix.minmax);
    operation(Operation::mfma_simd2_maxmin, narrow * e.matrix.maxmin);
    operation(Operation::mfma_simd2_orand, narrow * e.matrix.orand);
    operation(Operation::mfma_simd2_addnorm, narrow * e.matrix.addnorm);
  }
}

}  // namespace lacuna
