// SOPC rows and executors.
#include "models/isa/row_sets.h"

namespace lacuna::isa {

std::span<const InstructionRow> sopc_rows() { return {}; }

}  // namespace lacuna::isa
