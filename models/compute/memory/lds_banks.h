// Cycles for which an access occupies the LDS: banks and conflicts.
//
// The LDS has 32 banks, each a dword wide, and serves up to 32 dwords a cycle: a pass serves as many lanes as have room in 32
// dwords. A pass takes a cycle for each different dword of its busiest bank; lanes that read or write the same dword share this
// cycle. Read-modify-writes of the same dword are serialised by lane. (GCN3 ISA manual, section "Local data share"; order of
// the lanes within an instruction: lowest first.)
#pragma once

#include <array>
#include <cstdint>

#include "models/isa/memory/memory_interface.h"

namespace lacuna {

inline constexpr unsigned kLdsBanks = 32;

struct LdsCycles {
  std::uint16_t busy = 0;       ///< cycles for which the access occupies the LDS, at least 1
  std::uint16_t conflicts = 0;  ///< cycles of `busy` that are due to lanes that use the same bank
};

/// Conflicts depend only on the distances between the lanes' addresses: moving all lanes by one dword rotates the banks. An
/// instruction in a loop usually repeats its distances, so the last result of each instruction is cached with its distances.
class LdsBanks {
 public:
  /// Byte offset of each lane in the workgroup's allocation.
  using Offsets = std::array<std::uint32_t, isa::kLanes>;

  /// `lanes`: lanes that access the LDS. `instruction`: address of the instruction, which only selects an entry of the cache of
  /// results.
  LdsCycles cycles(const isa::MemoryAccess& access, const Offsets& offsets, std::uint64_t lanes, std::uint64_t instruction);

 private:
  struct Pattern {
    std::uint64_t lanes = 0;
    Offsets distances{};  ///< differences from the first lane's offset
    std::uint32_t dual_distance = 0;
    std::uint32_t misalignment = 0;
    std::uint8_t bytes_per_lane = 0;
    bool dual = false;
    isa::MemoryAccess::Operation operation = isa::MemoryAccess::Operation::load;
    LdsCycles result{.busy = 1, .conflicts = 0};
  };
  /// Indexed by instruction address. LDS instructions have eight bytes, so those within 512 bytes of code do not collide.
  std::array<Pattern, 64> patterns_;
};

}  // namespace lacuna
