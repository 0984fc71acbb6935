// Host time of the networks alone: packets per second of an 8 x 8 mesh under uniform traffic, with booked and with stepped
// routers, and packets per second of a crossbar whose transactions arrive in order of time.
#include <benchmark/benchmark.h>

#include <random>
#include <systemc>
#include <vector>

#include "models/noc/booked_network.h"
#include "models/noc/crossbar.h"
#include "models/noc/routers.h"
#include "models/noc/topology/mesh.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr unsigned kNodes = 64;
constexpr Tick kCycle = 1_ns;

BookedNetwork& mesh() {
  static BookedNetwork network("mesh", FabricParameters{.topology = FabricTopology::mesh}, kNodes,
                               AddressRoutes({{"memory", 0, Bytes{64 * kNodes}, 0, kNodes, 64_B}}));
  return network;
}

/// Arguments: flits per packet, and load in per cent of one flit per node and cycle.
void mesh_packets(benchmark::State& state) {
  const auto flits = static_cast<unsigned>(state.range(0));
  const std::uint64_t gap = kCycle.ps * flits * 100 / (static_cast<std::uint64_t>(state.range(1)) * kNodes);
  BookedNetwork& network = mesh();
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

/// The load of mesh_packets() on stepped routers. Their host time depends on the number of cycles and on the number of packets
/// that wait in routers.
void stepped_mesh_packets(benchmark::State& state) {
  const auto flits = static_cast<unsigned>(state.range(0));
  const double each_cycle = static_cast<double>(state.range(1)) / 100 * kNodes / flits;
  const MeshTopology topology(8, 8, MeshRouting::xy);
  Routers routers(topology, {.topology = FabricTopology::mesh});
  std::mt19937_64 random(1);
  std::vector<Routers::Delivery> delivered;
  double due = 0;
  std::int64_t packets = 0;
  for (auto _ : state) {
    for (due += each_cycle; due >= 1; --due, ++packets) {
      const std::uint64_t r = random();
      routers.send({.from = static_cast<unsigned>(r % kNodes),
                    .to = static_cast<unsigned>((r >> 8) % kNodes),
                    .network = 0,
                    .alternative = 0,
                    .flits = flits,
                    .cycle = routers.now(),
                    .tag = 0});
    }
    delivered.clear();
    routers.advance(routers.now() + 1, delivered);
  }
  state.SetItemsProcessed(packets);
}
BENCHMARK(stepped_mesh_packets)->ArgNames({"flits", "load"})->Args({1, 20})->Args({1, 40})->Args({5, 20})->Args({5, 40});

constexpr unsigned kSources = 64;
constexpr unsigned kBanks = 16;

/// Four transactions per cycle: a request and a reply packet each, with separate calls for departure and arrival of a packet,
/// as in the memory phase at the end of a window. An item is a packet.
void crossbar_packets(benchmark::State& state) {
  static Crossbar crossbar("crossbar", FabricParameters{}, kSources,
                           AddressRoutes({{"memory", 0, Bytes{64 * kBanks}, 0, kBanks, 64_B}}));
  crossbar.reset();
  std::mt19937 random(1);
  std::vector<unsigned> pairs(4096);
  for (unsigned& pair : pairs) pair = random() % (kSources * kBanks);
  NodePorts& ports = *crossbar.ports();
  const auto pass = [&ports](unsigned from, unsigned to, unsigned flits, Tick ready) {
    return ports.arrive(to, flits, ready, ports.depart(from, flits, ready)).at;
  };
  Tick at{};
  std::size_t next = 0;
  for (auto _ : state) {
    crossbar.advance(at);
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned pair = pairs[next++ % pairs.size()];
      const unsigned source = crossbar.source_node(pair / kBanks);
      const unsigned bank = crossbar.destination_node(pair % kBanks);
      const Tick there = pass(source, bank, 1, at);
      benchmark::DoNotOptimize(pass(bank, source, 2, there + 50_ns));
    }
    at += kCycle;
  }
  state.SetItemsProcessed(state.iterations() * 8);
}
BENCHMARK(crossbar_packets);

}  // namespace
}  // namespace lacuna

int sc_main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
