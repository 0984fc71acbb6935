// Contribution of a chain's code to its compute packets: operations with their modifiers, signedness of the elements, and
// source of the immediate.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "models/isa/analysis/code_walk.h"
#include "models/isa/decode/instruction.h"
#include "models/isa/wavefront.h"
#include "models/neardata/chain.h"
#include "models/neardata/compute_packet.h"

namespace lacuna {

struct PacketCode {
  std::array<std::uint8_t, 2> operations{ComputePacket::kNoOperation, ComputePacket::kNoOperation};
  std::uint8_t modifiers = 0;  ///< modifiers, if there is one operation
  bool is_signed = false;
  /// The last instruction has a second step, in which the core combines the chain's result with a register.
  bool combines = false;
  std::optional<isa::Operand> immediate{};  ///< the uniform operand, a constant or an SGPR

  /// Value of the immediate for a wavefront whose operation is about to issue.
  std::uint32_t immediate_of(const isa::Wavefront& wave) const {
    if (!immediate) return 0;
    return immediate->kind == isa::OperandKind::sgpr ? wave.sgpr[immediate->index]
                                                     : static_cast<std::uint32_t>(immediate->value);
  }
};

/// Derives the packet code of a chain from its instructions, which `fetch` returns.
PacketCode packet_code(const Chain& chain, const isa::FetchWords& fetch, isa::Target target);

}  // namespace lacuna
