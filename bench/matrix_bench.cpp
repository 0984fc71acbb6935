// Speed of the operations of `lacuna sida` on sparse matrices, in entries per second: the Matrix Market reader, generators,
// reordering, and counting the contents of the buffer. Targets in million entries per second: reader 5, generators 10,
// reordering 1.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "models/sida/matrix/generators.h"
#include "models/sida/matrix/matrix_market.h"
#include "models/sida/matrix/occupancy.h"
#include "models/sida/matrix/orders.h"

namespace {

using namespace lacuna::sida;

constexpr const char* kPower = "power:rows=200000,entries=4000000";

void rate(benchmark::State& state, std::uint64_t entries) {
  state.SetItemsProcessed(static_cast<std::int64_t>(entries) * static_cast<std::int64_t>(state.iterations()));
}

void read_file(benchmark::State& state) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("lacuna-bench-" + std::to_string(getpid()) + ".mtx");
  const SparseMatrix matrix = generated(kPower);
  {
    std::ofstream out(file);
    write_matrix_market(matrix, out);
  }
  for (auto _ : state) benchmark::DoNotOptimize(read_matrix_market(file).matrix.entries());
  std::filesystem::remove(file);
  rate(state, matrix.entries());
}

void generate(benchmark::State& state, const char* kind) {
  std::uint64_t entries = 0;
  for (auto _ : state) entries = generated(kind).entries();
  rate(state, entries);
}

void order(benchmark::State& state, const char* kind, const char* name) {
  const SparseMatrix matrix = generated(kind);
  for (auto _ : state) benchmark::DoNotOptimize(order_of(matrix, name).data());
  rate(state, matrix.entries());
}

void count_kept(benchmark::State& state) {
  const SparseMatrix matrix = generated(kPower);
  for (auto _ : state) benchmark::DoNotOptimize(occupancy(matrix, 1).peak());
  rate(state, matrix.entries());
}

constexpr const char* kRoad = "road:rows=1000000,shuffled=1";

}  // namespace

BENCHMARK(read_file)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generate, power, kPower)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generate, random, "random:rows=200000,entries=4000000")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generate, communities, "communities:rows=200000,entries=4000000")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generate, mesh3d, "mesh3d:rows=500000")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generate, road, "road:rows=1000000")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(order, rcm_power, kPower, "rcm")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(order, rcm_road, kRoad, "rcm")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(order, triangular_power, kPower, "triangular")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(order, triangular_road, kRoad, "triangular")->Unit(benchmark::kMillisecond);
BENCHMARK(count_kept)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
