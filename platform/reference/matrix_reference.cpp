#include "platform/reference/matrix_reference.h"

#include <fmt/format.h>

#include <ostream>
#include <string>

#include "models/compute/compute_unit_parameters.h"
#include "models/compute/matrix/matrix_parameters.h"
#include "models/energy/matrix_cost.h"
#include "models/isa/analysis/execution_profile.h"
#include "models/isa/decode/instruction.h"
#include "models/isa/matrix/matrix_extensions.h"

namespace lacuna {
namespace {

constexpr unsigned kTile = 16;         // M and N of all operations
constexpr unsigned kHalvesK = 16;      // K of the f16 MFMA without extensions
constexpr unsigned kHalvesPasses = 8;  // passes of the f16 MFMA without extensions
constexpr unsigned kLongPass = 4;      // cycles per pass on CDNA2
constexpr unsigned kShortPass = 2;     // cycles per pass on a100-like

/// Number of multiplications of real numbers in an operation with this code; a complex multiplication counts as four.
unsigned products(const isa::MatrixCode& code) {
  return kTile * kTile * code.k * (code.format == isa::MatrixFormat::fp32c ? 4 : 1);
}

void write_codes(std::ostream& out) {
  const unsigned design = static_cast<unsigned>(isa::MatrixDesign::m3xu_pipelined);
  const ComputeUnitParameters unit;
  const double f16 = static_cast<double>(kTile * kTile * kHalvesK) / kHalvesPasses;
  out << fmt::format(
      "## Codes and rates\n"
      "With `mfma.design = m3xu_pipelined`. M and N are 16. Products are of real numbers, four for a complex one. The rate is "
      "that of "
      "products, relative to f16 MFMA and to f32 multiply-adds of the vector ALUs ({} lanes a SIMD): with passes of {} cycles "
      "(CDNA2) and of {} (`a100-like`). All fields of an instruction: [instruction coverage](isa-coverage.md).\n\n"
      "| code | of | cbsz | abid | blgp | K | passes | products a pass | rate, f16 | vector ALUs, {} | vector ALUs, {} |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n",
      unit.lanes_per_simd, kLongPass, kShortPass, kLongPass, kShortPass);
  for (const isa::MatrixCode& code : isa::matrix_codes()) {
    const double a_pass = static_cast<double>(products(code)) / code.passes[design];
    const auto of_vector = [&](unsigned cycles) { return a_pass / (cycles * unit.lanes_per_simd); };
    out << fmt::format("| `{}` | `{}` | {} | {} | {} | {} | {} | {:g} | {:g} | {:g} | {:g} |\n", code.name, code.carrier,
                       code.cbsz, code.abid, code.blgp, code.k, code.passes[design], a_pass, a_pass / f16, of_vector(kLongPass),
                       of_vector(kShortPass));
  }
  out << "\nThe thesis' Corollaries 2 and 3 are the rates of `m3xu.fp32` (1/4) and of `m3xu.fp32c` (1/16 for complex products, "
         "a "
         "quarter of what the table says of real ones). Results: docs/guide/matrix-unit.md.\n";
  const isa::MatrixCodes wide{isa::MatrixExtensions::all, isa::MatrixDesign::m3xu_pipelined, isa::Fp64Multipliers::bits_27,
                              isa::NativeOperands::half};
  const isa::MatrixCodes native{isa::MatrixExtensions::all, isa::MatrixDesign::fp32_native, isa::Fp64Multipliers::bits_14,
                                isa::NativeOperands::full};
  out << "\nAt the rates of the thesis' results, which are not the defaults:\n\n"
         "| code | with | passes | rate, f16 |\n|---|---|---|---|\n";
  for (const isa::MatrixCode& code : isa::matrix_codes()) {
    const auto row = [&](const isa::MatrixCodes& codes, std::string_view with) {
      const unsigned passes = code.passes_in(codes);
      out << fmt::format("| `{}` | `{}` | {} | {:g} |\n", code.name, with, passes,
                         static_cast<double>(products(code)) / passes / f16);
    };
    if (code.format == isa::MatrixFormat::fp64) row(wide, "mfma.fp64_multipliers = 27bits");
    if (code.format == isa::MatrixFormat::fp32 || code.format == isa::MatrixFormat::fp32c)
      row(native, "mfma.design = fp32_native, mfma.native_operands = full");
  }
}

void write_designs(std::ostream& out) {
  using namespace matrix_cost;
  out << "\n## Designs of M3XU\n"
         "Area, cycle time and power are published (thesis, Table 2.4: synthesis with FreePDK45), relative to a unit of 16-bit "
         "formats. The energy of a pass is power times cycle time. What a product of FP32 takes follows from it and the passes "
         "here, "
         "relative to f16 in the baseline.\n\n"
         "| `mfma.design` | | area | cycle time | power | energy of a pass | passes of FP32 | energy of an FP32 product |\n"
         "|---|---|---|---|---|---|---|---|\n";
  const isa::MatrixCode* fp32 = nullptr;
  for (const isa::MatrixCode& code : isa::matrix_codes()) fp32 = code.format == isa::MatrixFormat::fp32 ? &code : fp32;
  const auto passes_of = [&](std::string_view name) -> unsigned {
    using isa::MatrixDesign;
    if (name == kBaseline.name) return 0;
    const MatrixDesign design = name == kFp32Native.name      ? MatrixDesign::fp32_native
                                : name == kM3xuPipelined.name ? MatrixDesign::m3xu_pipelined
                                                              : MatrixDesign::m3xu;
    return fp32->passes[static_cast<unsigned>(design)];
  };
  const double f16 = static_cast<double>(kHalvesPasses) / (kTile * kTile * kHalvesK);
  for (const Design& d : kDesigns) {
    const unsigned passes = passes_of(d.name);
    const double energy = d.pass_energy() * passes / products(*fp32) / f16;
    out << fmt::format("| {} | {} | {:g} | {:g} | {:g} | {:.3g} | {} | {} |\n", d.name, d.what, d.area, d.cycle_time, d.power,
                       d.pass_energy(), passes == 0 ? "–" : std::to_string(passes),
                       passes == 0 ? "–" : fmt::format("{:.3g}", energy));
  }
  const auto fewer = [&](const Design& d) {
    return 100 * (1 - d.pass_energy() * passes_of(d.name) / (kFp32Native.pass_energy() * passes_of(kFp32Native.name)));
  };
  out << fmt::format(
      "\nAt the same number of products M3XU takes {:.0f} % less energy than `fp32_native`, pipelined {:.0f} % less. The "
      "thesis "
      "measures 71 and 61 %: its kernels on the FP32 unit are {:.1f} and {:.1f} times as fast in cycles, not 2 times.\n",
      fewer(kM3xu), fewer(kM3xuPipelined), 0.29 * kFp32Native.pass_energy() / kM3xu.pass_energy(),
      0.39 * kFp32Native.pass_energy() / kM3xuPipelined.pass_energy());
}

void write_operators(std::ostream& out) {
  using namespace matrix_cost;
  out << "\n## Operators of SIMD2\n"
         "Area is published (thesis, Table 3.5), relative to a unit that multiplies and adds 16-bit floats: of that unit with "
         "the "
         "operator, and of one that has nothing else.\n\n"
         "| operator | with multiply and add | alone |\n|---|---|---|\n";
  double sum = 0;
  double added = 0;
  for (const Operator& o : kOperators) {
    sum += o.alone;
    added += o.added - 1;
    out << fmt::format("| `{}` | {:g} | {:g} |\n", o.name, o.added, o.alone);
  }
  out << fmt::format("| all | {:g} | {:g} |\n", kAllOperators, kSeparateUnits);
  out << fmt::format(
      "\nThe operators alone sum up to {:.2f}, added one by one to {:.2f} beside the unit. Built together they take {:.2f}: "
      "what they "
      "share saves {:.0f} % of separate units.\n\n"
      "| bits | multiply and add | with all operators | more |\n|---|---|---|---|\n",
      sum, added, kAllOperators - 1, 100 * (1 - (kAllOperators - 1) / kSeparateUnits));
  for (const Width& w : kWidths)
    out << fmt::format("| {} | {:g} | {:g} | {:.0f} % |\n", w.bits, w.mma, w.with_operators,
                       100 * (w.with_operators / w.mma - 1));
  out << fmt::format("| 16, 8 x 8 | {:g} | {:.3g} | {:.0f} % |\n", kEightByEight, kEightByEight * kAllOperators,
                     100 * (kAllOperators - 1));
  out << "\nOf 8 x 8 (section 3.6.1) the thesis says that the unit is 7.5 times as large and that the overhead stays the same: "
         "the "
         "area with operators follows from that.\n";
  const double sms = kDieSquareMillimetres * kSmShareOfDie / kSmSquareMillimetres;
  out << fmt::format(
      "\nA unit of 4 x 4 x 4 has {:g} mm2 and {:g} W at 45 nm; the operators add {:.2f} mm2 and {:g} W, {:.0f} % of the power "
      "(`energy.mfma_power_simd2`). In the 8 nm of an RTX 3080 the thesis makes {:g} mm2 of this area: {:.1f} % of an SM ({:g} "
      "mm2), "
      "and {:.1f} % of the die, of which {:.0f} SMs take {:.1f} %.\n",
      kBaselineSquareMillimetres, kBaselineWatts, kBaselineSquareMillimetres * (kAllOperators - 1), kOperatorWatts,
      100 * kOperatorWatts / kBaselineWatts, kScaledSquareMillimetres, 100 * kScaledSquareMillimetres / kSmSquareMillimetres,
      kSmSquareMillimetres, 100 * kScaledSquareMillimetres * sms / kDieSquareMillimetres, sms, 100 * kSmShareOfDie);
}

void write_times(std::ostream& out) {
  const MatrixParameters defaults;
  out << fmt::format(
      "\n## Waits for results\n"
      "With a code, for a result of P passes; `mfma.result_passes` = {}, a pass is `cu.mfma_pass_cycles`. Plain instructions "
      "are "
      "left to the compiler's s_nop, which keeps the same distances, unless `mfma.interlock = all` "
      "(`models/compute/matrix/matrix_results.h`).\n\n"
      "| the next instruction | issues after |\n|---|---|\n"
      "| does not use its registers | the issue of a vector instruction |\n"
      "| is an MFMA with exactly its D as C | P passes |\n"
      "| is an MFMA with a part of its D as C | P + 1 passes |\n"
      "| reads D as A or B, reads or overwrites it otherwise | P + {} passes |\n"
      "| overwrites its C | P passes |\n"
      "| overwrites its A or B | the issue of a vector instruction |\n\n"
      "With `mfma.design = m3xu_pipelined` a code of M3XU takes a cycle more in its stage: what is not accumulation waits that "
      "much longer.\n",
      defaults.result_passes, defaults.result_passes);
}

}  // namespace

void write_matrix_reference(std::ostream& out) {
  out << "# Matrix units: codes, rates, cost\n\n"
         "Generated by `lacuna docs` from `models/isa/matrix/matrix_extensions.cpp` and `models/energy/matrix_cost.h`; do not "
         "edit. "
         "\"Thesis\" "
         "is \"Democratizing tensor processors\", chapters 2 (M3XU) and 3 (SIMD2).\n\n";
  write_codes(out);
  write_times(out);
  write_designs(out);
  write_operators(out);
  out << "\n## Counts\n"
         "`passes_NAME` of `kernels.csv`, `activity.matrix_passes` of `statistics.json`, and events `NAME_pass` of block "
         "`mfma` of the "
         "[energy](../guide/energy.md) where a machine can have them.\n\n"
         "| name | of |\n|---|---|\n";
  for (const auto& [name, meaning] : isa::kMatrixOperationTexts) out << fmt::format("| `{}` | {} |\n", name, meaning);
}

}  // namespace lacuna
