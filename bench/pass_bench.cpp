// Speed of the timing model of the sparse dataflow accelerator: products per second of passes with an ideal memory, with two
// products per entry. Target: 20 million.
#include <benchmark/benchmark.h>

#include "models/sida/matrix/generators.h"
#include "models/sida/pipeline/ideal_memory.h"
#include "models/sida/pipeline/pass_pipeline.h"

namespace {

using namespace lacuna::sida;

void pass(benchmark::State& state, const char* kind, const PipelineParameters& parameters) {
  const SparseMatrix columns = generated(kind), rows = transposed(columns);
  PassShape shape;
  shape.os = {columns.offsets, columns.indices};
  shape.is = {rows.offsets, rows.indices};
  shape.x_length = shape.y_length = shape.z_length = columns.columns;
  shape.load = {.read_bytes = 24, .written_bytes = 0, .instructions = 4, .reductions = 0};
  shape.ewise = {.read_bytes = 16, .written_bytes = 8, .instructions = 8, .reductions = 1};
  shape.finish = {.read_bytes = 0, .written_bytes = 8, .instructions = 1, .reductions = 0};
  for (auto _ : state) {
    IdealMemory memory(parameters.bytes_per_cycle, parameters.memory_latency);
    PassPipeline pipeline(shape, parameters, memory);
    benchmark::DoNotOptimize(pipeline.run().cycles);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(2 * columns.entries()) * static_cast<std::int64_t>(state.iterations()));
}

PipelineParameters with_buffer(std::uint64_t bytes) {
  PipelineParameters parameters;
  parameters.buffer_bytes = bytes;
  return parameters;
}

PipelineParameters with_pes(unsigned pes) {
  PipelineParameters parameters;
  parameters.os_pes = parameters.ewise_pes = parameters.is_pes = pes;
  return parameters;
}

constexpr const char* kPower = "power:rows=1000000,entries=12000000,shuffled=1";

}  // namespace

BENCHMARK_CAPTURE(pass, all_fits, kPower, PipelineParameters{})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(pass, entries_are_evicted, kPower, with_buffer(40 << 20))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(pass, vectors_do_not_fit, kPower, with_buffer(18 << 20))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(pass, rows_are_loaded_eagerly, kPower, with_pes(16))->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
