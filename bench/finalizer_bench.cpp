// Speed of the finalizer: bytes of kernel code per second, with and without moving instructions. The code is read from the
// code objects, bundles and HIP programs in a folder: the value of the environment variable LACUNA_BENCH_CODE if it is set,
// otherwise the folder of the firmware's kernels.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <systemc>
#include <vector>

#include "models/isa/analysis/control_flow.h"
#include "models/neardata/finalizer.h"
#include "platform/loaders/kernel_resources.h"
#include "platform/loaders/offload_bundle.h"

namespace {

using namespace lacuna;

std::vector<CodeObject> code_objects() {
  const char* const folder = std::getenv("LACUNA_BENCH_CODE");
  std::vector<CodeObject> objects;
  for (const auto& entry : std::filesystem::directory_iterator(folder != nullptr ? folder : LACUNA_KERNELS)) {
    if (!entry.is_regular_file() || entry.path().extension() == ".o") continue;  // the linker's input, next to its output
    if (!holds_code_objects(entry.path())) continue;
    for (CodeObject& object : read_code_objects(entry.path())) objects.push_back(std::move(object));
  }
  return objects;
}

void finalize(benchmark::State& state, bool move) {
  const std::vector<CodeObject> objects = code_objects();
  std::int64_t bytes = 0;
  for (const CodeObject& object : objects) {
    for (const KernelEntry& entry : object.entries()) {
      const isa::ControlFlow flow(code_words(object.elf()), object.target(), entry.entry);
      for (const isa::PlacedInstruction& placed : flow.instructions()) bytes += placed.instruction.size;
    }
  }
  std::size_t chains = 0;
  for (auto _ : state) {
    chains = 0;
    for (const CodeObject& object : objects) {
      const isa::FetchWords fetch = code_words(object.elf());
      for (const KernelEntry& entry : object.entries()) {
        const FinalizerOptions options{.move = move, .vgprs = kernel_registers(object, entry).vgprs};
        chains += finalize_kernel(fetch, object.target(), entry.entry, options).chains.size();
      }
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * bytes);
  state.counters["chains"] = static_cast<double>(chains);
  state.counters["bytes"] = static_cast<double>(bytes);
}

BENCHMARK_CAPTURE(finalize, tags_only, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(finalize, move, true)->Unit(benchmark::kMillisecond);

}  // namespace

// The loaders link SystemC, which requires sc_main().
int sc_main(int, char*[]) { return 0; }

BENCHMARK_MAIN();
