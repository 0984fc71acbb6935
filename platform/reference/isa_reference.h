// Generates docs/reference/isa-coverage.md from the instruction table.
#pragma once

#include <iosfwd>

namespace lacuna {

void write_isa_reference(std::ostream& out);

}  // namespace lacuna
