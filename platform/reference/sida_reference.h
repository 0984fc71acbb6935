// docs/sida-reference.md: kinds of matrices with their numbers, and orders.
#pragma once

#include <iosfwd>

namespace lacuna {

void write_sida_reference(std::ostream& out);

}  // namespace lacuna
