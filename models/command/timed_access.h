// Accesses of the packet processor to objects in GPU-visible memory, for their time alone: the data are read and written
// through the GPUVM's windows.
#pragma once

#include <cstdint>

#include "models/common/time/tlm_time.h"
#include "models/common/transport/timing_port.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

/// Reads or writes `bytes` bytes at a GPU virtual address, in the calling SC_THREAD, which waits for the completion. No time
/// passes when they are not mapped.
inline void access_memory(TimingPort& port, const GpuVm& vm, std::uint64_t address, unsigned bytes, bool write) {
  const isa::MemoryWindow window = vm.find(address);
  if (!window.contains(address, bytes)) return;
  wait_for_time(port.access(window.physical + (address - window.base), bytes, write, kernel_time()).done);
}

}  // namespace lacuna
