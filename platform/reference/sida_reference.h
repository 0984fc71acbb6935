// Generates docs/reference/sida.md: programs, kinds of matrices with their parameters, orders of rows, and the format of
// programs.
#pragma once

#include <iosfwd>

namespace lacuna {

void write_sida_reference(std::ostream& out);

}  // namespace lacuna
