// What of the instruction set is executed, as a table for the documentation and for reports.
#pragma once

#include <string>

#include "models/isa/target.h"

namespace lacuna::isa {

struct CoverageCount {
  unsigned rows = 0;
  unsigned executable = 0;
  unsigned approximate = 0;  ///< of the executable ones: within a documented bound instead of bit for bit
};
CoverageCount coverage_count(Target target);

/// Markdown: one section per encoding format with mnemonic, opcode on `target`, and "exact", "approximate" or "no".
std::string coverage_table_markdown(Target target);

}  // namespace lacuna::isa
