// docs/lazy-reference.md: what is counted of lazy cores, why loads are made at once, and what the hardware costs.
#pragma once

#include <iosfwd>

namespace lacuna {

void write_lazy_reference(std::ostream& out);

}  // namespace lacuna
