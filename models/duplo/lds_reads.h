// Reads of slabs in LDS (lds_buffers.h): finds those that load a tile of the workspace, and code in which M0 cannot name a
// slab.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "models/duplo/id_generator.h"
#include "models/duplo/lds_buffers.h"
#include "models/duplo/tile_load.h"
#include "models/isa/analysis/register_use.h"
#include "models/isa/decode/instruction.h"
#include "models/isa/memory/memory_interface.h"

namespace lacuna {

/// Classifies an executed LDS instruction of a kernel whose workspace is in LDS. `offsets`: offsets of its lanes in the
/// workgroup's LDS; `m0`: M0 of its wavefront. Returns nullopt if it reads no byte of the buffers or of their padding.
std::optional<ClassifiedLoad> classify_lds_read(const LdsBuffers& buffers, const IdGenerator& ids,
                                                const isa::MemoryAccess& access,
                                                const std::array<std::uint32_t, isa::kLanes>& offsets, std::uint32_t m0,
                                                const isa::RegisterRange& destination);

/// Describes an instruction's other use of M0, which prevents the kernel from naming slabs in M0; nullopt: there is none.
std::optional<std::string> other_use_of_m0(const isa::Instruction& instruction);

}  // namespace lacuna
