// The PM4 commands that user-mode queues may hold: cache maintenance after code has been loaded.
//
// On gfx8 they fill the 64 bytes of a ring slot; on gfx9 they are in an indirect buffer to which a vendor-specific AQL packet
// points. Sources of opcodes and fields: Linux (amdgpu, vid.h and soc15d.h), and the commands that ROCr writes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "include/lacuna/abi/hsa.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

/// Combined effect of a sequence of commands.
struct Pm4Actions {
  bool invalidate_l1 = false;  ///< instruction, scalar and vector caches
  bool invalidate_l2 = false;
  bool write_back_l2 = false;
  std::string error;  ///< error message: unsupported command or unmapped memory; empty if there is none
};

class Pm4Reader {
 public:
  explicit Pm4Reader(const GpuVm& vm) : vm_(vm) {}

  /// Whether the first dword of a ring slot starts a PM4 command instead of an AQL packet.
  static bool starts(std::uint32_t first) { return first >> 30 == 3; }
  /// Effect of the commands that fill a ring slot (gfx8).
  Pm4Actions read_slot(const std::byte* slot) const;
  /// Effect of the INDIRECT_BUFFER command in a vendor-specific packet (gfx9).
  Pm4Actions read_vendor_packet(const std::byte* packet) const;

 private:
  using Slot = std::array<std::uint32_t, hsa::kPacketBytes / 4>;
  void read(std::span<const std::uint32_t> words, bool in_slot, Pm4Actions& actions) const;
  void read_indirect(std::span<const std::uint32_t> payload, Pm4Actions& actions) const;

  const GpuVm& vm_;
};

}  // namespace lacuna
