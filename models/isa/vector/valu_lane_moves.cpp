#include "models/isa/vector/valu_lane_moves.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "models/isa/decode/operand.h"
#include "models/isa/vector/valu_execute.h"

namespace lacuna::isa {
namespace {

std::uint32_t lane_of(const Operand& operand, Wavefront& wave, unsigned lane) {
  return operand.kind == OperandKind::vgpr ? wave.v(operand.index)[lane] : read_scalar32(operand, wave);
}

void move_indexed(const Instruction& instruction, Wavefront& wave, bool index_source, bool index_destination) {
  const std::uint32_t offset = wave.sgpr[kM0];
  const Operand& source = instruction.src[0];
  Planes<1> buffer;
  const std::uint32_t* from = nullptr;
  if (source.kind == OperandKind::vgpr) {
    const std::uint64_t index = std::uint64_t{source.index} + (index_source ? offset : 0);
    from = wave.v(index < wave.vgpr_count ? static_cast<unsigned>(index) : 0);
  } else {
    from = broadcast(source, wave, buffer.words, 1);
  }
  const std::uint64_t to = std::uint64_t{instruction.dst[0].index} + (index_destination ? offset : 0);
  if (to < wave.vgpr_count) write_active_lanes(wave.v(static_cast<unsigned>(to)), from, wave, 1);
}

}  // namespace

void execute_no_operation(const Instruction&, Wavefront&) {}

void execute_readfirstlane(const Instruction& instruction, Wavefront& wave) {
  const std::uint64_t exec = wave.exec();
  const unsigned lane = exec != 0 ? static_cast<unsigned>(std::countr_zero(exec)) : 0;
  wave.sgpr[instruction.dst[0].index] = lane_of(instruction.src[0], wave, lane);
}

void execute_swap(const Instruction& instruction, Wavefront& wave) {
  Planes<1> saved;
  std::uint32_t* first = wave.planes(instruction.dst[0]);
  std::uint32_t* second = wave.planes(instruction.src[0]);
  std::copy_n(first, kLanes, saved.words);
  write_lanes<1>(first, second, wave);
  write_lanes<1>(second, saved.words, wave);
}

void execute_accumulator_move(const Instruction& instruction, Wavefront& wave) {
  const Operand& source = instruction.src[0];
  Planes<1> buffer;
  const bool vector = source.kind == OperandKind::vgpr || source.kind == OperandKind::agpr;
  const std::uint32_t* from = vector ? wave.planes(source) : broadcast(source, wave, buffer.words, 1);
  if (from != wave.planes(instruction.dst[0])) write_lanes<1>(wave.planes(instruction.dst[0]), from, wave);
}

void execute_readlane(const Instruction& instruction, Wavefront& wave) {
  const unsigned lane = read_scalar32(instruction.src[1], wave) % kLanes;
  wave.sgpr[instruction.dst[0].index] = lane_of(instruction.src[0], wave, lane);
}

void execute_writelane(const Instruction& instruction, Wavefront& wave) {
  const unsigned lane = read_scalar32(instruction.src[1], wave) % kLanes;
  wave.v(instruction.dst[0].index)[lane] = read_scalar32(instruction.src[0], wave);
}

void execute_movreld(const Instruction& instruction, Wavefront& wave) { move_indexed(instruction, wave, false, true); }
void execute_movrels(const Instruction& instruction, Wavefront& wave) { move_indexed(instruction, wave, true, false); }
void execute_movrelsd(const Instruction& instruction, Wavefront& wave) { move_indexed(instruction, wave, true, true); }

}  // namespace lacuna::isa
