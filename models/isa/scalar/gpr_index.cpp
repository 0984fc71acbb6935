#include "models/isa/scalar/gpr_index.h"

#include <algorithm>

#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"

namespace lacuna::isa {
namespace {

constexpr unsigned kModesShift = 12;
constexpr unsigned kModesMask = 0xf;
constexpr unsigned kOfDestination = 3;

void set_index(Wavefront& wave, std::uint32_t index) { wave.sgpr[kM0] = (wave.sgpr[kM0] & ~0xffU) | (index & 0xff); }
void set_modes(Wavefront& wave, std::uint32_t modes) {
  wave.sgpr[kM0] = (wave.sgpr[kM0] & ~(kModesMask << kModesShift)) | (modes & kModesMask) << kModesShift;
}

// Adds `distance` to the operand's register number. False: the register is then beyond the allocation.
bool move(Operand& operand, unsigned distance, unsigned vgprs) {
  operand.index = static_cast<std::uint16_t>(operand.index + distance);
  return operand.index + unsigned{operand.words} <= vgprs;
}

void execute_indexed(const Instruction& instruction, Wavefront& wave) {
  const unsigned modes = wave.sgpr[kM0] >> kModesShift & kModesMask;
  const unsigned distance = wave.sgpr[kM0] & 0xff;
  // v_readlane, v_writelane and similar instructions are not indexed.
  if (modes == 0 || instruction.latency == LatencyClass::valu_lane) return instruction.execute(instruction, wave);
  Instruction moved = instruction;
  const unsigned sources = std::min<unsigned>(instruction.sources, kOfDestination);
  for (unsigned i = 0; i < sources; ++i) {
    Operand& source = moved.src[i];
    if (source.kind != OperandKind::vgpr || (modes >> i & 1) == 0) continue;
    if (!move(source, distance, wave.vgpr_count)) source.index = 0;
  }
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    Operand& destination = moved.dst[i];
    if (destination.kind != OperandKind::vgpr || (modes >> kOfDestination & 1) == 0) continue;
    if (!move(destination, distance, wave.vgpr_count)) return;
  }
  moved.execute(moved, wave);
}

}  // namespace

void execute_altered(const Instruction& instruction, Wavefront& wave) {
  const bool vector = instruction.unit == Unit::valu;
  if (wave.mode.skips_vector() && (vector || instruction.unit == Unit::vmem || instruction.unit == Unit::lds)) return;
  if (wave.mode.gpr_index_enabled() && vector) return execute_indexed(instruction, wave);
  instruction.execute(instruction, wave);
}

void execute_set_gpr_idx_on(const Instruction& instruction, Wavefront& wave) {
  set_index(wave, read_scalar32(instruction.src[0], wave));
  set_modes(wave, static_cast<std::uint32_t>(instruction.src[1].value));
  wave.mode.enable_gpr_index(true);
}

void execute_set_gpr_idx_off(const Instruction&, Wavefront& wave) { wave.mode.enable_gpr_index(false); }

void execute_set_gpr_idx_mode(const Instruction& instruction, Wavefront& wave) {
  set_modes(wave, static_cast<std::uint32_t>(instruction.src[0].value));
}

void execute_set_gpr_idx_idx(const Instruction& instruction, Wavefront& wave) {
  set_index(wave, read_scalar32(instruction.src[0], wave));
}

}  // namespace lacuna::isa
