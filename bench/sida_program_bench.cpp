// Products a second of the sparse dataflow accelerator's function, without time: PageRank, two iterations, which are two
// products of each entry, on a power law of 12 entries a row.
#include <benchmark/benchmark.h>

#include "models/sida/matrix/generators.h"
#include "platform/sida/application_job.h"

namespace {

using namespace lacuna;

void products(benchmark::State& state, bool blocked) {
  const sida::SparseMatrix matrix = sida::generated("power:rows=300000,entries=3600000");
  ApplicationJob job(*lacuna_sida_application_named("pr"), matrix, {.blocked = blocked, .limit = 2});
  for (auto _ : state) job.run();
  state.SetItemsProcessed(static_cast<std::int64_t>(2 * matrix.entries()) * static_cast<std::int64_t>(state.iterations()));
}

}  // namespace

BENCHMARK_CAPTURE(products, dual, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(products, blocked, true)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
