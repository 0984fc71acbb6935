#include "models/gpu/gpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ostream>
#include <stdexcept>

#include "models/common/memory_map.h"

namespace lacuna {

namespace {

constexpr std::uint64_t kVramBase = LACUNA_VRAM_BASE;

std::string name_of(const char* what, unsigned index) { return fmt::format("{}{}", what, index); }

// What the compute units' memory begins with; it grows when that is not enough.
std::size_t state_bytes(const GpuDeviceParameters& p) {
  const std::size_t registers = std::size_t{p.cu.simds} * p.cu.vgprs_per_simd * isa::kLanes * sizeof(std::uint32_t);
  const std::size_t units = p.gpu.shader_arrays * p.gpu.cus_per_shader_array;
  constexpr std::size_t kWavefront = 4096;  // its state, counters and accounts, rounded up
  return units * (registers + p.cu.lds.n + std::size_t{p.cu.simds} * p.cu.wavefronts_per_simd * kWavefront);
}

unsigned l1v_count(const GpuParameters& p) { return p.shader_arrays * p.cus_per_shader_array / p.cus_per_l1v; }

}  // namespace

void GpuParameters::describe(ParameterSection& s) {
  constexpr std::string_view kTable2 = "LazyGPU (ISCA '25), Table 2 and section 5.1";
  constexpr std::string_view kChoice = "choice, docs/architecture.md";
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
        {{"functional", static_cast<int>(TimingMode::functional)},
         {"loose", static_cast<int>(TimingMode::loose)},
         {"reference", static_cast<int>(TimingMode::reference)}},
        {.source = kChoice});
  s.add("quantum", quantum, "Cycles that a compute unit may run ahead of the others (timing = reference: 1)",
        {.range = {1, 1e6}, .source = kChoice});
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
  s.add("partition_interleave", partition_interleave, "Consecutive bytes of one partition",
        {.range = {64, 65536}, .power_of_two = true, .source = kTable2});
  s.add("partition_hash", partition_hash,
        "Whether higher address bits are XORed onto the number of the partition; needs a power of two of partitions",
        {{"none", static_cast<int>(AddressHash::none)}, {"xor", static_cast<int>(AddressHash::fold)}},
        {.source = "AMD's MI200 and MI300 (Linux, drivers/ras/amd/atl/dehash.c); models/common/address_hash.h"});
  s.add("start_phase", start_phase,
        "Delay of every dispatch's start. Runs that differ in nothing else tell how far a kernel's time depends on who comes "
        "first",
        {.range = {0, 1e6}, .source = kChoice});
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
  // With these the round trips from a compute unit are the paper's 60 (L1), 112 (L2) and 146 cycles (DRAM, no row open): the
  // sums are in models/cache/cache.h, the compute unit adds cu.vmem_address_latency + cu.vmem_return_latency = 20.
  l2.hit_latency = 53_cycles;
  l2.tag_latency = 10_cycles;
  l2.fill_latency = 10_cycles;
  // L1 caches are indexed virtually and tagged physically, so that a TLB hit costs nothing beside the L1's own latency.
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
  set.describe("dram", dram);
  set.describe("vram", vram);
}

void VramParameters::describe(ParameterSection& s) {
  s.add("size", size, "GPU memory, all channels together; costs host memory only where it is touched",
        {.range = {1 << 20, static_cast<double>(LACUNA_VRAM_SIZE)}, .source = "LazyGPU (ISCA '25), Table 2"});
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
        fmt::format("gpu.partition_hash = xor needs a power of two of partitions, gpu.memory_partitions = {} is none",
                    gpu.memory_partitions));
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
  check_model("noc", [this] {
    if (noc.topology == FabricTopology::crossbar) return;
    if (noc.topology == FabricTopology::butterfly) {
      if (!noc.placement.empty()) throw std::invalid_argument("placement names nodes of a mesh, this is a butterfly");
      Topology::butterfly(noc.radix, noc.stages);
    } else {
      parse_placement(noc.placement, noc.columns, noc.rows);
    }
  });
  return problems;
}

