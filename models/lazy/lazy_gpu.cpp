#include "models/lazy/lazy_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "include/lacuna/abi/memory_map.h"
#include "models/lazy/held_load.h"
#include "models/lazy/lazy_texts.h"
#include "models/lazy/lazy_unit.h"

namespace lacuna {

// -- parameters

LazyGpuParameters::LazyGpuParameters() {
  using namespace literals;
  lazy_slots();
  l1z.size = 8_KiB;
  l2z = GpuDeviceParameters().l2;
  l2z.size = 32_KiB;
  for (CacheParameters* cache : {&l1z, &l2z}) cache->line = cache->sector = 32_B;
}

void LazyGpuParameters::describe(ParameterSet& set) {
  set.describe("lazy", lazy);
  set.describe("l1z", l1z);
  set.describe("l2z", l2z);
}

void LazyGpuParameters::check(const GpuDeviceParameters& device, std::vector<std::string>& problems) const {
  if (!has_zero_caches(lazy.mode)) return;
  const GpuParameters& gpu = device.gpu;
  for (const auto& [section, cache] : {std::pair{"l1z", &l1z}, {"l2z", &l2z}}) {
    if (gpu.memory_partitions > 1 && cache->line.n > gpu.partition_interleave.n) {
      problems.push_back(fmt::format("{}.line = {} is larger than gpu.partition_interleave = {}", section, cache->line.n,
                                     gpu.partition_interleave.n));
    }
  }
  if (l1z.write_policy != WritePolicy::write_around)
    problems.emplace_back("l1z.write_policy must be write_around: fences do not write L1 caches back");
  if (l2z.write_policy != WritePolicy::write_back)
    problems.emplace_back("l2z.write_policy must be write_back: parts of a mask's bytes are put together there");
}

ExtensionNodes LazyGpuParameters::nodes(const GpuDeviceParameters& device) const {
  ExtensionNodes nodes;
  if (!has_zero_caches(lazy.mode)) return nodes;
  const GpuParameters& gpu = device.gpu;
  if (!device.noc.topology->has_routers() && lazy.ports == ZeroPorts::own) {
    nodes.sources = gpu.shader_arrays;
    nodes.destinations = gpu.memory_partitions;
    return nodes;
  }
  const unsigned l1v_per_array = gpu.cus_per_shader_array / gpu.cus_per_l1v;
  for (unsigned array = 0; array < gpu.shader_arrays; ++array) nodes.guests.sources.push_back(array * l1v_per_array);
  for (unsigned bank = 0; bank < gpu.memory_partitions; ++bank) nodes.guests.destinations.push_back(bank);
  return nodes;
}

Tick LazyGpuParameters::min_response_time(const GpuDeviceParameters& device) const {
  if (!has_zero_caches(lazy.mode)) return kNever;
  const auto time = [](Frequency clock, Cycles cycles) { return clock.period() * cycles.n; };
  const Tick away = device.min_packet_time() + device.min_packet_time() + time(l1z.clock, l1z.tag_latency);
  const Tick written = time(l2z.clock, l2z.write_latency) +
                       time(device.gpu.core_clock, device.cu.vmem_address_latency + device.cu.vmem_return_latency);
  return away + earlier(device.min_response_time_of(l2z), written);
}

ZeroMaskMap LazyGpuParameters::mask_map(const GpuDeviceParameters& device) const {
  return ZeroMaskMap(device.vram_slice(0), LACUNA_VRAM_BASE + LACUNA_VRAM_SIZE, lazy.mask_bits,
                     static_cast<unsigned>(std::min(l1z.line.n, l1z.sector.n)));
}

std::unique_ptr<DeviceExtension> LazyGpuParameters::make(const GpuDeviceParameters& device) const {
  return std::make_unique<LazyGpu>(*this, device);
}

// -- hardware

// Compute units have no sockets for zero caches: requests for masks are for timing only, and there are none in functional mode.
ZeroCaches::ZeroCaches(const LazyGpuParameters& parameters, const GpuDeviceParameters& device)
    : map(parameters.mask_map(device)) {
  const GpuParameters& gpu = device.gpu;
  if (parameters.lazy.masks == MaskWriters::stores && gpu.timing != TimingMode::functional) {
    const AddressSlice vram = device.vram_slice(0);
    known = std::make_unique<ZeroMasks>(vram.base(), vram.size(), gpu.shader_arrays);
  }
  for (unsigned i = 0; i < gpu.shader_arrays; ++i)
    l1z.push_back(std::make_unique<FirstLevelCache>(fmt::format("l1z{}", i).c_str(), parameters.l1z, 0));
  for (unsigned i = 0; i < gpu.memory_partitions; ++i) {
    l2z.push_back(
        std::make_unique<LastLevelCache>(fmt::format("l2z{}", i).c_str(), parameters.l2z, MemoryLevel::l2, 1, map.masks_of(i)));
  }
}

LazyGpu::LazyGpu(const LazyGpuParameters& parameters, const GpuDeviceParameters& device)
    : parameters_(parameters), gpu_(device.gpu), unit_(device.cu), nodes_(parameters.nodes(device)) {
  if (has_zero_caches(parameters_.lazy.mode)) zero_ = std::make_unique<ZeroCaches>(parameters_, device);
}

ZeroPath LazyGpu::zero_path(unsigned shader_array) const {
  if (!zero_) return {};
  return {.l1z = zero_->l1z[shader_array].get(), .map = &zero_->map, .masks = zero_->known.get(), .group = shader_array};
}

std::unique_ptr<LoadStage> LazyGpu::make_stage(const LoadStageContext& context) {
  return std::make_unique<LazyUnit>(parameters_.lazy, context, zero_path(context.place.shader_array));
}

CacheMaintenance* LazyGpu::invalidated_with_l1v(unsigned unit) {
  return zero_ ? zero_->l1z[unit / gpu_.cus_per_shader_array].get() : nullptr;
}

std::vector<ExtensionRequester> LazyGpu::requesters() {
  std::vector<ExtensionRequester> all;
  if (!zero_) return all;
  const std::vector<unsigned>& l1v = nodes_.guests.sources;
  for (unsigned array = 0; array < gpu_.shader_arrays; ++array) {
    all.push_back({.cache = *zero_->l1z[array], .shader_array = array});
    if (!l1v.empty()) all.back().shares_node_of = l1v[array];
  }
  return all;
}

std::optional<ExtensionMemory> LazyGpu::memory() {
  if (!zero_) return std::nullopt;
  ExtensionMemory memory{
      .name = "zero masks", .slice = zero_->map.masks(), .shares_l2_nodes = !nodes_.guests.destinations.empty()};
  for (const auto& bank : zero_->l2z) memory.caches.push_back(bank.get());
  return memory;
}

// Adds the hardware cost of held loads as statistics. The cost depends only on the configuration and is reported so that runs
// can be compared.
void LazyGpu::describe(StatisticsGroup& device) const {
  if (!holds_loads(parameters_.lazy.mode)) return;
  const held_load::Cost cost = held_load::cost(unit_, gpu_.shader_arrays * gpu_.cus_per_shader_array);
  StatisticsGroup& lazy = device.group("lazy_hardware");
  for (const CostLine& line : held_load::lines(cost))
    lazy.add_derived(
        line.name, [value = line.value] { return value; }, line.meaning, line.unit);
}

void LazyGpu::describe_energy(EnergyMeter& meter, const EnergyParameters& energy) const {
  if (!zero_) return;
  const CacheEnergy l1z = energy.l1z.of(parameters_.l1z.size, parameters_.l1z.clock);
  const CacheEnergy l2z = energy.l2z.of(parameters_.l2z.size, parameters_.l2z.clock);
  for (const auto& cache : zero_->l1z) cache->describe_energy(meter, "l1z", l1z);
  for (const auto& bank : zero_->l2z) bank->describe_energy(meter, "l2z", l2z);
}

}  // namespace lacuna
