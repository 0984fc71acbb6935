// How a kernel is called and what it takes: arguments, workgroup, registers, memory, occupancy. For reports.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "platform/loaders/code_object.h"
#include "platform/loaders/kernel_resources.h"

namespace lacuna {

struct KernelSignature {
  /// Empty for code that brings no metadata: then only registers, LDS and scratch are known, from the descriptor.
  std::optional<KernelMetadata> metadata;
  isa::KernelRegisters allocated;   ///< of a wavefront, in granules
  std::uint32_t lds_bytes = 0;      ///< static, of a workgroup
  std::uint32_t scratch_bytes = 0;  ///< of a work-item
  Occupancy occupancy;              ///< with static LDS alone
};

KernelSignature kernel_signature(const CodeObject& object, const KernelEntry& entry);

/// Indented lines of text.
void write_signature(const KernelSignature& signature, std::ostream& out);
nlohmann::ordered_json signature_json(const KernelSignature& signature);

}  // namespace lacuna
