#include "models/gpu/gpu_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "include/lacuna/abi/memory_map.h"
#include "models/common/time/retirement.h"
#include "models/dram/dram_schedule.h"
#include "models/noc/stepped_network.h"
#include "models/noc/topology.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

void GpuParameters::describe(ParameterSection& s) {
  constexpr std::string_view kTable2 = "LazyGPU (ISCA '25), Table 2 and section 5.1";
  constexpr std::string_view kChoice = "choice, docs/guide/architecture.md";
  s.add("target", target, "Instruction set",
        {{"gfx803", static_cast<int>(isa::Target::gfx803)}, {"gfx90a", static_cast<int>(isa::Target::gfx90a)}},
        {.source = kTable2});
  s.add("shader_arrays", shader_arrays, "Shader arrays", {.range = {1, 256}, .unit = "shader arrays", .source = kTable2});
  s.add("cus_per_shader_array", cus_per_shader_array, "Compute units of a shader array",
        {.range = {1, 64}, .unit = "compute units", .source = kTable2});
  s.add("core_clock", core_clock, "Clock of compute units and command processor", {.range = {1e6, 1e10}, .source = kTable2});
  s.add("timestamp_clock", timestamp_clock, "Rate of the timestamp counter and of signal time stamps",
        {.range = {1e6, 4e9}, .source = kChoice});
  s.add("timing", timing, "How much timing is modelled",
        {{"functional", static_cast<int>(TimingMode::functional), "not at all: results only"},
         {"loose", static_cast<int>(TimingMode::loose), "all of every kernel"},
         {"sampled", static_cast<int>(TimingMode::sampled),
          "parts of kernels; the time of the rest is estimated, with an interval (docs/guide/sampling.md)"}},
        {.source = kChoice});
  s.add("window", window,
        "Length of the time windows in which compute units are simulated independently of each other "
        "(models/compute/windows.h); 0: the longest that cannot affect results",
        {.range = {0, 1e6}, .source = kChoice});
  s.add("cus_per_l1v", cus_per_l1v, "Compute units that share an L1 vector cache; divides cus_per_shader_array",
        {.range = {1, 64}, .unit = "compute units", .source = kTable2});
  s.add("memory_partitions", memory_partitions, "L2 banks, each with its DRAM channel",
        {.range = {1, 256}, .unit = "partitions", .source = kTable2});
  s.add("translation", translation, "Whether the translation of addresses takes time",
        {{"free", static_cast<int>(Translation::free)}, {"tlb", static_cast<int>(Translation::tlb)}}, {.source = kChoice});
  s.add("copies", copies,
        "How the ROCm runtime's large copies and fills are carried out, by kernels and by copy engines: in detail, or sampled "
        "and "
        "then in bulk",
        {{"detailed", static_cast<int>(CopyMode::detailed)}, {"bulk", static_cast<int>(CopyMode::bulk)}}, {.source = kChoice});
  s.add(
      "fine_grained_float_atomics", fine_grained_float_atomics,
      "Float atomics of gfx90a on fine-grained memory: performed, or dropped as on MI200, where memory keeps its value and the "
      "lane is returned zero (docs/guide/rocm.md)",
      {{"apply", static_cast<int>(isa::FineGrainedFloatAtomics::apply)},
       {"drop", static_cast<int>(isa::FineGrainedFloatAtomics::drop)}},
      {.source = kChoice});
  s.add("partition_interleave", partition_interleave, "Consecutive bytes of one partition",
        {.range = {64, 65536}, .power_of_two = true, .source = kTable2});
  s.add("partition_hash", partition_hash,
        "Which higher address bits are XORed onto the number of the partition. xor: all; mi200: bits 16, 21 and 30 onto its "
        "lowest "
        "bit, the bits above them onto the others, as on AMD's MI200. Both need a power of two of partitions",
        {{"none", static_cast<int>(AddressHash::none)},
         {"xor", static_cast<int>(AddressHash::fold)},
         {"mi200", static_cast<int>(AddressHash::mi200)}},
        {.source = "AMD's MI200 and MI300 (Linux, drivers/ras/amd/atl/dehash.c); models/common/transport/address_hash.h"});
  s.add("start_phase", start_phase,
        "Delay of every dispatch's start. Runs that differ only in this show how much a kernel's time depends on the order of "
        "requests",
        {.range = {0, 1e6}, .source = kChoice});
  s.add("request_interval", request_interval,
        "Intervals of requests.csv, which has the requests of vector and scalar loads over time (docs/guide/timing.md); 0ps: "
        "they are "
        "not counted",
        {.range = {0, 1e12}, .source = kChoice});
}

