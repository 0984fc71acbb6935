// Everything that can be configured about a platform, as one validated struct.
#pragma once

#include <string>
#include <vector>

#include "models/common/parameters.h"
#include "models/common/units.h"
#include "models/host/bus.h"
#include "models/host/clint.h"
#include "models/host/finisher.h"
#include "models/host/hart.h"
#include "models/host/plic.h"
#include "models/host/ram.h"
#include "models/host/uart.h"
#include "platform/gpu_device.h"
#include "platform/run_control.h"

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
  GpuDeviceParameters gpu;

  /// Sections sim, host, hart, bus, clint, plic, uart, finisher.
  void describe_host(ParameterSet& set);
  /// Section vram_aperture and the GPU's own.
  void describe_gpu(ParameterSet& set);
  /// What no single parameter's range can say; one line per problem.
  std::vector<std::string> check(bool with_gpu) const;
};

}  // namespace lacuna
