#include "platform/reference/isa_reference.h"

#include <array>
#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "models/isa/analysis/code_walk.h"
#include "models/isa/decode/table.h"
#include "models/isa/matrix/matrix_extensions.h"

namespace lacuna {
namespace {

constexpr std::array kVerdicts{isa::Verdict::exact, isa::Verdict::approximate, isa::Verdict::unsupported};

/// Mnemonics of one format on one target, by verdict.
struct Coverage {
  std::array<unsigned, kVerdicts.size()> count{};
  std::array<std::string, kVerdicts.size()> mnemonics{};
  unsigned rows = 0;

  Coverage(isa::Format format, isa::Target target) {
    for (const isa::InstructionRow& row : isa::rows(format)) {
      if (row.opcode[target] == isa::kAbsent) continue;
      const auto verdict = static_cast<std::size_t>(isa::verdict(row));
      ++rows;
      ++count[verdict];
      mnemonics[verdict] += (mnemonics[verdict].empty() ? "`" : ", `") + std::string(row.mnemonic) + '`';
    }
  }
};

/// Lists the sources that make other sources irrelevant if they are zero. "0, 1": each makes the other irrelevant; "0 > 1":
/// only source 0 makes source 1 irrelevant.
std::string pairs_of(const isa::InstructionRow& row) {
  std::string text;
  for (unsigned a = 0; a < row.src.count; ++a) {
    for (unsigned b = 0; b < row.src.count; ++b) {
      if (isa::makes_irrelevant(row, a, b) == isa::ZeroPair::none) continue;
      const bool both = isa::makes_irrelevant(row, b, a) != isa::ZeroPair::none;
      if (both && b < a) continue;
      text += (text.empty() ? "" : "; ") + std::to_string(a) + (both ? ", " : " > ") + std::to_string(b);
    }
  }
  return text;
}

void write_zero_pairs(isa::Target target, std::ostream& out) {
  // Lists of mnemonics by pairs, and by whether the exceptions of IEEE 754 apply.
  std::map<std::pair<std::string, bool>, std::string> mnemonics;
  for (const isa::Format format : isa::all_formats()) {
    for (const isa::InstructionRow& row : isa::rows(format)) {
      const std::string pairs = pairs_of(row);
      if (row.opcode[target] == isa::kAbsent || pairs.empty()) continue;
      std::string& list = mnemonics[{pairs, (row.flags & isa::kZeroByIeee) != 0}];
      list += (list.empty() ? "`" : ", `") + std::string(row.mnemonic) + '`';
    }
  }
  out << "\n### " << isa::traits(target).name
      << " sources that a zero makes irrelevant\n\n| sources | but | instructions |\n|---|---|---|\n";
  for (const auto& [key, list] : mnemonics) {
    out << "| " << key.first << " | " << (key.second ? "NaN, infinity, sign of a zero result" : "–") << " | " << list << " |\n";
  }
}

void write_target(isa::Target target, std::ostream& out) {
  out << "\n## " << isa::traits(target).name << "\n\n"
      << "| format | in the table | exact | approximate | unsupported |\n|---|---|---|---|---|\n";
  unsigned rows = 0;
  std::array<unsigned, kVerdicts.size()> total{};
  for (const isa::Format format : isa::all_formats()) {
    const Coverage coverage(format, target);
    if (coverage.rows == 0) continue;
    out << "| " << isa::format_name(format) << " | " << coverage.rows;
    for (const unsigned count : coverage.count) out << " | " << count;
    out << " |\n";
    rows += coverage.rows;
    for (std::size_t v = 0; v < kVerdicts.size(); ++v) total[v] += coverage.count[v];
  }
  out << "| all | " << rows;
  for (const unsigned count : total) out << " | " << count;
  out << " |\n";
  for (const isa::Format format : isa::all_formats()) {
    const Coverage coverage(format, target);
    if (coverage.rows == 0) continue;
    out << "\n### " << isa::traits(target).name << ' ' << isa::format_name(format) << '\n';
    for (std::size_t v = 0; v < kVerdicts.size(); ++v)
      if (coverage.count[v] != 0) out << "\n- " << isa::verdict_name(kVerdicts[v]) << ": " << coverage.mnemonics[v] << '\n';
  }
  write_zero_pairs(target, out);
}

void write_matrix_codes(std::ostream& out) {
  out << "\n## gfx90a codes of matrix extensions\n\n"
         "With `mfma.extensions` (docs/reference/parameters.md), which is `none` unless set; otherwise they are illegal "
         "instructions, as "
         "all other codes that CDNA2 does not define. [Matrix unit](../guide/matrix-unit.md) says what they compute.\n\n"
         "| code | instruction | cbsz | abid | blgp | M x N x K | D | passes, by `mfma.design`: m3xu_pipelined, m3xu, "
         "fp32_native |\n"
         "|---|---|---|---|---|---|---|---|\n";
  for (const isa::MatrixCode& code : isa::matrix_codes()) {
    out << "| `" << code.name << "` | `" << code.carrier << "` | " << unsigned{code.cbsz} << " | " << unsigned{code.abid}
        << " | " << unsigned{code.blgp} << " | 16 x 16 x " << unsigned{code.k} << " | " << code.meaning << " | ";
    for (std::size_t design = 0; design < code.passes.size(); ++design) {
      out << (design == 0 ? "" : ", ");
      if (code.passes[design] == 0) {
        out << "–";
      } else {
        out << unsigned{code.passes[design]};
      }
    }
    out << " |\n";
  }
}

}  // namespace

void write_isa_reference(std::ostream& out) {
  out << "# Instruction coverage\n\n"
         "Generated by `lacuna docs` from the instruction table in `models/isa`; do not edit. `lacuna isa check FILE` says the "
         "same of the kernels of a code object. An approximate instruction keeps within a documented bound of the exact "
         "result. A kernel that contains an unsupported instruction, one that is in the table but not executed or one that is "
         "not there at all, is refused when it is dispatched, with an error that names kernel, program counter and "
         "instruction; other kernels of the file run.\n\n"
         "Where one of two sources named together is zero in a lane, the lane's result does not depend on the other one: not "
         "at "
         "all, or unless that is NaN or infinite, and but for the sign of a result that is zero (IEEE 754). Sources count from "
         "0 in the order in which they are printed; of packed ones both halves are zero.\n";
  for (unsigned t = 0; t < isa::kTargets; ++t) write_target(static_cast<isa::Target>(t), out);
  write_matrix_codes(out);
}

}  // namespace lacuna
