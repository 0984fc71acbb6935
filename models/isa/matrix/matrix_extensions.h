// Codes that the matrix unit's two extensions give to MFMA instructions: more formats (M3XU, chapter 2 of "Democratizing tensor
// processors", the thesis below) and more operators than multiply and add (SIMD2, its chapter 3).
//
// A code is a combination of CBSZ, ABID and BLGP that CDNA2 leaves without meaning: its carriers multiply a single block, which
// CBSZ has nothing to broadcast to (CDNA2 ISA manual, "MFMA broadcast"), or f64, which has no such fields. Compilers emit it as
// they emit any MFMA. The table is the only place that knows of codes: decoder, disassembler, `lacuna isa check`, the reference
// page and executors come from it.
//
// Lane l holds, with i = l % 16 and g = l / 16:
//   f16      A: half t of 4 is A[i][4g + t]; B: B[4g + t][i]; C, D: register r of 4 is D[4g + r][i]
//   sparse   A: the first register has the two halves of A[i][4g..4g+3] that are kept, the second their positions in it: bits
//            1:0 and 3:2, other bits are ignored. What is not kept contributes nothing. B, C, D as above
//   fp32, tf32  A: register t of 2 is A[i][2g + t]; B: B[2g + t][i]; C, D as above. Of tf32 the low 13 bits are ignored
//   fp32c    A: register 0 is the real, 1 the imaginary part of A[i][g]; B: of B[g][i]; C, D: registers 2j and 2j + 1 are those
//   of
//            D[4j + g][i]
//   fp64     as v_mfma_f64_16x16x4f64
// All lanes take part whatever EXEC says. docs/matrix-unit.md says what each computes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "models/isa/decode/instruction.h"

namespace lacuna::isa {

/// A set of extensions.
enum class MatrixExtensions : std::uint8_t { none = 0, m3xu = 1, simd2 = 2, all = 3 };
constexpr bool has(MatrixExtensions set, MatrixExtensions extension) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(extension)) == static_cast<unsigned>(extension);
}
constexpr MatrixExtensions operator|(MatrixExtensions a, MatrixExtensions b) {
  return static_cast<MatrixExtensions>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// How the unit multiplies formats that are wider than its multipliers (thesis, section 2.6.1 and Table 2.4).
enum class MatrixDesign : std::uint8_t {
  m3xu_pipelined,  ///< in steps, with a pipeline stage of their own for the assignment of data
  m3xu,            ///< in steps, in a longer cycle
  fp32_native,     ///< FP32 in one step of multipliers as wide as that; no FP64, FP32C with NativeOperands::full only
};
inline constexpr unsigned kMatrixDesigns = 3;

/// Multipliers by which a unit that multiplies in steps makes FP64 (docs/matrix-unit-arithmetic.md).
enum class Fp64Multipliers : std::uint8_t {
  bits_14,  ///< parts of 14 bits, 16 products for each pair of numbers: four steps for K = 4
  bits_27,  ///< parts of 27 bits, 4 products: one step. The rate that the thesis' section 2.6.4 needs
};
/// Operands of fp32_native that registers deliver in the time of a pass.
enum class NativeOperands : std::uint8_t {
  half,  ///< as many bytes as of f16: half as many numbers
  full,  ///< as many numbers as of f16 (thesis, section 2.6.1): FP32 at the rate of f16, FP32C as four real products
};

/// Which codes a unit has.
struct MatrixCodes {
  MatrixExtensions extensions = MatrixExtensions::none;
  MatrixDesign design = MatrixDesign::m3xu_pipelined;
  Fp64Multipliers fp64_multipliers = Fp64Multipliers::bits_14;
  NativeOperands native_operands = NativeOperands::half;
};
/// Every code of both: for listings.
inline constexpr MatrixCodes kAllMatrixCodes{MatrixExtensions::all, MatrixDesign::m3xu_pipelined};

/// What is multiplied.
enum class MatrixFormat : std::uint8_t { f16, f16_sparse, tf32, fp32, fp32c, fp64 };

struct MatrixCode {
  std::string_view name;     ///< "simd2.minplus"
  std::string_view carrier;  ///< mnemonic of the instruction whose code it is
  std::uint8_t cbsz, abid, blgp;
  MatrixExtensions extension;
  MatrixFormat format;
  std::uint8_t k;  ///< M and N are 16
  /// By design, with the defaults of MatrixCodes; 0: it does not have the code. passes_in() is what a unit takes.
  std::array<std::uint8_t, kMatrixDesigns> passes;
  std::string_view meaning;  ///< of D[i][j], for a person
  ExecuteFn execute;

  /// Of a unit with these codes; 0: it does not have this one.
  unsigned passes_in(const MatrixCodes& codes) const;
  bool in(const MatrixCodes& codes) const { return passes_in(codes) != 0; }
};

std::span<const MatrixCode> matrix_codes();

/// The code of an instruction that has one, whatever a unit makes of it, else nullptr.
const MatrixCode* find_matrix_code(const InstructionRow& row, const VectorModifiers& vop);

std::string_view matrix_extension_name(MatrixExtensions set);

}  // namespace lacuna::isa