GpuDevice::GpuDevice(sc_core::sc_module_name module_name, const GpuDeviceParameters& parameters)
    : sc_module(module_name),
      parameters_(parameters),
      host_destination_(parameters.gpu.memory_partitions),
      vram_(parameters.vram.size),
      code_(vm_, parameters.gpu.target),
      state_memory_(state_bytes(parameters), &huge_pages_),
      dispatcher_("dispatcher", parameters.dispatcher, Clock(parameters.gpu.core_clock), parameters.gpu.quantum) {
  if (const auto problems = parameters.check(); !problems.empty()) throw std::invalid_argument(problems.front());
  build_compute_units();
  build_translation();
  build_sdma();
  build_noc();
  build_memory();
  build_copies();
  if (parameters.gpu.timing != TimingMode::functional) cp_->packets.attach(static_cast<const ResourceMeter&>(*this));
}

void GpuDevice::build_compute_units() {
  const GpuParameters& gpu = parameters_.gpu;
  for (unsigned i = 0; i < l1v_count(gpu); ++i) {
    l1v_.push_back(std::make_unique<Cache>(name_of("l1v", i).c_str(), parameters_.l1v, MemoryLevel::l1, gpu.cus_per_l1v));
  }
  for (unsigned i = 0; i < gpu.shader_arrays; ++i) {
    l1s_.push_back(
        std::make_unique<Cache>(name_of("l1s", i).c_str(), parameters_.l1s, MemoryLevel::l1, gpu.cus_per_shader_array));
    l1i_.push_back(
        std::make_unique<Cache>(name_of("l1i", i).c_str(), parameters_.l1i, MemoryLevel::l1, gpu.cus_per_shader_array));
  }
  std::vector<ComputeUnit*> units;
  for (unsigned array = 0; array < gpu.shader_arrays; ++array) {
    for (unsigned i = 0; i < gpu.cus_per_shader_array; ++i) {
      const unsigned index = array * gpu.cus_per_shader_array + i;
      units_.push_back(std::make_unique<ComputeUnit>(name_of("cu", index).c_str(), parameters_.cu, gpu.timing,
                                                     Clock(gpu.core_clock), Clock(gpu.timestamp_clock), gpu.quantum,
                                                     ComputeUnitPlace{.index = index, .shader_array = array, .in_array = i},
                                                     gpu.target, vm_, code_, lds_banks_, dispatcher_, state_memory_));
      ComputeUnit& unit = *units_.back();
      Cache& l1v = *l1v_[index / gpu.cus_per_l1v];
      unit.vector_port.bind(l1v.upstream[index % gpu.cus_per_l1v]);
      unit.scalar_port.bind(l1s_[array]->upstream[i]);
      unit.instruction_port.bind(l1i_[array]->upstream[i]);
      unit.attach_caches(&l1v, l1s_[array].get(), l1i_[array].get());
      unit.attach_prefetch(&l1v);
      units.push_back(&unit);
    }
  }
  PacketProcessorParameters packet_parameters = parameters_.cp;
  packet_parameters.start_phase = gpu.start_phase;
  cp_ = std::make_unique<CommandProcessor>("cp", parameters_.mmio, packet_parameters,
                                           DeviceDescription{.target = gpu.target,
                                                             .shader_arrays = gpu.shader_arrays,
                                                             .compute_units = gpu.shader_arrays * gpu.cus_per_shader_array,
                                                             .compute_unit = parameters_.cu,
                                                             .vram_base = kVramBase,
                                                             .vram_size = vram_.size().n,
                                                             .core_clock = gpu.core_clock,
                                                             .timestamp_clock = gpu.timestamp_clock},
                                           gpu.timing, vm_, code_, dispatcher_, units);
  cp_->set_host_memory([this](std::uint64_t address, std::uint64_t bytes) { return host_memory(address, bytes); });
  dispatcher_.attach(std::move(units), cp_->packets);
}

