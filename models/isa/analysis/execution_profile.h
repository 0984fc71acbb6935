// Resources that the execution of an instruction uses, as input of energy models: a class of operation, and accesses to
// registers and LDS.
//
// Many instructions have the same profile. Profiles are numbered when instructions are decoded (Instruction::profile), so that
// executions are counted in one small table.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/isa/decode/instruction.h"

namespace lacuna::isa {

/// Class of operation. Coarser than the rows of the instruction table, finer than its latency classes, which do not distinguish
/// data types.
enum class Operation : std::uint8_t {
  none,    ///< waits, barriers, memory instructions: no ALU
  scalar,  ///< scalar ALU and branches
  int32,   ///< vector: integer and logic of up to 64 bits, moves, selects
  f16,
  packed,  ///< vector: operation on two halves, or on two f32
  f32,
  f32_fma,  ///< vector f32 with three sources: multiply-add and similar
  f64,
  f64_fma,
  mul32,
  transcendental,
  transcendental_f64,
  lane,      ///< v_readlane and similar
  mfma_f64,  ///< matrix instructions, by the type of the multiplied matrices
  mfma_f32,
  mfma_narrow,     ///< f16, bf16, i8
  mfma_m3xu_tf32,  ///< M3XU codes of matrix instructions (models/isa/matrix/matrix_extensions.h), by format
  mfma_m3xu_fp32,
  mfma_m3xu_fp32c,
  mfma_m3xu_fp64,
  mfma_simd2_mma,  ///< SIMD2 codes of matrix instructions, dense and 2:4 sparse, in the order of their operators' numbers
  mfma_simd2_minplus,
  mfma_simd2_maxplus,
  mfma_simd2_minmul,
  mfma_simd2_maxmul,
  mfma_simd2_minmax,
  mfma_simd2_maxmin,
  mfma_simd2_orand,
  mfma_simd2_addnorm,
  count,
};

struct MatrixOperationText {
  std::string_view name;  ///< name in the output files
  std::string_view meaning;
};
/// Names and descriptions of the matrix operations, in the order of Operation from mfma_f64 on.
constexpr std::array kMatrixOperationTexts{
    MatrixOperationText{"f64", "f64 MFMA"},
    MatrixOperationText{"f32", "f32 MFMA"},
    MatrixOperationText{"narrow", "f16, bf16 and i8 MFMA"},
    MatrixOperationText{"m3xu_tf32", "M3XU, TF32"},
    MatrixOperationText{"m3xu_fp32", "M3XU, FP32"},
    MatrixOperationText{"m3xu_fp32c", "M3XU, FP32C"},
    MatrixOperationText{"m3xu_fp64", "M3XU, FP64"},
    MatrixOperationText{"simd2_mma", "SIMD2, multiply and add"},
    MatrixOperationText{"simd2_minplus", "SIMD2, add and minimum"},
    MatrixOperationText{"simd2_maxplus", "SIMD2, add and maximum"},
    MatrixOperationText{"simd2_minmul", "SIMD2, multiply and minimum"},
    MatrixOperationText{"simd2_maxmul", "SIMD2, multiply and maximum"},
    MatrixOperationText{"simd2_minmax", "SIMD2, maximum and minimum"},
    MatrixOperationText{"simd2_maxmin", "SIMD2, minimum and maximum"},
    MatrixOperationText{"simd2_orand", "SIMD2, and and or"},
    MatrixOperationText{"simd2_addnorm", "SIMD2, squared difference and add"},
};
inline constexpr std::size_t kMatrixOperations = kMatrixOperationTexts.size();
inline constexpr std::size_t kFirstMatrixOperation = static_cast<std::size_t>(Operation::mfma_f64);
static_assert(kFirstMatrixOperation + kMatrixOperations == static_cast<std::size_t>(Operation::count));

/// Operation of a matrix instruction.
Operation matrix_operation(const Instruction& instruction);

/// Passes of a matrix instruction; 0: not a matrix instruction.
constexpr unsigned matrix_passes(LatencyClass latency) {
  switch (latency) {
    case LatencyClass::mfma_2_pass:
      return 2;
    case LatencyClass::mfma_4_pass:
      return 4;
    case LatencyClass::mfma_8_pass:
      return 8;
    case LatencyClass::mfma_16_pass:
      return 16;
    default:
      return 0;
  }
}

struct ExecutionProfile {
  Operation operation = Operation::none;
  std::uint8_t passes = 0;  ///< passes of a matrix instruction, which uses all lanes; otherwise 0
  // Numbers of 32-bit words: per active lane for vector registers, per wavefront for scalar registers. EXEC, which every vector
  // instruction uses, is not counted, as it is not read from the register file; an M0-relative move counts as an access to one
  // register.
  std::uint8_t vgpr_reads = 0;
  std::uint8_t vgpr_writes = 0;
  std::uint8_t sgpr_reads = 0;
  std::uint8_t sgpr_writes = 0;
  std::uint8_t lds_words = 0;  ///< words of LDS that each active lane reads and writes

  bool operator==(const ExecutionProfile&) const = default;
};

ExecutionProfile execution_profile(const Instruction& instruction);

/// All profiles found so far, by number.
class ExecutionProfiles {
 public:
  /// Returns the number of the instruction's profile; adds the profile if it is new.
  std::uint16_t number_of(const Instruction& instruction);
  const ExecutionProfile& operator[](std::size_t number) const { return profiles_[number]; }
  std::size_t size() const { return profiles_.size(); }

 private:
  std::vector<ExecutionProfile> profiles_;
};

}  // namespace lacuna::isa
