// The driver: the implementation of the functions that libhsakmt.so.1 exports.
//
// There is one driver per process, created when the runtime first opens it and never destroyed: at exit, threads of the runtime
// still wait in the driver, and the runtime's own destructors still call it. process_end.h ends the simulation and writes the
// results.
#pragma once

#include <hsakmttypes.h>
#include <memory>
#include <mutex>
#include <vector>

#include "drivers/rocm/events.h"
#include "drivers/rocm/gpu_events.h"
#include "drivers/rocm/memory.h"
#include "drivers/rocm/queues.h"
#include "drivers/rocm/runtime_blits.h"
#include "drivers/rocm/runtime_symbols.h"
#include "drivers/rocm/settings.h"
#include "drivers/rocm/simulation.h"
#include "drivers/rocm/topology.h"
#include "platform/run/run_parameters.h"

namespace lacuna::rocm {

class Driver {
 public:
  /// Opens the driver; calls are counted, and the first call builds the platform. Errors in the configuration go to stderr.
  static HSAKMT_STATUS open();
  /// Undoes one open(). The last close() destroys all queues and writes the results so far.
  static HSAKMT_STATUS close();
  /// The driver if it is open, else nullptr; always nullptr in a forked child.
  static Driver* get();
  /// The driver if it has ever been opened, even if it is closed now, else nullptr; always nullptr in a forked child.
  static Driver* opened_once();

  Topology& topology() { return topology_; }
  HostWaits& waits() { return waits_; }
  RuntimePackets& runtime_packets() { return runtime_packets_; }
  Events& events() { return events_; }
  Memory& memory() { return memory_; }
  Queues& queues() { return queues_; }
  Simulation& simulation() { return simulation_; }
  const PlatformParameters& parameters() const { return parameters_.values(); }

 private:
  Driver(Settings settings, ProgressLine& line);
  void start();

  Settings settings_;
  RunParameters parameters_;
  Topology topology_;
  HostWaits waits_;
  Events events_;
  RuntimeBlits blits_;
  RuntimePackets runtime_packets_;
  RuntimeSymbols symbols_;
  RuntimeTags tags_{symbols_};
  Simulation simulation_;
  Memory memory_;
  Queues queues_;
  std::vector<std::unique_ptr<GpuEvents>> gpu_events_;
};

}  // namespace lacuna::rocm
