#include "models/isa/coverage.h"

#include "models/isa/disassemble_operand.h"
#include "models/isa/table.h"

namespace lacuna::isa {
namespace {

const char* verdict(const InstructionRow& row) {
  if (row.execute == nullptr) return "no";
  return (row.flags & kApproximate) != 0 ? "approximate" : "exact";
}

template <typename Visit>
void for_rows(Target target, Visit&& visit) {
  for (const Format format : all_formats()) {
    for (const InstructionRow& row : rows(format)) {
      if (row.opcode[target] != kAbsent) visit(format, row);
    }
  }
}

}  // namespace

CoverageCount coverage_count(Target target) {
  CoverageCount count;
  for_rows(target, [&](Format, const InstructionRow& row) {
    ++count.rows;
    if (row.execute == nullptr) return;
    ++count.executable;
    if ((row.flags & kApproximate) != 0) ++count.approximate;
  });
  return count;
}

std::string coverage_table_markdown(Target target) {
  const CoverageCount count = coverage_count(target);
  std::string text = "# Instructions of ";
  text.append(traits(target).name).append("\n\n");
  text.append(std::to_string(count.rows)).append(" instructions in the table, ");
  text.append(std::to_string(count.executable)).append(" executed, ");
  text.append(std::to_string(count.approximate)).append(" of them approximately. Generated from the table.\n");
  bool any = false;
  Format current{};
  for_rows(target, [&](Format format, const InstructionRow& row) {
    if (!any || format != current) {
      any = true;
      current = format;
      text.append("\n## ").append(format_name(format)).append("\n\n| Mnemonic | Opcode | Executed |\n| --- | --- | --- |\n");
    }
    text.append("| ").append(row.mnemonic).append(" | ");
    text.append(hexadecimal(static_cast<unsigned>(row.opcode[target]))).append(" | ").append(verdict(row)).append(" |\n");
  });
  return text;
}

}  // namespace lacuna::isa
