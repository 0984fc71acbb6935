// FLAT rows and executors.
#include "models/isa/row_sets.h"

namespace lacuna::isa {

std::span<const InstructionRow> flat_rows() { return {}; }

}  // namespace lacuna::isa
