// How many cycles an access keeps the LDS: banks and conflicts.
//
// The LDS has 32 banks, each a dword wide, and serves up to 32 dwords a cycle: as many lanes in one pass as their dwords fit.
// A pass takes as many cycles as the bank that is asked for most different dwords has to give; lanes that read the same dword
// share it. Read-modify-writes of the same dword do not: each lane takes its turn. (GCN3 ISA manual, section "Local data
// share"; order of the lanes within an instruction: lowest first.)
#pragma once

#include "models/isa/memory_interface.h"

namespace lacuna {

inline constexpr unsigned kLdsBanks = 32;

struct LdsCycles {
  unsigned busy = 0;       ///< cycles that the access keeps the LDS, at least 1
  unsigned conflicts = 0;  ///< of these, cycles that would not be needed if no two lanes met in a bank
};

/// `lanes`: those of the access that are in the LDS.
LdsCycles lds_cycles(const isa::MemoryAccess& access, std::uint64_t lanes);

}  // namespace lacuna