void GpuDevice::build_translation() {
  const GpuParameters& gpu = parameters_.gpu;
  if (gpu.translation == Translation::free || gpu.timing == TimingMode::functional) return;
  page_walker_ = std::make_unique<PageWalker>(parameters_.page_walker);
  l2_tlb_ = std::make_unique<Tlb>(parameters_.l2_tlb, *page_walker_);
  const auto units = static_cast<unsigned>(units_.size());
  for (unsigned i = 0; i < units + 2 * gpu.shader_arrays; ++i)
    l1_tlbs_.push_back(std::make_unique<Tlb>(parameters_.l1_tlb, *l2_tlb_));
  for (unsigned i = 0; i < units; ++i) {
    const unsigned array = i / gpu.cus_per_shader_array;
    units_[i]->attach_tlbs(l1_tlbs_[i].get(), l1_tlbs_[units + array].get(), l1_tlbs_[units + gpu.shader_arrays + array].get());
  }
  vm_.on_unmap([this] {
    for (const auto& tlb : l1_tlbs_) tlb->invalidate();
    l2_tlb_->invalidate();
  });
}

void GpuDevice::build_sdma() {
  const GpuParameters& gpu = parameters_.gpu;
  for (unsigned i = 0; i < parameters_.sdma.engines; ++i) {
    sdma_.push_back(std::make_unique<SdmaEngine>(name_of("sdma", i).c_str(), parameters_.sdma, i, Clock(gpu.core_clock),
                                                 Clock(gpu.timestamp_clock), gpu.timing, gpu.quantum, gpu.target, vm_));
    sdma_.back()->attach_tlb(l2_tlb_.get());
  }
}

// Sources: all L1 vector, scalar and instruction caches, then the command processor and the SDMA engines. Destinations: the L2
// banks, then the host.
void GpuDevice::build_noc() {
  const GpuParameters& gpu = parameters_.gpu;
  std::vector<Cache*> caches;
  for (const auto* level : {&l1v_, &l1s_, &l1i_}) {
    for (const auto& cache : *level) caches.push_back(cache.get());
  }
  std::vector<AddressRoute> routes;
  routes.push_back({.name = "host below VRAM", .base = 0, .size = Bytes{kVramBase}, .first_destination = host_destination_});
  routes.push_back({.name = "VRAM",
                    .base = kVramBase,
                    .size = vram_.size(),
                    .first_destination = 0,
                    .count = gpu.memory_partitions,
                    .interleave = gpu.partition_interleave,
                    .hash = gpu.partition_hash});
  const auto others = static_cast<unsigned>(caches.size());
  noc_ = make_fabric("noc", parameters_.noc, others + 1 + parameters_.sdma.engines, AddressRoutes(std::move(routes)));
  for (unsigned i = 0; i < others; ++i) caches[i]->downstream.bind(noc_->sources[i]);
  cp_->packets.memory.bind(noc_->sources[others]);
  for (unsigned i = 0; i < parameters_.sdma.engines; ++i) sdma_[i]->memory.bind(noc_->sources[others + 1 + i]);
}

void GpuDevice::build_memory() {
  std::vector<CacheMaintenance*> l1;
  std::vector<CacheMaintenance*> l2;
  for (unsigned i = 0; i < parameters_.gpu.memory_partitions; ++i) {
    const AddressSlice slice = noc_->routes().slice(i);
    l2_.push_back(std::make_unique<Cache>(name_of("l2_", i).c_str(), parameters_.l2, MemoryLevel::l2, 1, slice));
    dram_.push_back(std::make_unique<DramChannel>(name_of("dram", i).c_str(), parameters_.dram, slice, vram_));
    noc_->destinations[i].bind(l2_.back()->upstream[0]);
    noc_->attach_prefetch(i, l2_.back().get());
    l2_.back()->downstream.bind(dram_.back()->memory);
    l2.push_back(l2_.back().get());
  }
  for (const auto* level : {&l1v_, &l1s_, &l1i_}) {
    for (const auto& cache : *level) l1.push_back(cache.get());
  }
  cp_->packets.attach_caches(std::move(l1), std::move(l2));
}

