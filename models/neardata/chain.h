// Offload chains of near-data computing (Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA '19, section
// 4.1): one or two loads, zero to two operations on their data, and possibly a store, which a unit near the data can perform in
// place of the core. The finalizer (models/neardata/finalizer.h) finds them and tags their instructions; compute units with an
// offload queue act on the tags.
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna {

/// Tag of an instruction. The values are those of the paper (section 4.2).
enum class ChainTag : std::uint8_t { none = 0b00, first = 0b01, middle = 0b10, last = 0b11 };

/// Role of an instruction in its chain.
enum class ChainRole : std::uint8_t {
  load_a,
  load_b,
  wait,       ///< s_waitcnt inside the chain
  operation,  ///< ALU operation or comparison
  store,
};

struct ChainInstruction {
  std::uint64_t address = 0;  ///< address of the instruction's first byte
  ChainTag tag = ChainTag::none;
  ChainRole role = ChainRole::load_a;
  bool operator==(const ChainInstruction&) const = default;
};

/// An offload chain. All instructions of a chain lie in one basic block.
struct Chain {
  std::uint8_t pattern = 0;        ///< row of the paper's Table 1 (1 to 9); 0: allowed by section 4.1, but not in the table
  std::uint8_t element_bytes = 4;  ///< bytes that a lane loads and stores: 1, 2 or 4
  std::uint8_t operations = 0;     ///< instructions with ChainRole::operation: 0 to 2
  std::uint8_t steps = 0;          ///< operations of the packet, 0 to 2: v_mad is two, or one if it is split (finalizer.h)
  bool second_load = false;        ///< the chain loads two operands from memory
  bool stores = false;             ///< the result is stored; otherwise data or a bitmap return to the core
  bool compares = false;           ///< the result is one bit for each lane
  std::vector<ChainInstruction> instructions;  ///< ascending by address; the first has ChainTag::first, the last ChainTag::last
  bool operator==(const Chain&) const = default;
};

}  // namespace lacuna
