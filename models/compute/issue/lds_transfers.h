// Dwords that an LDS instruction moves between the registers of a lane and the LDS.
#pragma once

#include <algorithm>

#include "models/isa/decode/instruction.h"

namespace lacuna {

/// The larger of the dwords that a lane sends (its address and data) and of those that it receives.
inline unsigned lds_transfers(const isa::Instruction& instruction) {
  unsigned sent = 0;
  unsigned received = 0;
  for (unsigned i = 0; i < instruction.sources; ++i) {
    const isa::OperandKind kind = instruction.src[i].kind;
    if (kind == isa::OperandKind::vgpr || kind == isa::OperandKind::agpr) sent += instruction.src[i].words;
  }
  for (unsigned i = 0; i < instruction.destinations; ++i) received += instruction.dst[i].words;
  return std::max(sent, received);
}

}  // namespace lacuna
