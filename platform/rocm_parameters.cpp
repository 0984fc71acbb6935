#include "platform/rocm_parameters.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace lacuna {
namespace {

constexpr std::size_t kMostGpus = 8;

}  // namespace

void RocmParameters::describe(ParameterSection& section) {
  section.add("gpus", gpus,
              "Instruction sets of the virtual GPUs of a process, for example gfx803,gfx90a; all other parameters are the same "
              "for each. Empty: one GPU of gpu.target");
  section.add("sdma", sdma, "Whether the GPUs have SDMA engines for copies; without them the runtime uses kernels");
  section.add(
      "fine_grained_host_memory", fine_grained_host_memory,
      "Treat host memory as fine-grained even when the runtime asks for coarse-grained, as HIP 5.2.3 does for managed memory "
      "and hipHostMallocNonCoherent: MI200 with shared virtual memory has managed memory fine-grained (docs/guide/rocm.md)");
  section.add("longest_sleep", longest_sleep,
              "Host time: maximum interval between two polls of the doorbells while the simulator is idle",
              {.range = {1e6, 1e12}, .source = "measured: an idle process takes 3 % of a processor at 1 ms, 1.2 % at 3 ms"});
  section.add(
      "host_patience", host_patience,
      "Simulated time stands still while a thread of the program runs, until the thread has used so much processor time "
      "without calling the runtime while a GPU has work: it may wait for the GPU by reading memory. From then on "
      "simulated times depend on the host. A thread that sleeps by a timer is given the same time of the host",
      {.range = {1e9, 1e15},
       .source = "choice: longer than a program compiles or computes while a kernel runs, also on a busy host"});
  section.add("notice_after", notice_after,
              "Host time of simulation after which lacuna exec prints a notice of its progress, except with --quiet; on a "
              "terminal, a progress line follows. 0ps = never",
              {.range = {0, 1e17}});
}

std::vector<isa::Target> RocmParameters::targets(isa::Target one) const {
  if (gpus.empty()) return {one};
  std::vector<isa::Target> targets;
  std::istringstream names(gpus);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == "gfx803") {
      targets.push_back(isa::Target::gfx803);
    } else if (name == "gfx90a") {
      targets.push_back(isa::Target::gfx90a);
    } else {
      throw std::invalid_argument("rocm.gpus = " + gpus + ": \"" + name + "\" is neither gfx803 nor gfx90a");
    }
  }
  if (targets.size() > kMostGpus)
    throw std::invalid_argument("rocm.gpus = " + gpus + ": more than " + std::to_string(kMostGpus) + " GPUs");
  return targets;
}

bool runtime_hides_gpus() {
  constexpr std::array kVariables{"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"};
  return std::any_of(kVariables.begin(), kVariables.end(), [](const char* name) { return std::getenv(name) != nullptr; });
}

}  // namespace lacuna