void GpuDevice::build_copies() {
  copies_ = std::make_unique<DeviceCopies>(
      DeviceCopies::Device{.vm = vm_,
                           .dispatcher = dispatcher_,
                           .packets = cp_->packets,
                           .engines = sdma_,
                           .l2 = l2_,
                           .dram = dram_,
                           .l2_parameters = parameters_.l2,
                           .l1_tlbs = std::span(l1_tlbs_).first(std::min(l1_tlbs_.size(), units_.size())),
                           .l1_tlb_parameters = parameters_.l1_tlb,
                           .l2_tlb = l2_tlb_.get(),
                           .l2_tlb_parameters = parameters_.l2_tlb,
                           .routes = noc_->routes(),
                           .used = [this] { return used(); }});
  describe_memory([this](const std::string& name, const DeviceCopies::Describe& describe) { copies_->count(name, describe); });
  if (parameters_.gpu.copies != CopyMode::bulk) return;
  cp_->packets.attach(static_cast<CopySurroundings&>(*copies_));
  for (const auto& engine : sdma_) engine->attach(*copies_);
}

// GPU memory is ours; anything else is asked of the host bus, which answers for RAM and refuses devices.
std::byte* GpuDevice::host_memory(std::uint64_t bus_address, std::uint64_t bytes) {
  if (bus_address >= kVramBase) {
    const std::uint64_t offset = bus_address - kVramBase;
    if (offset > vram_.size().n || bytes > vram_.size().n - offset) return nullptr;
    return vram_.data() + offset;
  }
  tlm::tlm_generic_payload payload;
  payload.set_address(bus_address);
  payload.set_command(tlm::TLM_READ_COMMAND);
  tlm::tlm_dmi dmi;
  if (!host()->get_direct_mem_ptr(payload, dmi) || !dmi.is_read_write_allowed()) return nullptr;
  if (bus_address < dmi.get_start_address() || bytes - 1 > dmi.get_end_address() - bus_address) return nullptr;
  return reinterpret_cast<std::byte*>(dmi.get_dmi_ptr()) + (bus_address - dmi.get_start_address());
}

ResourceAmounts GpuDevice::used() const {
  ResourceAmounts sum{};
  const auto of = [&sum](Resource r) -> std::uint64_t& { return sum[static_cast<std::size_t>(r)]; };
  for (const auto& unit : units_) of(Resource::compute) += unit->statistics().valu_busy_cycles;
  // An atomic of a write-back cache is one of its reads.
  for (const auto& cache : l1v_) {
    const CacheStatistics& s = cache->statistics();
    of(Resource::l1) += (s.reads + s.writes + s.atomics + s.bypasses) * parameters_.l1v.sector.n;
  }
  for (const auto& cache : l2_) {
    of(Resource::l2) += (cache->statistics().reads + cache->statistics().writes) * parameters_.l2.sector.n;
  }
  const auto& destinations = noc_->statistics().destinations;
  for (unsigned i = 0; i < host_destination_; ++i) of(Resource::noc) += destinations[i].flits * parameters_.noc.width;
  for (const auto& channel : dram_)
    of(Resource::dram) += channel->statistics().bytes_read + channel->statistics().bytes_written;
  for (std::size_t i = 0; i < kResources; ++i) sum[i] += copies_->used_in_bulk()[i];
  return sum;
}

