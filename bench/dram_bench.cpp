// Host time of the DRAM schedule alone: requests a second, in order and at random, at a load that the channel can carry.
#include <benchmark/benchmark.h>

#include <random>
#include <systemc>

#include "models/dram/dram_schedule.h"

namespace lacuna {
namespace {

constexpr unsigned kLine = 64;

/// Reads, and of a hundred requests so many writes, at a request every `gap` cycles.
void requests(benchmark::State& state, bool sequential, std::uint64_t gap, unsigned writes) {
  const DramParameters parameters;
  DramSchedule schedule(parameters);
  const Tick step = parameters.clock.period() * gap;
  std::mt19937_64 random(1);
  Tick at{};
  std::uint64_t count = 0;
  for (auto _ : state) {
    const std::uint64_t r = random();
    const std::uint64_t address = (sequential ? count : r % (1 << 22)) * kLine;
    if ((r >> 40) % 100 < writes) {
      benchmark::DoNotOptimize(schedule.write(address, kLine, at));
    } else {
      benchmark::DoNotOptimize(schedule.read(address, kLine, at));
    }
    at += step;
    if (++count % 64 == 0) schedule.retire(at);
  }
  state.SetItemsProcessed(state.iterations());
}
void sequential_reads(benchmark::State& state) { requests(state, true, 5, 0); }
void sequential_mixed(benchmark::State& state) { requests(state, true, 8, 30); }
void random_reads(benchmark::State& state) { requests(state, false, 8, 0); }
void random_mixed(benchmark::State& state) { requests(state, false, 12, 30); }
BENCHMARK(sequential_reads);
BENCHMARK(sequential_mixed);
BENCHMARK(random_reads);
BENCHMARK(random_mixed);

}  // namespace
}  // namespace lacuna

int sc_main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
