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

/// Records of dispatches in the output folder: a line per dispatch makes a large file if there are very many.
enum class KernelTable {
  dispatches,  ///< kernels.csv
  gzip,        ///< kernels.csv.gz
  totals,      ///< kernel_totals.csv: a line per kernel
};

/// Parameters of a run's output files.
struct OutputParameters {
  KernelTable kernels = KernelTable::dispatches;
  bool links = false;

  void describe(ParameterSection& section);
};

/// The simulated machine: determines the parameters of a run.
enum class Machine : std::uint8_t {
  hart,      ///< `lacuna hart`: a hart with its memory and devices
  firmware,  ///< `lacuna run`, `lacuna launch`: in addition the GPU on its bus
  process    ///< `lacuna exec`: GPUs for the process that contains the simulator
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
  /// Sections of a machine: sim; with a hart also hart, bus, clint, plic, uart, finisher; with firmware also vram_aperture and
  /// those of the GPU and output; for a process those of the GPU, output, host_link and rocm.
  void describe(ParameterSet& set, Machine machine);
  /// The sections of all machines.
  void describe(ParameterSet& set);
  /// Number of host threads for a GPU's compute units: sim.threads, or its default value.
  unsigned threads() const;
  /// Threads that the user has not requested yield to other processes.
  WorkerThreads::Sharing thread_sharing() const;
  /// Checks relations between parameters. Returns one line per problem.
  std::vector<std::string> check(Machine machine) const;

 private:
  void describe_host(ParameterSet& set);
};

}  // namespace lacuna
