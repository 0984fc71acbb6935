// Everything that can be configured about a platform, as one validated struct.
#pragma once

#include <string>
#include <vector>

#include "models/common/config/parameters.h"
#include "models/common/host/worker_threads.h"
#include "models/common/time/units.h"
#include "models/extensions.h"
#include "models/gpu/gpu_device.h"
#include "models/host/devices/bus.h"
#include "models/host/devices/clint.h"
#include "models/host/devices/finisher.h"
#include "models/host/devices/host_link.h"
#include "models/host/devices/plic.h"
#include "models/host/devices/ram.h"
#include "models/host/devices/uart.h"
#include "models/host/rv64/hart.h"
#include "platform/rocm_parameters.h"
#include "platform/run/run_control.h"

namespace lacuna {

/// Host memory.
struct HostParameters {
  Bytes ram_size{std::uint64_t{256} << 20};
  RamParameters ram;

  void describe(ParameterSection& section);
};

/// The GPU memory as the host sees it.
struct VramApertureParameters {
  RamParameters ram{.read_latency = Tick{100'000}, .write_latency = Tick{10'000}};

  void describe(ParameterSection& section);
};

/// What the output folder has of each dispatch: a line each makes a large file when there are very many.
enum class KernelTable {
  dispatches,  ///< kernels.csv
  gzip,        ///< kernels.csv.gz
  totals,      ///< kernel_totals.csv: a line for each kernel
};

/// What a run leaves behind.
struct OutputParameters {
  KernelTable kernels = KernelTable::dispatches;
  bool links = false;

  void describe(ParameterSection& section);
};

/// What the simulator simulates: decides which parameters a run has.
enum class Machine : std::uint8_t {
  hart,      ///< `lacuna hart`: a hart with its memory and devices
  firmware,  ///< `lacuna run`, `lacuna launch`: the same and the GPU on its bus
  process    ///< `lacuna exec`: GPUs for the process that the simulator is part of
};

struct PlatformParameters {
  SimulationParameters sim;
  HostParameters host;
  HartParameters hart;
  HostBusParameters bus;
  ClintParameters clint;
  PlicParameters plic;
  UartParameters uart;
  MmioParameters finisher;
  VramApertureParameters vram_aperture;
  GpuDeviceParameters gpu;  ///< with all research machines
  OutputParameters output;
  HostLinkParameters host_link;
  RocmParameters rocm;

  PlatformParameters() { gpu.extensions = all_extensions(); }
  /// The sections of a machine: sim; for a hart host, hart, bus, clint, plic, uart, finisher; with firmware also vram_aperture
  /// and the GPU's own and output; for a process the GPU's own, output, host_link and rocm.
  void describe(ParameterSet& set, Machine machine);
  /// The sections of all machines.
  void describe(ParameterSet& set);
  /// Of the host, for the compute units of a GPU: sim.threads, made definite.
  unsigned threads() const;
  /// Threads that nobody asked for make room for other processes.
  WorkerThreads::Sharing thread_sharing() const;
  /// What no single parameter's range can say; one line per problem.
  std::vector<std::string> check(Machine machine) const;

 private:
  void describe_host(ParameterSet& set);
};

}  // namespace lacuna