GpuDeviceParameters::GpuDeviceParameters() {
  using namespace literals;
  l1s.size = 16_KiB;
  l1i.size = 32_KiB;
  for (CacheParameters* cache : {&l1s, &l1i}) {
    cache->hit_latency = 4_cycles;
    cache->tag_latency = 2_cycles;
    cache->fill_latency = 2_cycles;
    cache->ports = 4;
    cache->mshrs = 16;
  }
  l2.size = 256_KiB;
  l2.ways = 16;
  l2.write_policy = WritePolicy::write_back;
  l2.in_order = true;
  // With these latencies the round trips from a compute unit are those of the LazyGPU paper: 60 (L1), 112 (L2) and 146 cycles
  // (DRAM, no row open). The sums without the compute unit are in models/cache/cache.h; the compute unit adds
  // cu.vmem_address_latency + cu.vmem_return_latency = 20.
  l2.hit_latency = 53_cycles;
  l2.tag_latency = 10_cycles;
  l2.fill_latency = 10_cycles;
  // L1 caches are indexed virtually and tagged physically, so a TLB hit adds nothing to the L1's latency.
  l1_tlb.hit_latency = Cycles{0};
  l2_tlb.entries = 4096;
  l2_tlb.ways = 16;
  l2_tlb.ports = 16;
  l2_tlb.mshrs = 64;
  l2_tlb.hit_latency = 10_cycles;
  for (TlbParameters* tlb : {&l1_tlb, &l2_tlb}) tlb->page = Bytes{64 * 1024};
}

void GpuDeviceParameters::describe(ParameterSet& set) {
  set.describe("gpu", gpu);
  set.describe("sampling", sampling);
  set.describe("gpu_mmio", mmio);
  set.describe("cp", cp);
  set.describe("dispatcher", dispatcher);
  set.describe("cu", cu);
  set.describe("l1v", l1v);
  set.describe("l1s", l1s);
  set.describe("l1i", l1i);
  set.describe("l1_tlb", l1_tlb);
  set.describe("l2_tlb", l2_tlb);
  set.describe("page_walker", page_walker);
  set.describe("sdma", sdma);
  set.describe("noc", noc);
  set.describe("l2", l2);
  set.describe("mfma", mfma);
  for (const auto& extension : extensions.all()) extension->describe(set);
  set.describe("dram", dram);
  set.describe("vram", vram);
  set.describe("energy", energy);
}

void VramParameters::describe(ParameterSection& s) {
  s.add("size", size, "GPU memory, all channels together; costs host memory only where it is touched",
        {.range = {1 << 20, static_cast<double>(LACUNA_VRAM_SIZE)}, .source = "LazyGPU (ISCA '25), Table 2"});
}

Tick GpuDeviceParameters::min_packet_time() const {
  const Cycles cycles = noc.topology->has_routers() ? noc.interface_latency + noc.router_latency : noc.hop_latency + Cycles{1};
  return noc.clock.period() * cycles.n;
}

Cycles GpuDeviceParameters::window() const {
  if (gpu.window.n != 0) return gpu.window;
  const Clock core(gpu.core_clock);
  const auto time = [](Frequency clock, Cycles cycles) { return clock.period() * cycles.n; };
  const Tick packet = min_packet_time();
  const Tick around = packet + packet;
  if (noc.topology->has_routers() && noc.routers == RouterModel::stepped)
    return later(core.floor(SteppedNetwork::lookahead(noc)), Cycles{1});
  Tick shortest = around + time(l2.clock, l2.write_latency) +
                  time(gpu.core_clock, cu.vmem_address_latency + cu.vmem_return_latency) + time(l1v.clock, l1v.tag_latency);
  for (const CacheParameters* cache : {&l1v, &l1s, &l1i})
    shortest = earlier(shortest, around + min_response_time_of(l2) + time(cache->clock, cache->tag_latency));
  for (const auto& extension : extensions.all()) {
    if (extension->is_on()) shortest = earlier(shortest, extension->min_response_time(*this));
  }
  // A window is not longer than the maximum lag of units relative to the SystemC kernel.
  shortest = earlier(shortest, kMaxLag);
  return later(core.floor(shortest), Cycles{1});
}

