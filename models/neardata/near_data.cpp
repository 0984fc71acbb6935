#include "models/neardata/near_data.h"

#include <fmt/format.h>

#include "models/neardata/offload_unit.h"
#include "models/neardata/service_queue.h"

namespace lacuna {
namespace {

constexpr unsigned kMostCores = 256;  // a packet's field has 8 bits

bool is_mesh(const FabricParameters& noc) { return noc.topology == FabricTopology::mesh; }

}  // namespace

// -- parameters

NearDataParameterSet::NearDataParameterSet() { near_data_slots(); }

void NearDataParameterSet::check(const GpuDeviceParameters& device, std::vector<std::string>& problems) const {
  const GpuParameters& gpu = device.gpu;
  if (gpu.timing == TimingMode::functional) problems.emplace_back("ndc.mode needs time: gpu.timing = functional has none");
  for (const auto& other : device.extensions.all()) {
    if (other.get() != this && other->is_on())
      problems.emplace_back(
          "ndc.mode and another research machine that holds loads (lazy.mode) are both on: set one of them off");
  }
  const unsigned cores = gpu.shader_arrays * gpu.cus_per_shader_array;
  if (cores > kMostCores)
    problems.push_back(fmt::format("ndc.mode: {} compute units, a packet names at most {}", cores, kMostCores));
  if (ndc.mode != NearDataMode::omni) return;
  if (device.noc.topology->has_routers() && !is_mesh(device.noc))
    problems.push_back(
        fmt::format("ndc.mode = omni: noc.topology = {} has no nodes on the ways between others; set mesh, or "
                    "ndc.mode = llc",
                    device.noc.topology->name));
  const std::uint64_t bytes = std::uint64_t{ndc.sq_entries} * 2 * device.cu.transaction_bytes;
  if (bytes > device.cu.lds.n)
    problems.push_back(
        fmt::format("ndc.sq_entries = {}: their operands take {} bytes of LDS, cu.lds has {}; at most {} entries fit",
                    ndc.sq_entries, bytes, device.cu.lds.n, device.cu.lds.n / 2 / device.cu.transaction_bytes));
}

// A packet of a service queue that the memory phase knows about, up to its lookahead after a window's end, has left at least a
// packet's time after it.
Tick NearDataParameterSet::min_response_time(const GpuDeviceParameters& device) const {
  const FabricParameters& noc = device.noc;
  Tick between = device.min_packet_time();
  if (noc.topology->has_routers()) between += noc.clock.period() * (noc.router_latency.n + noc.link_latency.n);
  return between + between;
}

std::unique_ptr<DeviceExtension> NearDataParameterSet::make(const GpuDeviceParameters& device) const {
  return std::make_unique<NearData>(ndc, device);
}

// -- hardware

EmnTable meeting_nodes(const Fabric& fabric, unsigned first_l2, const GpuParameters& gpu, const FabricParameters& noc) {
  std::vector<unsigned> caches;
  for (unsigned i = 0; i < gpu.memory_partitions; ++i) caches.push_back(fabric.destination_node(first_l2 + i));
  std::vector<unsigned> cores;
  for (unsigned i = 0; i < gpu.shader_arrays * gpu.cus_per_shader_array; ++i)
    cores.push_back(fabric.source_node(i / gpu.cus_per_l1v));
  return {cores, std::move(caches), is_mesh(noc) ? mesh_paths(noc.columns) : NodePaths(), 2};
}

NearData::NearData(const NearDataParameters& parameters, const GpuDeviceParameters& device)
    : gpu_(device.gpu),
      noc_(device.noc),
      network_{.parameters = parameters, .clock = Clock(device.gpu.core_clock)},
      tagger_(network_.parameters, device.gpu.target, network_.kernels) {
  network_.line_bytes = device.cu.transaction_bytes;
  network_.cores.resize(std::size_t{gpu_.shader_arrays} * gpu_.cus_per_shader_array);
  for (unsigned i = 0; i < gpu_.memory_partitions; ++i) at_caches_.push_back(std::make_unique<ServiceQueue>(network_, i, 0));
  if (parameters.mode != NearDataMode::omni || !is_mesh(noc_)) return;
  for (unsigned i = 0; i < network_.cores.size(); ++i)
    at_cores_.push_back(std::make_unique<ServiceQueue>(network_, std::nullopt, i));
}

NearData::~NearData() = default;

std::unique_ptr<LoadStage> NearData::make_stage(const LoadStageContext& context) {
  auto unit = std::make_unique<OffloadUnit>(network_, context);
  network_.cores[context.place.index] = unit.get();
  return unit;
}

void NearData::attach_l1v(unsigned unit, FirstLevelCache& cache) { network_.cores[unit]->attach_l1v(cache); }

void NearData::attach_fabric(const Fabric& fabric, unsigned first_l2) {
  network_.fabric = &fabric;
  network_.first_cache = first_l2;
  network_.meeting = meeting_nodes(fabric, first_l2, gpu_, noc_);
  network_.queues.assign(fabric.nodes(), nullptr);
  for (unsigned i = 0; i < at_cores_.size(); ++i)
    network_.queues[fabric.source_node(i / gpu_.cus_per_l1v)] = at_cores_[i].get();
  for (unsigned i = 0; i < at_caches_.size(); ++i) network_.queues[network_.meeting->caches()[i]] = at_caches_[i].get();
}

std::vector<ExtensionUnit> NearData::units() {
  std::vector<ExtensionUnit> all;
  for (unsigned i = 0; i < network_.cores.size(); ++i) {
    all.push_back({.unit = *network_.cores[i],
                   .at = ExtensionUnit::At::l1v,
                   .number = i / gpu_.cus_per_l1v,
                   .shader_array = i / gpu_.cus_per_shader_array});
  }
  for (unsigned i = 0; i < at_caches_.size(); ++i)
    all.push_back({.unit = *at_caches_[i], .at = ExtensionUnit::At::l2_bank, .number = i});
  for (unsigned i = 0; i < at_cores_.size(); ++i)
    all.push_back({.unit = *at_cores_[i], .at = ExtensionUnit::At::l1v, .number = i / gpu_.cus_per_l1v});
  return all;
}

void NearData::reset() {
  for (const auto& queue : at_caches_) queue->reset();
  for (const auto& queue : at_cores_) queue->reset();
  tagger_.reset();
}

void NearData::describe(StatisticsGroup& device) const {
  tagger_.statistics().describe(device.group("kernel_tagger"));
  for (std::size_t i = 0; i < at_caches_.size(); ++i)
    at_caches_[i]->statistics().describe(device.group(fmt::format("service_queue_l2_{}", i)));
  for (std::size_t i = 0; i < at_cores_.size(); ++i)
    at_cores_[i]->statistics().describe(device.group(fmt::format("service_queue_cu{}", i)));
}

void NearData::describe_energy(EnergyMeter& meter, const EnergyParameters& energy) const {
  // Entries are registers of their size: 55 bits in the offload queue, 249 in the service queue, each written and read once.
  constexpr double kOffloadWords = 2;
  constexpr double kServiceWords = 8;
  const double word = energy.compute.vgpr_write + energy.compute.vgpr_read;
  const auto line_words = static_cast<double>(network_.line_bytes) / sizeof(std::uint32_t);
  for (const OffloadUnit* const unit : network_.cores) {
    if (unit == nullptr) continue;
    const NearDataStatistics& s = unit->statistics();
    meter.add("ndc", "offload_entry", s.counts[static_cast<std::size_t>(NearDataCount::packets)], kOffloadWords * word);
    meter.add("l1v", "look_up", s.look_ups, energy.l1v.tag);
  }
  const auto describe = [&](const ServiceQueue& queue) {
    const ServiceQueueStatistics& s = queue.statistics();
    meter.add("ndc", "service_entry", s.packets, kServiceWords * word);
    meter.add("ndc", "alu_lane", s.lanes, energy.compute.valu_f32);
    meter.add("ndc", "kept_line", s.kept, 2 * line_words * energy.compute.lds_word);
    meter.add("l2", "fetch", s.fetched, energy.l2.read * static_cast<double>(network_.line_bytes));
  };
  for (const auto& queue : at_caches_) describe(*queue);
  for (const auto& queue : at_cores_) describe(*queue);
}

}  // namespace lacuna
