// Generates docs/reference/duplo.md from the tables that the model uses.
#pragma once

#include <iosfwd>

namespace lacuna {

void write_duplo_reference(std::ostream& out);

}  // namespace lacuna
