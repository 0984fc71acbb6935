#include "models/sida/device/accelerator_parameters.h"

namespace lacuna {

void AcceleratorParameters::describe(ParameterSection& s) {
  constexpr std::string_view kOurs = "ours, see docs/deviations/sida.md";
  s.add("present", present, "Whether the device has a sparse dataflow accelerator", {.source = "thesis, chapter 4"});
  s.add("ports", ports, "Ports to memory; 0: one for each memory partition",
        {.range = {0, 256}, .unit = "ports", .source = kOurs});
  s.add("lines_in_flight", lines_in_flight, "Lines that a port has requested and that have not arrived; further ones wait",
        {.range = {1, 32767}, .unit = "lines", .source = kOurs});
  s.add("path", path, "Path of its requests to memory",
        {{"fabric", static_cast<int>(SidaPath::fabric), "dedicated nodes in the network"},
         {"l2", static_cast<int>(SidaPath::l2), "a port at each L2 bank, bypassing the network"},
         {"dram", static_cast<int>(SidaPath::dram), "a port at each DRAM channel, bypassing the network and L2"}},
        {.source = kOurs});
  s.add("passes", passes, "Simulation of passes that a loop repeats while nothing else uses the memory",
        {{"bulk", static_cast<int>(SidaPasses::bulk), "with the time and the requests of the first one"},
         {"detailed", static_cast<int>(SidaPasses::detailed), "request by request"}},
        {.source = kOurs});
  s.add("start_phase", start_phase,
        "Delay of every job's start, in core cycles. Runs that differ only in this show how much a job's time depends on the "
        "order of requests, as with gpu.start_phase for kernels",
        {.range = {0, 1e9}, .source = kOurs});
  machine.describe(s);
}

}  // namespace lacuna
