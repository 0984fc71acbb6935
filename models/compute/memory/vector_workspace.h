// What the vector memory unit works on while one instruction executes and its requests are made.
//
// Nothing of it is left when the instruction has issued, so that the units of a group, which take turns, work on the same one:
// it stays in the host's nearest caches, where those of 64 units would push each other out.
#pragma once

#include <array>

#include "models/common/transport/line_memory.h"
#include "models/compute/memory/coalescer.h"
#include "models/isa/memory/memory_interface.h"

namespace lacuna {

struct VectorWorkspace {
  /// `line_bytes`: of a transaction, 32 or 64.
  explicit VectorWorkspace(unsigned line_bytes) : coalescer(line_bytes) {}

  isa::LaneAddresses addresses;  ///< the lanes of the instruction that executes
  Coalescer coalescer;
  /// An instruction's requests, and those of their answers that are known at once.
  std::array<InstructionLine, 2 * isa::kLanes> lines;
  std::array<LineAnswer, 2 * isa::kLanes> answers;
};

}  // namespace lacuna
