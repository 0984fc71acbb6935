// Matrix instructions: what they keep and who waits for them.

#include <algorithm>

#include "models/compute/compute_unit.h"

namespace lacuna {
namespace {

// VOP3 has three sources and a destination.
constexpr unsigned kReadPorts = 3;
unsigned vector_words(const isa::RegisterRange& range) { return range.file == isa::OperandKind::sgpr ? 0U : range.count; }

}  // namespace

bool ComputeUnit::waits_for_matrix(WavefrontSlot& slot, Cycles cycle) {
  if (slot.next == nullptr) return false;
  const Cycles ready = matrix_results_->ready(slot, *slot.next, cycle);
  if (ready <= cycle) return false;
  slot.account(StallCause::unit_busy, cycle);
  slot.when = ready;
  slot.account(StallCause::matrix, ready);
  slot.publish();
  return true;
}

// The time for which the vector ALU issues nothing else.
std::uint64_t ComputeUnit::issue_matrix(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  const Cycles done = matrix_.issue(slot.simd->number, instruction.passes, cycle);
  const std::size_t operation = static_cast<std::size_t>(isa::matrix_operation(instruction)) - isa::kFirstMatrixOperation;
  statistics_.matrix_passes[operation] += instruction.passes;
  slot.group->work->activity.matrix_passes[operation] += instruction.passes;
  if (matrix_results_ != nullptr && (instruction.matrix_code != nullptr || matrix_parameters_.pass_percent() != 100 ||
                                     matrix_parameters_.interlock == MatrixInterlock::all))
    matrix_results_->add(slot, instruction, cycle, done);
  const std::uint64_t pass = isa::kLanes / parameters_.lanes_per_simd;
  if (matrix_parameters_.register_ports == MatrixPorts::own) return pass;
  unsigned read = 0;
  unsigned written = 0;
  for (unsigned i = 0; i < instruction.registers.reads(); ++i) read += vector_words(instruction.registers.read(i));
  for (unsigned i = 0; i < instruction.registers.writes(); ++i) written += vector_words(instruction.registers.write(i));
  // What one instruction reads goes beside what the one before it writes.
  return pass * std::max((read + kReadPorts - 1) / kReadPorts, written);
}

}  // namespace lacuna
