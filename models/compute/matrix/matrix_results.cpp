#include "models/compute/matrix/matrix_results.h"

namespace lacuna {
namespace {

using isa::RegisterRange;

RegisterRange range_of(const isa::Operand& operand) {
  const bool vector = operand.kind == isa::OperandKind::vgpr || operand.kind == isa::OperandKind::agpr;
  return vector ? RegisterRange{operand.kind, operand.index, operand.words} : RegisterRange{};
}

bool overlap(const RegisterRange& a, const RegisterRange& b) {
  return a.count != 0 && b.count != 0 && a.file == b.file && a.first < b.first + b.count && b.first < a.first + a.count;
}

}  // namespace

void MatrixResults::add(const WavefrontSlot& slot, const isa::Instruction& instruction, Cycles cycle, Cycles done,
                        Cycles stage) {
  Wavefront& w = wavefronts_[index_of(slot)];
  if (w.until <= cycle) w.pending.clear();
  std::erase_if(w.pending, [&](const Pending& p) { return p.late + result_delay_ <= cycle; });
  w.pending.push_back({range_of(instruction.dst[0]), range_of(instruction.src[2]), done, done + stage});
  w.until = done + stage + result_delay_;
  w.registers.clear();
  for (const Pending& p : w.pending) {
    w.registers.add(p.d);
    if (p.c.count != 0) w.registers.add(p.c);
  }
}

void MatrixResults::reset() {
  for (Wavefront& w : wavefronts_) w.until = Cycles{};
}

Cycles MatrixResults::find(const Wavefront& w, const isa::DecodedInstruction& next, Cycles cycle) const {
  Cycles at = cycle;
  for (const Pending& p : w.pending) at = later(at, allowed(p, next));
  return at;
}

Cycles MatrixResults::allowed(const Pending& pending, const isa::DecodedInstruction& next) const {
  const Cycles readable = pending.late + result_delay_;
  if (next.passes != 0) {
    if (overlap(range_of(next.src[0]), pending.d) || overlap(range_of(next.src[1]), pending.d)) return readable;
    const RegisterRange c = range_of(next.src[2]);
    return overlap(c, pending.d) && c != pending.d ? pending.done + pass_ : Cycles{};
  }
  for (unsigned i = 0; i < next.registers.reads(); ++i) {
    if (overlap(next.registers.read(i), pending.d)) return readable;
  }
  Cycles at{};
  for (unsigned i = 0; i < next.registers.writes(); ++i) {
    if (overlap(next.registers.write(i), pending.d)) return readable;
    if (overlap(next.registers.write(i), pending.c)) at = pending.late;
  }
  return at;
}

}  // namespace lacuna
