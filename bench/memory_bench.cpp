// Host time of the models of the memory system: calendars alone, and requests like those of compute units, through L1, the
// memory phase at the end of a window, crossbar, L2 and DRAM.
#include <benchmark/benchmark.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <random>
#include <systemc>
#include <vector>

#include "models/cache/first_level_cache.h"
#include "models/common/time/calendar.h"
#include "models/common/time/retirement.h"
#include "models/common/time/tlm_time.h"
#include "models/dram/dram_channel.h"
#include "models/gpu/memory_phase.h"
#include "models/noc/crossbar.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr std::uint64_t kBase = 0x10'0000'0000;
constexpr Bytes kMemory{std::uint64_t{256} << 20};
constexpr unsigned kChannels = 16;
constexpr unsigned kArrays = 16;
constexpr Tick kCycle = 1_ns;

AddressRoutes routes() { return AddressRoutes({{"vram", kBase, kMemory, 0, kChannels, 128_B}}); }

/// 16 L1 caches, a crossbar, 16 L2 banks, 16 DRAM channels, and the memory phase that connects them at the end of a window.
struct System : sc_core::sc_module, MemoryClient {
  explicit System(sc_core::sc_module_name n) : sc_module(n) {
    for (unsigned i = 0; i < kArrays; ++i) {
      initiators.push_back(std::make_unique<Initiator>(sc_core::sc_gen_unique_name("initiator")));
      l1.push_back(std::make_unique<FirstLevelCache>(sc_core::sc_gen_unique_name("l1"), CacheParameters{.ports = 2}));
      initiators[i]->bind(l1[i]->upstream[0]);
      l1[i]->downstream.bind(noc.sources[i]);
      l1[i]->reset();
      edge.add(*l1[i], i, i);
    }
    const CacheParameters l2_parameters{.size = 256_KiB,
                                        .ways = 16,
                                        .write_policy = WritePolicy::write_back,
                                        .hit_latency = 53_cycles,
                                        .tag_latency = 10_cycles,
                                        .fill_latency = 10_cycles};
    for (unsigned i = 0; i < kChannels; ++i) {
      const AddressSlice slice = noc.routes().slice(i);
      l2.push_back(
          std::make_unique<LastLevelCache>(sc_core::sc_gen_unique_name("l2"), l2_parameters, MemoryLevel::l2, 1, slice));
      dram.push_back(std::make_unique<DramChannel>(sc_core::sc_gen_unique_name("dram"), DramParameters{}, slice, store));
      noc.destinations[i].bind(l2[i]->upstream[0]);
      l2[i]->downstream.bind(dram[i]->memory);
      edge.add_destination(i, *l2[i], &dram[i]->port());
    }
  }
  /// Requests one line, a cycle after the previous request, or later if the maximum number of requests is in flight.
  void access(unsigned array, std::uint64_t address, bool write = false) {
    next += kCycle;
    while (under_way == kUnderWay || next >= end) pass_window();
    const MemoryRequest request{.address = kBase + address, .bytes = 64, .kind = RequestKind::vector, .write = write};
    MemoryResponse response;
    if (!l1[array]->request(request, next, *this, 0, response)) ++under_way;
  }
  void on_response(std::uint32_t, const MemoryResponse&) override { --under_way; }
  void pass_window() {
    edge.resolve(end);
    sc_core::sc_start(to_sc_time(kWindow));
    const Tick now = kernel_time();
    end = now + kWindow;
    next = later(next, now);
    if (++windows % kRetireWindows == 0) edge.retire(retirement_horizon(now));
  }
  static constexpr Tick kWindow{58'000};
  static constexpr unsigned kRetireWindows = 8;
  static constexpr unsigned kUnderWay = 1024;
  using Initiator = tlm_utils::simple_initiator_socket<System>;
  Tick next{};
  Tick end = kWindow;
  unsigned under_way = 0;
  unsigned windows = 0;
  BackingStore store{kMemory};
  std::vector<std::unique_ptr<Initiator>> initiators;
  std::vector<std::unique_ptr<FirstLevelCache>> l1;
  Crossbar noc{"noc", FabricParameters{}, kArrays, routes()};
  MemoryPhase edge{noc, nullptr};
  std::vector<std::unique_ptr<LastLevelCache>> l2;
  std::vector<std::unique_ptr<DramChannel>> dram;
};

System* model = nullptr;

void calendar_append(benchmark::State& state) {
  Calendar calendar;
  std::uint64_t t = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(calendar.reserve({t}, {700}));
    t += 1000;
    if (t % 64'000 == 0) calendar.retire({t});
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(calendar_append);

void calendar_out_of_order(benchmark::State& state) {
  Calendar calendar;
  std::mt19937_64 random(1);
  std::uint64_t t = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(calendar.reserve({t + random() % 100'000}, {700}));
    t += 1000;
    if (t % 64'000 == 0) calendar.retire({t});
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(calendar_out_of_order);

void pool_calendar(benchmark::State& state) {
  PoolCalendar pool(64);
  std::uint64_t t = 0;
  for (auto _ : state) {
    const Tick start = pool.acquire({t});
    pool.occupy(start, start + Tick{90'000});
    t += 1000;
    if (t % 64'000 == 0) pool.retire({t});
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(pool_calendar);

/// One array reads the lines of a working set cyclically; the size of the working set determines the level at which the lines
/// hit.
void read_working_set(benchmark::State& state) {
  const auto lines = static_cast<std::uint64_t>(state.range(0)) / 64;
  for (std::uint64_t i = 0; i < lines; ++i) model->access(0, i * 64);
  std::uint64_t i = 0;
  for (auto _ : state) {
    model->access(0, i * 64);
    i = i + 1 == lines ? 0 : i + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(read_working_set)->Name("l1_hit")->Arg(32 << 10);
BENCHMARK(read_working_set)->Name("l2_hit")->Arg(1 << 20);
BENCHMARK(read_working_set)->Name("dram")->Arg(64 << 20);

void read_random_arrays(benchmark::State& state) {
  std::mt19937_64 random(1);
  const auto lines = static_cast<std::uint64_t>(state.range(0)) / 64;
  for (auto _ : state) {
    const std::uint64_t r = random();
    model->access(r % kArrays, (r >> 8) % lines * 64);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(read_random_arrays)->Name("l2_hit_16_arrays_random")->Arg(2 << 20);
BENCHMARK(read_random_arrays)->Name("dram_16_arrays_random")->Arg(256 << 20);

void write_stream(benchmark::State& state) {
  std::uint64_t i = 0;
  for (auto _ : state) {
    model->access(static_cast<unsigned>(i % kArrays), i * 64 % kMemory.n, true);
    ++i;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(write_stream);

}  // namespace
}  // namespace lacuna

int sc_main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  lacuna::System system("system");
  lacuna::model = &system;
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
