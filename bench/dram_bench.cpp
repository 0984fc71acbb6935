// Host time of the DRAM schedule alone: requests per second with sequential and random addresses, at a load that the channel
// can sustain, both for decided completion times and for forecasts.
#include <benchmark/benchmark.h>

#include <random>
#include <systemc>
#include <vector>

#include "models/dram/dram_schedule.h"

namespace lacuna {
namespace {

constexpr unsigned kLine = 64;

enum class Times { decided, forecast };
/// One request every `gap` cycles: a write with a probability of `writes` per cent, otherwise a read.
template <Times kTimes>
void requests(benchmark::State& state, bool sequential, std::uint64_t gap, unsigned writes) {
  const DramParameters parameters;
  DramSchedule schedule(parameters);
  const Tick step = parameters.clock.period() * gap;
  std::mt19937_64 random(1);
  std::vector<DramSchedule::Completion> completed;
  Tick at{};
  std::uint32_t count = 0;
  for (auto _ : state) {
    const std::uint64_t r = random();
    const std::uint64_t address = (sequential ? count : r % (1 << 22)) * kLine;
    const bool write = (r >> 40) % 100 < writes;
    if constexpr (kTimes == Times::decided) {
      if (write) {
        benchmark::DoNotOptimize(schedule.write_later(address, kLine, at, count));
      } else {
        schedule.read_later(address, kLine, at, count);
      }
    } else if (write) {
      benchmark::DoNotOptimize(schedule.write(address, kLine, at));
    } else {
      benchmark::DoNotOptimize(schedule.read(address, kLine, at));
    }
    at += step;
    if (++count % 64 != 0) continue;
    if constexpr (kTimes == Times::decided) {
      completed.clear();
      schedule.decide(at, completed);
      benchmark::DoNotOptimize(completed.data());
    } else {
      schedule.retire(at);
    }
  }
  state.SetItemsProcessed(state.iterations());
}
template <Times kTimes>
void sequential_reads(benchmark::State& state) {
  requests<kTimes>(state, true, 5, 0);
}
template <Times kTimes>
void sequential_mixed(benchmark::State& state) {
  requests<kTimes>(state, true, 8, 30);
}
template <Times kTimes>
void random_reads(benchmark::State& state) {
  requests<kTimes>(state, false, 8, 0);
}
template <Times kTimes>
void random_mixed(benchmark::State& state) {
  requests<kTimes>(state, false, 12, 30);
}
BENCHMARK(sequential_reads<Times::decided>);
BENCHMARK(sequential_mixed<Times::decided>);
BENCHMARK(random_reads<Times::decided>);
BENCHMARK(random_mixed<Times::decided>);
BENCHMARK(sequential_reads<Times::forecast>);
BENCHMARK(sequential_mixed<Times::forecast>);
BENCHMARK(random_reads<Times::forecast>);
BENCHMARK(random_mixed<Times::forecast>);

}  // namespace
}  // namespace lacuna

int sc_main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
