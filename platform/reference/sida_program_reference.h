// Part of docs/reference/sida.md: the format of the accelerator's programs (include/lacuna/abi/sida.h) and the programs of the
// library (include/lacuna/sida_applications.h).
#pragma once

#include <iosfwd>

namespace lacuna {

void write_sida_applications(std::ostream& out);
void write_sida_format(std::ostream& out);

}  // namespace lacuna
