#include "models/compute/matrix/matrix_parameters.h"

namespace lacuna {

void MatrixParameters::describe(ParameterSection& s) {
  using isa::MatrixDesign;
  using isa::MatrixExtensions;
  s.add("extensions", extensions,
        "Codes of MFMA that there are beside AMD's: m3xu has FP32, FP32C, FP64 and TF32, simd2 eight more operators and 2:4 "
        "sparse matrices. Others are illegal instructions",
        {{"none", static_cast<int>(MatrixExtensions::none)},
         {"m3xu", static_cast<int>(MatrixExtensions::m3xu)},
         {"simd2", static_cast<int>(MatrixExtensions::simd2)},
         {"all", static_cast<int>(MatrixExtensions::all)}},
        {.source = "Democratizing tensor processors (thesis), chapters 2 and 3"});
  s.add(
      "design", design,
      "How M3XU multiplies FP32: in two steps in a pipeline of its own, in two steps in a cycle that is longer by 21 % for all "
      "instructions, or in one step of wider multipliers, without FP32C and FP64",
      {{"m3xu_pipelined", static_cast<int>(MatrixDesign::m3xu_pipelined)},
       {"m3xu", static_cast<int>(MatrixDesign::m3xu)},
       {"fp32_native", static_cast<int>(MatrixDesign::fp32_native)}},
      {.source = "thesis, Table 2.4"});
  s.add("interlock", interlock,
        "Which matrix instructions' results the hardware waits for: those whose time compilers do not know, or all; others are "
        "waited for by s_nop",
        {{"extended", static_cast<int>(MatrixInterlock::extended)}, {"all", static_cast<int>(MatrixInterlock::all)}},
        {.source = "gfx90a: LLVM, GCNHazardRecognizer.cpp, which puts s_nop behind every MFMA"});
  s.add("result_passes", result_passes, "Passes from when an instruction has left the unit to when its result may be read",
        {.range = {0, 16},
         .unit = "passes",
         .source = "LLVM, GCNHazardRecognizer.cpp: 5, 11, 19 wait states of 2, 8, 16 passes"});
  s.add("register_ports", register_ports,
        "Whether a matrix unit has ports of its own to the vector registers, or keeps the vector ALU while it reads three "
        "registers and writes one at a time",
        {{"own", static_cast<int>(MatrixPorts::own)}, {"shared", static_cast<int>(MatrixPorts::shared)}},
        {.source = "CDNA2 ISA manual: vector instructions may follow an MFMA at once; shared: GCN3 ISA manual, VOP3"});
}

}  // namespace lacuna
