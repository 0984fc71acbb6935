#include "models/sida/device/accelerator_parameters.h"

namespace lacuna {

void AcceleratorParameters::describe(ParameterSection& s) {
  constexpr std::string_view kOurs = "ours, see docs/deviations/sida.md";
  s.add("present", present, "Whether the device has a sparse dataflow accelerator", {.source = "thesis, chapter 4"});
  s.add("ports", ports, "Ports to memory; 0: one for each memory partition",
        {.range = {0, 256}, .unit = "ports", .source = kOurs});
  s.add("path", path, "Way of its requests to memory",
        {{"fabric", static_cast<int>(SidaPath::fabric), "nodes of its own in the network"},
         {"l2", static_cast<int>(SidaPath::l2), "a port beside the network at each L2 bank"},
         {"dram", static_cast<int>(SidaPath::dram), "a port beside the network at each DRAM channel, past L2"}},
        {.source = kOurs});
  s.add("passes", passes, "Simulation of passes that a loop repeats while nothing else uses the memory",
        {{"bulk", static_cast<int>(SidaPasses::bulk), "they take the time and the requests of the first"},
         {"detailed", static_cast<int>(SidaPasses::detailed), "request by request"}},
        {.source = kOurs});
  machine.describe(s);
}

}  // namespace lacuna
