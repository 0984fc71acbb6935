// Generates docs/reference/lazygpu.md: counts of lazy cores, reasons why loads are issued immediately, and hardware cost.
#pragma once

#include <iosfwd>

namespace lacuna {

void write_lazy_reference(std::ostream& out);

}  // namespace lacuna
