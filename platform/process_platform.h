// GPUs for the process that the simulator is part of: no hart, no RAM; host memory is the process's own.
//
//   GpuDevice x n --- HostLink x n
// A driver in the same process (drivers/rocm) fills the GPUVM maps, creates the queues and receives events through
// DriverEvents.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <systemc>
#include <vector>

#include "models/common/config/statistics.h"
#include "models/gpu/gpu_device.h"
#include "models/host/devices/host_link.h"
#include "platform/platform_parameters.h"

namespace lacuna {

class ProcessPlatform : public sc_core::sc_module {
 public:
  /// Creates a GPU for each target of parameters.rocm. Throws std::invalid_argument if a GpuDevice refuses its parameters.
  ProcessPlatform(sc_core::sc_module_name module_name, const PlatformParameters& parameters);

  unsigned gpus() const { return static_cast<unsigned>(gpus_.size()); }
  GpuDevice& gpu(unsigned index) { return *gpus_[index]->device; }

  /// A number that increases while a GPU makes progress.
  std::uint64_t progress() const;
  std::uint64_t wavefront_instructions() const;
  /// Whether no GPU has work.
  bool idle() const;
  /// Whether all remaining work waits for memory that the program has to change.
  bool waits_for_memory() const;
  /// Whether every unit that polls memory has polled at least once after `time`.
  bool polled_after(Tick time) const;
  void diagnose(std::ostream& out) const;
  void describe_statistics(StatisticsGroup& root) const;

 private:
  struct Gpu {
    std::unique_ptr<GpuDevice> device;
    std::unique_ptr<HostLink> link;
    // Bound to the GPU's MMIO port, which must be bound although this platform does not access the registers.
    std::unique_ptr<tlm_utils::simple_initiator_socket<ProcessPlatform>> registers;
    std::unique_ptr<sc_core::sc_signal<bool>> interrupt;
  };
  WorkerThreads threads_;  // shared by all GPUs, of which one runs at a time
  std::vector<std::unique_ptr<Gpu>> gpus_;
};

}  // namespace lacuna
