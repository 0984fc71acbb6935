#include "models/compute/matrix/matrix_pipe.h"

#include <algorithm>

#include "models/isa/analysis/register_use.h"

namespace lacuna {
namespace {

// VOP3 has three sources and a destination.
constexpr unsigned kReadPorts = 3;
unsigned vector_words(const isa::RegisterRange& range) { return range.file == isa::OperandKind::sgpr ? 0U : range.count; }

}  // namespace

MatrixPipe::MatrixPipe(const ComputeUnitParameters& unit, const MatrixParameters& parameters, TimingMode mode)
    : units_(unit.simds, unit.mfma_pass_cycles, parameters.pass_percent(),
             Cycles{parameters.pass_percent() == 100 ? 0 : unit.turn_period()}),
      parameters_(parameters),
      pass_(isa::kLanes / unit.lanes_per_simd) {
  const bool interlocked = parameters.extensions != isa::MatrixExtensions::none || parameters.interlock == MatrixInterlock::all;
  if (mode == TimingMode::functional || !interlocked) return;
  const Cycles pass{(unit.mfma_pass_cycles.n * parameters.pass_percent() + 99) / 100};
  results_ = std::make_unique<MatrixResults>(unit, pass, parameters.result_passes);
}

bool MatrixPipe::waits_for_result(WavefrontSlot& slot, Cycles cycle) {
  if (slot.next == nullptr) return false;
  const Cycles ready = results_->ready(slot, *slot.next, cycle);
  if (ready <= cycle) return false;
  slot.account(StallCause::unit_busy, cycle);
  slot.when = ready;
  slot.account(StallCause::matrix, ready);
  slot.publish();
  return true;
}

std::uint64_t MatrixPipe::issue(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  const Cycles done = units_.issue(slot.simd->number, instruction.passes, cycle);
  const std::size_t operation = static_cast<std::size_t>(isa::matrix_operation(instruction)) - isa::kFirstMatrixOperation;
  passes_[operation] += instruction.passes;
  slot.group->work->activity.matrix_passes[operation] += instruction.passes;
  if (results_ != nullptr && (instruction.matrix_code != nullptr || parameters_.pass_percent() != 100 ||
                              parameters_.interlock == MatrixInterlock::all))
    results_->add(slot, instruction, cycle, done, parameters_.stage_cycles(instruction.matrix_code));
  if (parameters_.register_ports == MatrixPorts::own) return pass_;
  unsigned read = 0;
  unsigned written = 0;
  for (unsigned i = 0; i < instruction.registers.reads(); ++i) read += vector_words(instruction.registers.read(i));
  for (unsigned i = 0; i < instruction.registers.writes(); ++i) written += vector_words(instruction.registers.write(i));
  // An instruction reads its operands while the previous one writes its result.
  return pass_ * std::max((read + kReadPorts - 1) / kReadPorts, written);
}

void MatrixPipe::reset() {
  units_.reset();
  if (results_ != nullptr) results_->reset();
}

}  // namespace lacuna
