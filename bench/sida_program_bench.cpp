// Speed of the functional model of the sparse dataflow accelerator, without timing, in products per second: two iterations of
// PageRank, which take two products per entry, on a power-law matrix with 12 entries per row.
#include <benchmark/benchmark.h>

#include "models/sida/matrix/generators.h"
#include "platform/sida/application_job.h"

namespace {

using namespace lacuna;

void products(benchmark::State& state, bool blocked, unsigned threads) {
  const sida::SparseMatrix matrix = sida::generated("power:rows=300000,entries=3600000");
  ApplicationJob job(*lacuna_sida_application_named("pr"), matrix, {.blocked = blocked, .limit = 2});
  WorkerThreads workers(threads);
  for (auto _ : state) job.run({}, &workers);
  state.SetItemsProcessed(static_cast<std::int64_t>(2 * matrix.entries()) * static_cast<std::int64_t>(state.iterations()));
}

}  // namespace

BENCHMARK_CAPTURE(products, dual, false, 1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(products, dual_two_threads, false, 2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(products, blocked, true, 1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(products, blocked_two_threads, true, 2)->Unit(benchmark::kMillisecond)->UseRealTime();

BENCHMARK_MAIN();
