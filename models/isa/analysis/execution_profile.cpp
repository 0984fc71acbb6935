#include "models/isa/analysis/execution_profile.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "models/isa/analysis/register_use.h"
#include "models/isa/decode/table.h"
#include "models/isa/matrix/matrix_extensions.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {
namespace {

// Type of the data that an instruction computes with. The result of a comparison is a mask, so the type of its sources is used.
OperandType computes_with(const Instruction& instruction) {
  const bool has_result = instruction.destinations > 0 && instruction.dst[0].type != OperandType::lane_mask;
  if (has_result) return instruction.dst[0].type;
  return instruction.sources > 0 ? instruction.src[0].type : OperandType::b32;
}

Operation vector_operation(const Instruction& instruction) {
  switch (instruction.latency) {
    case LatencyClass::valu_mul32:
      return Operation::mul32;
    case LatencyClass::valu_transcendental:
      return Operation::transcendental;
    case LatencyClass::valu_transcendental_f64:
      return Operation::transcendental_f64;
    case LatencyClass::valu_lane:
      return Operation::lane;
    default:
      break;
  }
  if (instruction.passes != 0) return matrix_operation(instruction);
  // The destination of v_mac is also its third source.
  const unsigned sources = instruction.sources + ((instruction.row->flags & kReadsDst) != 0 ? 1U : 0U);
  switch (computes_with(instruction)) {
    case OperandType::f16:
      return Operation::f16;
    case OperandType::pk_f16:
    case OperandType::pk_u16:
    case OperandType::pk_i16:
    case OperandType::pk_f32:
      return Operation::packed;
    case OperandType::f32:
      return sources >= 3 ? Operation::f32_fma : Operation::f32;
    case OperandType::f64:
      return sources >= 3 ? Operation::f64_fma : Operation::f64;
    default:
      return instruction.latency == LatencyClass::valu_f64 ? Operation::f64 : Operation::int32;
  }
}

Operation operation_of(const Instruction& instruction) {
  switch (instruction.unit) {
    case Unit::valu:
      return vector_operation(instruction);
    case Unit::salu:
    case Unit::branch:
      return Operation::scalar;
    default:
      return Operation::none;
  }
}

// Number of LDS words that each active lane of an LDS instruction accesses: the number of the instruction's data registers.
unsigned lds_words(const Instruction& instruction, const ExecutionProfile& profile) {
  if (instruction.unit != Unit::lds || instruction.sources == 0) return 0;
  const unsigned address = instruction.src[0].kind == OperandKind::vgpr ? instruction.src[0].words : 0U;
  return profile.vgpr_reads - address + profile.vgpr_writes;
}

}  // namespace

Operation matrix_operation(const Instruction& instruction) {
  if (const MatrixCode* code = instruction.matrix_code; code != nullptr) {
    switch (code->format) {
      case MatrixFormat::tf32:
        return Operation::mfma_m3xu_tf32;
      case MatrixFormat::fp32:
        return Operation::mfma_m3xu_fp32;
      case MatrixFormat::fp32c:
        return Operation::mfma_m3xu_fp32c;
      case MatrixFormat::fp64:
        return Operation::mfma_m3xu_fp64;
      case MatrixFormat::f16:
      case MatrixFormat::f16_sparse:
        return static_cast<Operation>(static_cast<unsigned>(Operation::mfma_simd2_mma) + code->abid);
    }
  }
  if (instruction.src[0].type == OperandType::f64) return Operation::mfma_f64;
  return instruction.src[0].type == OperandType::f32 ? Operation::mfma_f32 : Operation::mfma_narrow;
}

ExecutionProfile execution_profile(const Instruction& instruction) {
  ExecutionProfile profile{.operation = operation_of(instruction), .passes = instruction.passes};
  const RegisterUse use = register_use(instruction);
  // VCC may be both an explicit and an implicit operand: it is read once.
  const auto again = [&use](unsigned read) {
    const RegisterRange range = use.reads[read];
    return range.file == OperandKind::sgpr &&
           std::find(use.reads.begin(), use.reads.begin() + read, range) != use.reads.begin() + read;
  };
  const auto count = [](RegisterRange range, std::uint8_t& vector, std::uint8_t& scalar) {
    if (range.file == OperandKind::sgpr && range.first == kExecLo) return;
    std::uint8_t& words = range.file == OperandKind::sgpr ? scalar : vector;
    words = static_cast<std::uint8_t>(words + range.count);
  };
  for (unsigned i = 0; i < use.read_count; ++i) {
    if (!again(i)) count(use.reads[i], profile.vgpr_reads, profile.sgpr_reads);
  }
  for (unsigned i = 0; i < use.write_count; ++i) count(use.writes[i], profile.vgpr_writes, profile.sgpr_writes);
  profile.lds_words = static_cast<std::uint8_t>(lds_words(instruction, profile));
  return profile;
}

std::uint16_t ExecutionProfiles::number_of(const Instruction& instruction) {
  const ExecutionProfile profile = execution_profile(instruction);
  auto known = std::find(profiles_.begin(), profiles_.end(), profile);
  if (known == profiles_.end()) {
    // In practice there are at most a few hundred profiles.
    if (profiles_.size() > std::numeric_limits<std::uint16_t>::max()) throw std::logic_error("too many execution profiles");
    known = profiles_.insert(profiles_.end(), profile);
  }
  return static_cast<std::uint16_t>(known - profiles_.begin());
}

}  // namespace lacuna::isa
