// VOP3 rows and executors.
#include "models/isa/row_sets.h"

namespace lacuna::isa {

std::span<const InstructionRow> vop3_rows() { return {}; }

}  // namespace lacuna::isa