AddressSlice GpuDeviceParameters::vram_slice(unsigned partition) const {
  return AddressSlice(LACUNA_VRAM_BASE, vram.size, gpu.partition_interleave, gpu.memory_partitions, partition,
                      gpu.partition_hash);
}

Tick GpuDeviceParameters::min_response_time_of(const CacheParameters& cache) const {
  const auto time = [](Frequency clock, Cycles cycles) { return clock.period() * cycles.n; };
  // A DRAM channel decides commands up to the earliest arrival of requests that depart after the window's end (MemoryPhase). A
  // read that arrives at that time takes at least `dram_read`.
  const Tick dram_read = time(dram.clock, dram.frontend_latency + dram.tCL + dram.burst);
  return earlier(time(cache.clock, cache.hit_latency), time(cache.clock, cache.tag_latency + cache.fill_latency) + dram_read);
}

ExtensionNodes GpuDeviceParameters::extension_nodes() const {
  ExtensionNodes sum;
  for (const auto& extension : extensions.all()) {
    if (!extension->is_on()) continue;
    const ExtensionNodes nodes = extension->nodes(*this);
    sum.sources += nodes.sources;
    sum.units += nodes.units;
    sum.destinations += nodes.destinations;
    sum.switches |= nodes.switches;
    sum.guests.sources.insert(sum.guests.sources.end(), nodes.guests.sources.begin(), nodes.guests.sources.end());
    sum.guests.destinations.insert(sum.guests.destinations.end(), nodes.guests.destinations.begin(),
                                   nodes.guests.destinations.end());
  }
  return sum;
}

FabricParameters GpuDeviceParameters::fabric() const {
  FabricParameters parameters = noc;
  parameters.switch_nodes = extension_nodes().switches;
  return parameters;
}

FabricPlacement GpuDeviceParameters::placement() const {
  const unsigned l1_caches = gpu.shader_arrays * gpu.cus_per_shader_array / gpu.cus_per_l1v + 2 * gpu.shader_arrays;
  const ExtensionNodes more = extension_nodes();
  return place(fabric(), l1_caches + 1 + sdma.engines + more.sources + more.units,
               gpu.memory_partitions + 1 + more.destinations, more.guests);
}

