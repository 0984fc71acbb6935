// Timing of the packet processor's accesses to objects in GPU-visible memory. The data are read and written through the GPUVM's
// windows.
#pragma once

#include <cstdint>

#include "models/common/time/tlm_time.h"
#include "models/common/transport/timing_port.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

/// Charges an access of `bytes` bytes at a GPU virtual address: the calling SC_THREAD waits for its completion. No time passes
/// if the bytes are not mapped.
inline void access_memory(TimingPort& port, const GpuVm& vm, std::uint64_t address, unsigned bytes, bool write) {
  const isa::MemoryWindow window = vm.find(address);
  if (!window.contains(address, bytes)) return;
  wait_for_time(port.access(window.physical + (address - window.base), bytes, write, kernel_time()).done);
}

}  // namespace lacuna
