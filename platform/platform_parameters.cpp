#include "platform/platform_parameters.h"

#include <algorithm>
#include <stdexcept>

#include "include/lacuna/abi/memory_map.h"

namespace lacuna {

void HostParameters::describe(ParameterSection& section) {
  section.add("ram_size", ram_size, "Host RAM", {.range = {1 << 20, static_cast<double>(LACUNA_RAM_SIZE)}});
  ram.describe(section);
}

void VramApertureParameters::describe(ParameterSection& section) { ram.describe(section); }

void OutputParameters::describe(ParameterSection& section) {
  section.add("kernels", kernels,
              "File of the kernels in the output folder. dispatches: kernels.csv, a line for each dispatch; gzip: the same "
              "compressed, kernels.csv.gz; totals: kernel_totals.csv, a line for each kernel, written at the end, whose size "
              "does not grow with the number of dispatches. Without influence on any result",
              {{"dispatches", static_cast<int>(KernelTable::dispatches)},
               {"gzip", static_cast<int>(KernelTable::gzip)},
               {"totals", static_cast<int>(KernelTable::totals)}});
  section.add("links", links,
              "Whether the use of a mesh's links and ports while kernels run is written to the output folder, separately for "
              "requests and replies: "
              "links.csv, and the picture links.svg");
}

void PlatformParameters::describe_host(ParameterSet& set) {
  set.describe("host", host);
  set.describe("hart", hart);
  set.describe("bus", bus);
  set.describe("clint", clint);
  set.describe("plic", plic);
  set.describe("uart", uart);
  set.describe("finisher", finisher);
}

void PlatformParameters::describe(ParameterSet& set, Machine machine) {
  set.describe("sim", sim);
  if (machine != Machine::process) describe_host(set);
  if (machine == Machine::firmware) set.describe("vram_aperture", vram_aperture);
  if (machine != Machine::hart) {
    gpu.describe(set);
    set.describe("output", output);
  }
  if (machine == Machine::process) {
    set.describe("host_link", host_link);
    set.describe("rocm", rocm);
  }
}

void PlatformParameters::describe(ParameterSet& set) {
  describe(set, Machine::firmware);
  set.describe("host_link", host_link);
  set.describe("rocm", rocm);
}

unsigned PlatformParameters::threads() const {
  if (gpu.gpu.timing == TimingMode::functional) return 1;
  return std::min(sim.threads == 0 ? usable_processors() : sim.threads, gpu.gpu.shader_arrays);
}

WorkerThreads::Sharing PlatformParameters::thread_sharing() const {
  return sim.threads == 0 ? WorkerThreads::Sharing::unless_contended : WorkerThreads::Sharing::always;
}

std::vector<std::string> PlatformParameters::check(Machine machine) const {
  std::vector<std::string> problems;
  if (machine != Machine::process) {
    if (host.ram_size.n % 4096 != 0) problems.emplace_back("host.ram_size must be a multiple of 4KiB");
  }
  if (machine != Machine::hart) {
    const std::vector<std::string> gpu_problems = gpu.check();
    problems.insert(problems.end(), gpu_problems.begin(), gpu_problems.end());
    if (gpu.vram.size.n > LACUNA_VRAM_SIZE)
      problems.emplace_back("vram.size is larger than the VRAM aperture of the memory map");
  }
  if (machine == Machine::process) {
    try {
      rocm.targets(gpu.gpu.target);
    } catch (const std::invalid_argument& e) {
      problems.emplace_back(e.what());
    }
  }
  return problems;
}

}  // namespace lacuna
