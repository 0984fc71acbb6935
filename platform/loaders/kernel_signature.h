// Signature and resources of a kernel for reports: arguments, workgroup, registers, memory, occupancy.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "platform/loaders/code_object.h"
#include "platform/loaders/kernel_resources.h"

namespace lacuna {

struct KernelSignature {
  /// Metadata of the kernel; nullopt for code without metadata, whose descriptor states only registers, LDS and scratch.
  std::optional<KernelMetadata> metadata;
  isa::KernelRegisters allocated;   ///< registers of a wavefront, rounded to granules
  std::uint32_t lds_bytes = 0;      ///< static LDS of a workgroup
  std::uint32_t scratch_bytes = 0;  ///< bytes of a work-item
  Occupancy occupancy;              ///< occupancy with static LDS only
};

KernelSignature kernel_signature(const CodeObject& object, const KernelEntry& entry);

/// Writes the signature as indented lines of text.
void write_signature(const KernelSignature& signature, std::ostream& out);
nlohmann::ordered_json signature_json(const KernelSignature& signature);

}  // namespace lacuna
