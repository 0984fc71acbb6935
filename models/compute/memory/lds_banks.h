// How many cycles an access keeps the LDS: banks and conflicts.
//
// The LDS has 32 banks, each a dword wide, and serves up to 32 dwords a cycle: as many lanes in one pass as their dwords fit.
// A pass takes a cycle for each different dword of its busiest bank; lanes that read the same dword
// share it. Read-modify-writes of the same dword do not: each lane takes its turn. (GCN3 ISA manual, section "Local data
// share"; order of the lanes within an instruction: lowest first.)
#pragma once

#include <array>
#include <cstdint>

#include "models/isa/memory/memory_interface.h"

namespace lacuna {

inline constexpr unsigned kLdsBanks = 32;

struct LdsCycles {
  std::uint16_t busy = 0;       ///< cycles that the access keeps the LDS, at least 1
  std::uint16_t conflicts = 0;  ///< of these, cycles that would not be needed if no two lanes met in a bank
};

/// The cycles depend on the distances between the lanes' addresses alone: one dword further, each bank's turn goes to the next.
/// Instructions in a loop mostly keep the distances, so that their last result is kept with them.
class LdsBanks {
 public:
  /// Byte offset of each lane in the workgroup's allocation.
  using Offsets = std::array<std::uint32_t, isa::kLanes>;

  /// `lanes`: those of the access that are in the LDS. `instruction`, its address, only says where to look for a result.
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
  /// LDS instructions have eight bytes: those of half a KiB of code do not meet.
  std::array<Pattern, 64> patterns_;
};

}  // namespace lacuna
