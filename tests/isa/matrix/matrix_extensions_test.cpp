// Tests the table of matrix extension codes: against CDNA2's definitions, for consistency, and in the decoder, disassembler and
// listings.
#include "models/isa/matrix/matrix_extensions.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "models/isa/analysis/execution_profile.h"
#include "models/isa/decode/decoder.h"
#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"
#include "tests/isa/llvm_oracle.h"

namespace lacuna::isa::test {
namespace {

constexpr MatrixCodes codes_of(MatrixExtensions extensions, MatrixDesign design = MatrixDesign::m3xu_pipelined) {
  return {extensions, design};
}

const InstructionRow& carrier(const MatrixCode& code) {
  for (const InstructionRow& row : rows(Format::mai)) {
    if (row.mnemonic == code.carrier) return row;
  }
  throw std::runtime_error("no row " + std::string(code.carrier));
}

/// The instruction with v[0:..] = D and C, v[64:..] = A, v[96:..] = B.
Words words_of(const MatrixCode& code) {
  const auto opcode = static_cast<std::uint32_t>(carrier(code).opcode[Target::gfx90a]);
  const std::uint32_t low = 0xd3800000 | opcode << 16 | std::uint32_t{code.abid} << 11 | std::uint32_t{code.cbsz} << 8;
  const std::uint32_t high = std::uint32_t{code.blgp} << 29 | 256U << 18 | (256U + 96) << 9 | (256U + 64);
  return {low, high, 0};
}

Instruction decoded(const MatrixCode& code, const MatrixCodes& codes) {
  const Words words = words_of(code);
  const DecodeResult result = decode(words.data(), 2, Target::gfx90a, codes);
  EXPECT_TRUE(result.ok) << code.name << ": " << result.error;
  return result.instruction;
}

TEST(MatrixExtensions, CodesAreUnusedFieldValuesOfCdna2Instructions) {
  for (const MatrixCode& code : matrix_codes()) {
    const bool f64 = carrier(code).src.types[0] == OperandType::f64;
    const bool one_block = code.carrier == "v_mfma_f32_16x16x16f16";
    // A single block cannot be broadcast; f64 instructions have no CBSZ, ABID and BLGP fields.
    EXPECT_TRUE(f64 || (one_block && code.cbsz != 0)) << code.name;
  }
}

TEST(MatrixExtensions, NamesAndCodesAreUnique) {
  std::set<std::string_view> names;
  std::set<std::tuple<std::string_view, unsigned, unsigned, unsigned>> codes;
  for (const MatrixCode& code : matrix_codes()) {
    EXPECT_TRUE(names.insert(code.name).second) << code.name;
    EXPECT_TRUE(codes.insert({code.carrier, code.cbsz, code.abid, code.blgp}).second) << code.name;
    EXPECT_LT(code.cbsz, 8U);
    EXPECT_LT(code.abid, 16U);
    EXPECT_LT(code.blgp, 8U);
  }
}

TEST(MatrixExtensions, ACodeExistsOnlyWithItsExtension) {
  for (const MatrixCode& code : matrix_codes()) {
    for (const MatrixExtensions set :
         {MatrixExtensions::none, MatrixExtensions::m3xu, MatrixExtensions::simd2, MatrixExtensions::all}) {
      const Instruction instruction = decoded(code, codes_of(set));
      EXPECT_EQ(instruction.matrix_code, &code);
      EXPECT_EQ(extension_name(instruction), code.name);
      const bool there = set == MatrixExtensions::all || set == code.extension;
      EXPECT_EQ(instruction.execute, there ? code.execute : execute_unsupported) << code.name;
      EXPECT_EQ(not_executed_reason(instruction).empty(), there) << code.name;
      EXPECT_EQ(execution_profile(instruction).passes, there ? code.passes[0] : matrix_passes(instruction.latency));
    }
  }
}

TEST(MatrixExtensions, EveryOtherCodeIsThatOfThePlainInstruction) {
  std::set<std::tuple<std::string_view, unsigned, unsigned, unsigned>> codes;
  for (const MatrixCode& code : matrix_codes()) codes.insert({code.carrier, code.cbsz, code.abid, code.blgp});
  unsigned others = 0;
  for (const InstructionRow& row : rows(Format::mai)) {
    if (row.src.count != 3) continue;
    for (unsigned all = 0; all < 8 * 16 * 8; ++all) {
      MatrixCode code{};
      code.carrier = row.mnemonic;
      code.cbsz = all & 7;
      code.abid = all >> 3 & 15;
      code.blgp = static_cast<std::uint8_t>(all >> 7);
      if (codes.count({row.mnemonic, code.cbsz, code.abid, code.blgp}) != 0) continue;
      const Instruction instruction = decoded(code, kAllMatrixCodes);
      EXPECT_EQ(instruction.matrix_code, nullptr);
      EXPECT_EQ(instruction.execute, row.execute);
      ++others;
    }
  }
  EXPECT_GT(others, 20000U);
}

// Passes with the parameters of the thesis: FP64 at a quarter of the rate of f16; a native FP32 unit with as many multipliers
// as for f16.
TEST(MatrixExtensions, TheRatesOfTheThesisCanBeHad) {
  MatrixCodes wide = codes_of(MatrixExtensions::all);
  wide.fp64_multipliers = Fp64Multipliers::bits_27;
  MatrixCodes native = codes_of(MatrixExtensions::all, MatrixDesign::fp32_native);
  native.native_operands = NativeOperands::full;
  const struct {
    std::string_view name;
    unsigned wide, native;
  } table[] = {{"m3xu.tf32", 8, 8}, {"m3xu.fp32", 16, 4}, {"m3xu.fp32c", 32, 8}, {"m3xu.fp64", 8, 0}, {"simd2.mma", 8, 8}};
  for (const auto& row : table) {
    for (const MatrixCode& code : matrix_codes()) {
      if (code.name != row.name) continue;
      EXPECT_EQ(decoded(code, wide).passes, row.wide) << row.name;
      const Instruction of_native = decoded(code, native);
      EXPECT_EQ(of_native.execute == execute_unsupported, row.native == 0) << row.name;
      if (row.native != 0) {
        EXPECT_EQ(of_native.passes, row.native) << row.name;
      }
    }
  }
}

TEST(MatrixExtensions, TheDesignDeterminesThePasses) {
  const struct {
    std::string_view name;
    unsigned pipelined, native;
  } table[] = {{"m3xu.tf32", 8, 8},     {"m3xu.fp32", 16, 8}, {"m3xu.fp32c", 32, 0},   {"m3xu.fp64", 32, 0},
               {"simd2.minplus", 8, 8}, {"simd2.mma", 8, 8},  {"simd2.addnorm", 8, 8}, {"simd2.minplus.sparse", 4, 4}};
  for (const auto& row : table) {
    for (const MatrixCode& code : matrix_codes()) {
      if (code.name != row.name) continue;
      EXPECT_EQ(decoded(code, kAllMatrixCodes).passes, row.pipelined) << row.name;
      EXPECT_EQ(decoded(code, codes_of(MatrixExtensions::all, MatrixDesign::m3xu)).passes, row.pipelined) << row.name;
      const Instruction native = decoded(code, codes_of(MatrixExtensions::all, MatrixDesign::fp32_native));
      EXPECT_EQ(native.execute == execute_unsupported, row.native == 0) << row.name;
      if (row.native != 0) {
        EXPECT_EQ(native.passes, row.native) << row.name;
      }
    }
  }
}

TEST(MatrixExtensions, TheReasonNamesTheParameterToSet) {
  const MatrixCode* minplus = nullptr;
  const MatrixCode* complex = nullptr;
  for (const MatrixCode& code : matrix_codes()) {
    if (code.name == "simd2.minplus") minplus = &code;
    if (code.name == "m3xu.fp32c") complex = &code;
  }
  ASSERT_NE(minplus, nullptr);
  ASSERT_NE(complex, nullptr);
  EXPECT_EQ(not_executed_reason(decoded(*minplus, {})), "simd2.minplus needs mfma.extensions = simd2 (or all)");
  EXPECT_EQ(not_executed_reason(decoded(*complex, codes_of(MatrixExtensions::m3xu, MatrixDesign::fp32_native))),
            "m3xu.fp32c needs mfma.extensions = m3xu (or all), and a unit that multiplies in steps (mfma.design)");
}

// LLVM disassembles each code as its carrier instruction, and so does Lacuna: compilers can emit the codes.
TEST(MatrixExtensions, DisassemblesEachCodeAsLlvmDoes) {
  std::vector<Words> cases;
  for (const MatrixCode& code : matrix_codes()) cases.push_back(words_of(code));
  const std::vector<OracleText> expected = disassemble_by_llvm(cases, Target::gfx90a);
  ASSERT_EQ(expected.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const DecodeResult result = decode(cases[i].data(), 2, Target::gfx90a, kAllMatrixCodes);
    EXPECT_EQ(disassemble(result.instruction, Target::gfx90a), expected[i].text);
  }
}

}  // namespace
}  // namespace lacuna::isa::test
