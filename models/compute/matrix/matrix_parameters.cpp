#include "models/compute/matrix/matrix_parameters.h"

namespace lacuna {

void MatrixParameters::describe(ParameterSection& s) {
  using isa::Fp64Multipliers;
  using isa::MatrixDesign;
  using isa::MatrixExtensions;
  using isa::NativeOperands;
  s.add("extensions", extensions,
        "MFMA instructions in addition to AMD's: m3xu adds FP32, FP32C, FP64 and TF32, simd2 eight more operators and 2:4 "
        "sparse matrices. All others are illegal instructions",
        {{"none", static_cast<int>(MatrixExtensions::none)},
         {"m3xu", static_cast<int>(MatrixExtensions::m3xu)},
         {"simd2", static_cast<int>(MatrixExtensions::simd2)},
         {"all", static_cast<int>(MatrixExtensions::all)}},
        {.source = "Democratizing tensor processors (thesis), chapters 2 and 3"});
  s.add("design", design,
        "How M3XU multiplies FP32: in two steps in a separate pipeline, in two steps with a clock cycle longer by 21 % for all "
        "instructions, or in one step of wider multipliers, without FP32C and FP64",
        {{"m3xu_pipelined", static_cast<int>(MatrixDesign::m3xu_pipelined)},
         {"m3xu", static_cast<int>(MatrixDesign::m3xu)},
         {"fp32_native", static_cast<int>(MatrixDesign::fp32_native)}},
        {.source = "thesis, Table 2.4"});
  s.add(
      "fp64_multipliers", fp64_multipliers,
      "Multipliers with which a unit that multiplies in steps computes FP64: of 14 bits, as many as f16 has, in four steps for "
      "K = 4; or as many of 27 bits in one step, whose area and power are not in Table 2.4",
      {{"14bits", static_cast<int>(Fp64Multipliers::bits_14)}, {"27bits", static_cast<int>(Fp64Multipliers::bits_27)}},
      {.source = "docs/guide/matrix-unit-arithmetic.md; 27bits: the rate that section 2.6.4 needs for its 6.8 times"});
  s.add("native_operands", native_operands,
        "Operands that registers deliver to fp32_native in a pass: half as many as of f16, or as many, which is FP32 at the "
        "rate of f16, and FP32C as four real products",
        {{"half", static_cast<int>(NativeOperands::half)}, {"full", static_cast<int>(NativeOperands::full)}},
        {.source = "thesis, section 2.6.1: full, by twice the bandwidth in front of the unit"});
  s.add("interlock", interlock,
        "Matrix instructions for whose results the hardware waits: those whose latency compilers do not know, or all; for the "
        "others the code waits with s_nop",
        {{"extended", static_cast<int>(MatrixInterlock::extended)}, {"all", static_cast<int>(MatrixInterlock::all)}},
        {.source = "gfx90a: LLVM, GCNHazardRecognizer.cpp, which puts s_nop after every MFMA"});
  s.add("result_passes", result_passes, "Passes from when an instruction has left the unit to when its result may be read",
        {.range = {0, 16},
         .unit = "passes",
         .source = "LLVM, GCNHazardRecognizer.cpp: 5, 11, 19 wait states of 2, 8, 16 passes"});
  s.add("register_ports", register_ports,
        "Whether a matrix unit has its own ports to the vector registers, or occupies those of the vector ALU while it reads "
        "three registers and writes one at a time",
        {{"own", static_cast<int>(MatrixPorts::own)}, {"shared", static_cast<int>(MatrixPorts::shared)}},
        {.source = "CDNA2 ISA manual: vector instructions may directly follow an MFMA; shared: GCN3 ISA manual, VOP3"});
}

}  // namespace lacuna
