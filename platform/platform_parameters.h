// All parameters of a platform, as one validated struct.
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

/// RAM of the hart.
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

/// File in the output folder that records the dispatches of a run. With a line per dispatch, it can become very large.
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
  firmware,  ///< `lacuna run`, `lacuna launch`: a hart with its memory and devices, and the GPU on its bus
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
  GpuDeviceParameters gpu;  ///< GPU, with the parameters of all research machines
  OutputParameters output;
  HostLinkParameters host_link;
  RocmParameters rocm;

  PlatformParameters() { gpu.extensions = all_extensions(); }
  /// Adds the sections of a machine to `set`. All machines have section sim; hart and firmware have host, hart, bus, clint,
  /// plic, uart and finisher; firmware also has vram_aperture, output and the GPU's sections; process has the GPU's sections,
  /// output, host_link and rocm.
  void describe(ParameterSet& set, Machine machine);
  /// Adds the sections of all machines to `set`.
  void describe(ParameterSet& set);
  /// Number of host threads for a GPU's compute units: sim.threads or its default, but at most one for each shader array, and
  /// one if timing is functional.
  unsigned threads() const;
  /// Whether worker threads yield to other processes on the host: yes if their number is the default, no if the user has set
  /// it.
  WorkerThreads::Sharing thread_sharing() const;
  /// Checks relations between parameters. Returns one line per problem.
  std::vector<std::string> check(Machine machine) const;

 private:
  void describe_host(ParameterSet& set);
};

}  // namespace lacuna
