// SOPP rows and executors.
#include "models/isa/row_sets.h"

namespace lacuna::isa {

std::span<const InstructionRow> sopp_rows() { return {}; }

}  // namespace lacuna::isa