ResourceAmounts GpuDevice::available(Cycles cycles) const {
  ResourceAmounts most{};
  const auto of = [&most](Resource r) -> std::uint64_t& { return most[static_cast<std::size_t>(r)]; };
  const Tick time = Clock(parameters_.gpu.core_clock).ticks(cycles);
  const auto cycles_of = [time](Frequency clock) { return time.ps / clock.period().ps; };
  const std::uint64_t simds = units_.size() * parameters_.cu.simds;
  of(Resource::compute) = simds * cycles.n;
  of(Resource::slots) = simds * parameters_.cu.wavefronts_per_simd * cycles.n;
  const auto cache_bytes = [&](const CacheParameters& p) {
    return std::uint64_t{p.ports} * p.banks * p.sector.n * cycles_of(p.clock);
  };
  of(Resource::l1) = l1v_.size() * cache_bytes(parameters_.l1v);
  of(Resource::l2) = l2_.size() * cache_bytes(parameters_.l2);
  of(Resource::noc) = 2ULL * host_destination_ * parameters_.noc.width * cycles_of(parameters_.noc.clock);
  of(Resource::dram) =
      dram_.size() * parameters_.dram.pseudo_channels * parameters_.dram.bytes_per_cycle * cycles_of(parameters_.dram.clock);
  return most;
}

void GpuDevice::add_observer(KernelObserver& observer) { cp_->packets.add_observer(observer); }

std::uint64_t GpuDevice::wavefront_instructions() const {
  std::uint64_t sum = 0;
  for (const auto& unit : units_) sum += unit->statistics().wavefront_instructions;
  return sum;
}

std::uint64_t GpuDevice::packets() const {
  std::uint64_t sum = cp_->packets.packets();
  for (const auto& engine : sdma_) sum += engine->progress();
  return sum + cp_->packets.bulk_blits().bytes();
}

bool GpuDevice::idle() const {
  return cp_->packets.idle() && dispatcher_.idle() &&
         std::all_of(sdma_.begin(), sdma_.end(), [](const auto& engine) { return engine->idle(); });
}

void GpuDevice::diagnose(std::ostream& out) const {
  cp_->packets.diagnose(out);
  dispatcher_.diagnose(out);
  for (const auto& engine : sdma_) engine->diagnose(out);
}

// What kernels and copies use beside the compute units.
void GpuDevice::describe_memory(const std::function<void(const std::string&, const DeviceCopies::Describe&)>& to) const {
  const auto describe = [&to](const std::string& name, const auto& model) {
    to(name, [&model](StatisticsGroup& group) { model.statistics().describe(group); });
  };
  for (const auto* level : {&l1v_, &l1s_, &l1i_, &l2_}) {
    for (const auto& cache : *level) describe(cache->basename(), *cache);
  }
  if (page_walker_) {
    for (std::size_t i = 0; i < l1_tlbs_.size(); ++i) {
      const std::size_t units = units_.size();
      const std::size_t arrays = parameters_.gpu.shader_arrays;
      const std::string name = i < units            ? name_of("l1v_tlb", static_cast<unsigned>(i))
                               : i < units + arrays ? name_of("l1s_tlb", static_cast<unsigned>(i - units))
                                                    : name_of("l1i_tlb", static_cast<unsigned>(i - units - arrays));
      describe(name, *l1_tlbs_[i]);
    }
    describe("l2_tlb", *l2_tlb_);
    to("page_walker", [this](StatisticsGroup& group) { page_walker_->describe(group); });
  }
  to("noc", [this](StatisticsGroup& group) { noc_->describe(group); });
  for (const auto& channel : dram_) describe(channel->basename(), *channel);
}

void GpuDevice::describe_statistics(StatisticsGroup& group) const {
  cp_->packets.statistics().describe(group.group("cp"));
  for (const auto& unit : units_) unit->statistics().describe(group.group(unit->basename()));
  describe_memory([&group](const std::string& name, const DeviceCopies::Describe& describe) { describe(group.group(name)); });
  for (const auto& engine : sdma_) engine->statistics().describe(group.group(engine->basename()));
  copies_->add_to(group);
}

}  // namespace lacuna