std::vector<std::string> GpuDeviceParameters::check() const {
  std::vector<std::string> problems;
  if (gpu.cus_per_shader_array % gpu.cus_per_l1v != 0) {
    problems.push_back(fmt::format("gpu.cus_per_l1v = {} does not divide gpu.cus_per_shader_array = {}", gpu.cus_per_l1v,
                                   gpu.cus_per_shader_array));
  }
  const std::uint64_t stripe = gpu.partition_interleave.n * gpu.memory_partitions;
  if (gpu.partition_hash != AddressHash::none && !std::has_single_bit(gpu.memory_partitions)) {
    problems.push_back(
        fmt::format("gpu.partition_hash = {} needs a power of two of partitions, gpu.memory_partitions = {} is none",
                    gpu.partition_hash == AddressHash::fold ? "xor" : "mi200", gpu.memory_partitions));
  }
  if (gpu.partition_hash == AddressHash::mi200 && stripe > std::uint64_t{1} << kMi200Bits) {
    problems.push_back(fmt::format(
        "gpu.partition_hash = mi200 needs gpu.partition_interleave x gpu.memory_partitions of at most 64 KiB, not {}", stripe));
  }
  if (vram.size.n % std::max<std::uint64_t>(stripe, GpuVm::kPage) != 0) {
    problems.push_back(fmt::format("vram.size = {} is not a multiple of gpu.partition_interleave x gpu.memory_partitions = {}",
                                   vram.size.n, stripe));
  }
  for (const auto& [section, cache] : {std::pair{"l1v", &l1v}, {"l1s", &l1s}, {"l1i", &l1i}, {"l2", &l2}}) {
    if (cache->line.n > gpu.partition_interleave.n) {
      problems.push_back(fmt::format("{}.line = {} is larger than gpu.partition_interleave = {}", section, cache->line.n,
                                     gpu.partition_interleave.n));
    }
  }
  if (cu.transaction_bytes > l1v.line.n) {
    problems.push_back(fmt::format("cu.transaction_bytes = {} is larger than l1v.line = {}", cu.transaction_bytes, l1v.line.n));
  }
  if (l1v.write_policy != WritePolicy::write_around || l1s.write_policy != WritePolicy::write_around) {
    problems.emplace_back("l1v.write_policy and l1s.write_policy must be write_around: fences do not write L1 caches back");
  }
  if (gpu.timestamp_clock.hz == 0 || 1'000'000'000'000ULL % gpu.timestamp_clock.hz != 0) {
    problems.push_back(
        fmt::format("gpu.timestamp_clock = {} Hz: the period is not a whole number of picoseconds", gpu.timestamp_clock.hz));
  }
  const auto check_model = [&problems](const char* section, const auto& build) {
    try {
      build();
    } catch (const std::invalid_argument& error) {
      problems.push_back(fmt::format("{}: {}", section, error.what()));
    }
  };
  check_model("dram", [this] { DramSchedule{dram}; });
  PageWalker walker(page_walker);
  check_model("l1_tlb", [&] { Tlb(l1_tlb, walker); });
  check_model("l2_tlb", [&] { Tlb(l2_tlb, walker); });
  check_model("noc", [this] { placement(); });
  for (const auto& extension : extensions.all()) {
    if (extension->is_on()) extension->check(*this, problems);
  }
  if (mfma.extensions != isa::MatrixExtensions::none && gpu.target == isa::Target::gfx803)
    problems.emplace_back("mfma.extensions: gpu.target = gfx803 has no matrix units, gfx90a does");
  for (std::string& problem : energy.check()) problems.push_back(std::move(problem));
  if (energy.on() && gpu.timing == TimingMode::functional)
    problems.emplace_back("energy.model = on needs time: gpu.timing = functional has none");
  if (sampling.untimed == UntimedParts::skipped && gpu.timing != TimingMode::sampled)
    problems.emplace_back("sampling.untimed = skipped (--results none) needs gpu.timing = sampled: it skips what is not timed");
  if (noc.routers == RouterModel::stepped && !noc.topology->has_routers())
    problems.push_back("noc.routers = stepped needs noc.topology = " + routed_topologies() + ": a " +
                       std::string(noc.topology->name) + " has no routers");
  if (gpu.request_interval != Tick{} && gpu.timing == TimingMode::functional)
    problems.emplace_back("gpu.request_interval needs time: gpu.timing = functional has none");
  return problems;
}

std::vector<std::string> GpuDeviceParameters::warnings() const {
  if (gpu.timing == TimingMode::functional) return {};
  std::vector<std::string> warnings;
  constexpr std::uint64_t kCycles = 1'000'000;
  const auto rate = [this](std::uint64_t bytes_of_a_channel) {
    return static_cast<double>(gpu.memory_partitions * bytes_of_a_channel) * static_cast<double>(dram.clock.hz) / kCycles / 1e9;
  };
  const double bus = rate(dram.bus_bytes({kCycles}));
  const double reachable = rate(dram.reachable_bytes({kCycles}, l2.sector));
  const auto warn = [&](const std::string& why) {
    warnings.push_back(
        fmt::format("dram: at most {:.1f} of the data buses' {:.1f} GB/s can be reached: {}", reachable, bus, why));
  };
  if (dram.column_gap() > dram.burst) {
    warn(fmt::format("a burst takes dram.burst = {} cycles, but column commands are {} cycles apart; set dram.{} = {}cycles",
                     dram.burst.n, dram.column_gap().n, dram.bank_groups > 1 ? "tCCDS and dram.tCCDL" : "tCCDL", dram.burst.n));
  }
  if (const std::uint64_t burst = dram.burst.n * dram.bytes_per_cycle; burst > l2.sector.n) {
    warn(
        fmt::format("a burst of {} bytes (dram.burst x dram.bytes_per_cycle) is longer than a request, l2.sector = {} bytes; "
                    "set l2.sector = {}, or shorten dram.burst with dram.tCCDS and dram.tCCDL",
                    burst, l2.sector.n, burst));
  }
  return warnings;
}

}  // namespace lacuna
