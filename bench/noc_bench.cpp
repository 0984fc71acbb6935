// Host time of the routed network alone: packets a second under uniform traffic of an 8 x 8 mesh.
#include <benchmark/benchmark.h>

#include <random>
#include <systemc>

#include "models/noc/network.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr unsigned kNodes = 64;
constexpr Tick kCycle = 1_ns;

Network& mesh() {
  static Network network("mesh", FabricParameters{.topology = FabricTopology::mesh}, kNodes,
                         AddressRoutes({{"memory", 0, Bytes{64 * kNodes}, 0, kNodes, 64_B}}));
  return network;
}

/// Packets of so many flits, at a load in per cent of a flit per node and cycle.
void mesh_packets(benchmark::State& state) {
  const auto flits = static_cast<unsigned>(state.range(0));
  const std::uint64_t gap = kCycle.ps * flits * 100 / (static_cast<std::uint64_t>(state.range(1)) * kNodes);
  Network& network = mesh();
  network.reset();
  std::mt19937_64 random(1);
  Tick at{};
  unsigned packets = 0;
  for (auto _ : state) {
    const std::uint64_t r = random();
    benchmark::DoNotOptimize(network.traverse(VirtualNetwork::request, r % kNodes, (r >> 8) % kNodes, flits, at));
    at += Tick{gap};
    if (++packets % 64 == 0) network.retire(at);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(mesh_packets)->ArgNames({"flits", "load"})->Args({1, 20})->Args({1, 40})->Args({5, 20})->Args({5, 40});

}  // namespace
}  // namespace lacuna

int sc_main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
