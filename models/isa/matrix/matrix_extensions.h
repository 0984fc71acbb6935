// Codes of the matrix unit's two extensions, encoded in MFMA instructions: further formats (M3XU, chapter 2 of "Democratizing
// tensor processors", called the thesis below) and operators other than multiply and add (SIMD2, chapter 3).
//
// A code is a combination of CBSZ, ABID and BLGP, in an MFMA instruction (the carrier), that is undefined on CDNA2. The carrier
// either multiplies a single block, so CBSZ has no block to broadcast to (CDNA2 ISA manual, "MFMA broadcast"), or multiplies
// f64, for which CDNA2 does not define these fields. Compilers emit codes like any MFMA. matrix_codes() is the only list of
// codes: decoder, disassembler, `lacuna isa check`, the reference page and executors are derived from it.
//
// Lane l holds, with i = l % 16 and g = l / 16:
//   f16      A: half t of 4 is A[i][4g + t]; B: B[4g + t][i]; C, D: register r of 4 is D[4g + r][i]
//   sparse   A: the first register has the two halves of A[i][4g..4g+3] that are kept, the second their positions in it: bits
//            1:0 and 3:2, other bits are ignored. Elements not kept contribute nothing. B, C, D as above
//   fp32, tf32  A: register t of 2 is A[i][2g + t]; B: B[2g + t][i]; C, D as above. The low 13 bits of tf32 are ignored
//   fp32c    A: register 0 is the real, 1 the imaginary part of A[i][g]; B: of B[g][i]; C, D: registers 2j and 2j + 1 hold
//            the parts of D[4j + g][i]
//   fp64     as v_mfma_f64_16x16x4f64
// All lanes take part regardless of EXEC. docs/guide/matrix-unit.md defines the result of each code.
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

/// Multiplication of formats that are wider than the unit's multipliers (thesis, section 2.6.1 and Table 2.4).
enum class MatrixDesign : std::uint8_t {
  m3xu_pipelined,  ///< multiplies in steps, with a separate pipeline stage for the assignment of data
  m3xu,            ///< multiplies in steps, and assigns data in the same, longer cycle
  fp32_native,  ///< multiplies FP32 in one step, by multipliers of FP32's width; no FP64, FP32C with NativeOperands::full only
};
inline constexpr unsigned kMatrixDesigns = 3;

/// Multipliers with which a unit that multiplies in steps computes FP64 (docs/guide/matrix-unit-arithmetic.md).
enum class Fp64Multipliers : std::uint8_t {
  bits_14,  ///< parts of 14 bits, 16 products for each pair of numbers: four steps for K = 4
  bits_27,  ///< parts of 27 bits, 4 products: one step, the rate required by the thesis' section 2.6.4
};
/// Rate at which the register file delivers operands to fp32_native.
enum class NativeOperands : std::uint8_t {
  half,  ///< as many bytes as for f16, and so half as many numbers
  full,  ///< as many numbers as for f16 (thesis, section 2.6.1): FP32 at the rate of f16, FP32C as four real products
};

/// Configuration of a matrix unit that determines its codes and their passes.
struct MatrixCodes {
  MatrixExtensions extensions = MatrixExtensions::none;
  MatrixDesign design = MatrixDesign::m3xu_pipelined;
  Fp64Multipliers fp64_multipliers = Fp64Multipliers::bits_14;
  NativeOperands native_operands = NativeOperands::half;
};
/// All codes of both extensions, for listings.
inline constexpr MatrixCodes kAllMatrixCodes{MatrixExtensions::all, MatrixDesign::m3xu_pipelined};

/// Type of the multiplied elements.
enum class MatrixFormat : std::uint8_t { f16, f16_sparse, tf32, fp32, fp32c, fp64 };

struct MatrixCode {
  std::string_view name;     ///< "simd2.minplus"
  std::string_view carrier;  ///< mnemonic of the instruction that carries the code
  std::uint8_t cbsz, abid, blgp;
  MatrixExtensions extension;
  MatrixFormat format;
  std::uint8_t k;  ///< M and N are 16
  /// Passes by MatrixDesign, with the defaults of MatrixCodes; 0: the design does not have the code. passes_in() returns the
  /// passes of a configured unit.
  std::array<std::uint8_t, kMatrixDesigns> passes;
  std::string_view meaning;  ///< formula of D[i][j], for a human reader
  ExecuteFn execute;

  /// Passes of this code in a unit configured by `codes`; 0: the unit does not have the code.
  unsigned passes_in(const MatrixCodes& codes) const;
  bool in(const MatrixCodes& codes) const { return passes_in(codes) != 0; }
};

std::span<const MatrixCode> matrix_codes();

/// The code of an instruction, whether or not a unit supports it; nullptr: its fields form no code.
const MatrixCode* find_matrix_code(const InstructionRow& row, const VectorModifiers& vop);

std::string_view matrix_extension_name(MatrixExtensions set);

}  // namespace lacuna::isa
