// Generates docs/reference/matrix-unit.md: codes of matrix extensions, their rates, and hardware cost.
#pragma once

#include <iosfwd>

namespace lacuna {

void write_matrix_reference(std::ostream& out);

}  // namespace lacuna
