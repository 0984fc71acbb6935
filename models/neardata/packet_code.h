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
  std::uint8_t modifiers = 0;  ///< modifiers of a single operation
  bool is_signed = false;
  /// The core combines results with a register: its instruction is an operation of the chain and one more.
  bool combines = false;
  std::optional<isa::Operand> immediate{};  ///< constant or SGPR

  /// The immediate of a wavefront whose operation is about to issue.
  std::uint32_t immediate_of(const isa::Wavefront& wave) const {
    if (!immediate) return 0;
    return immediate->kind == isa::OperandKind::sgpr ? wave.sgpr[immediate->index]
                                                     : static_cast<std::uint32_t>(immediate->value);
  }
};

/// `fetch` returns the chain's code.
PacketCode packet_code(const Chain& chain, const isa::FetchWords& fetch, isa::Target target);

}  // namespace lacuna
