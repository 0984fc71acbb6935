// SOP1 rows and executors.
#include "models/isa/row_sets.h"

namespace lacuna::isa {

std::span<const InstructionRow> sop1_rows() { return {}; }

}  // namespace lacuna::isa
