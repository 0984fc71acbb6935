// SOPK rows and executors.
#include "models/isa/row_sets.h"

namespace lacuna::isa {

std::span<const InstructionRow> sopk_rows() { return {}; }

}  // namespace lacuna::isa
