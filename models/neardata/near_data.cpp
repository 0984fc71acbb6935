#include "models/neardata/near_data.h"

#include <fmt/format.h>

#include <cstdlib>
#include <systemc>

#include "models/neardata/compute_packet.h"
#include "models/neardata/offload_unit.h"
#include "models/neardata/packet_code.h"
#include "models/neardata/service_queue.h"
#include "models/noc/topology/butterfly.h"

namespace lacuna {
namespace {

/// Storage in which a wavefront's packet is built (section 5).
constexpr unsigned kBuilderBytes = 30;

bool is_mesh(const FabricParameters& noc) { return noc.topology == FabricTopology::mesh; }
bool is_butterfly(const FabricParameters& noc) { return noc.topology == FabricTopology::butterfly; }

/// Nodes that can compute on the path of a packet through a butterfly: source, destination and, if `from` is a terminal, that
/// terminal's last switch, through which all packets to the terminal pass. All paths have the same number of stages.
NodePaths butterfly_paths(ButterflyNodes nodes) {
  return [nodes](unsigned from, unsigned to, unsigned) {
    if (from >= nodes.terminals) return std::vector<unsigned>{from, to};
    return std::vector<unsigned>{from, nodes.switch_of(from), to};
  };
}

/// The first core that shares its node with a last-level cache, and that cache; nullopt if no core does.
std::optional<std::pair<unsigned, unsigned>> shared_node(const GpuDeviceParameters& device, unsigned cores) {
  FabricPlacement nodes;
  try {
    nodes = device.placement();
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // the fabric's check reports the invalid placement
  }
  const auto caches_end = nodes.destinations.begin() + device.gpu.memory_partitions;
  for (unsigned core = 0; core < cores; ++core) {
    const auto cache = std::find(nodes.destinations.begin(), caches_end, nodes.sources[core / device.gpu.cus_per_l1v]);
    if (cache != caches_end) return std::pair{core, static_cast<unsigned>(cache - nodes.destinations.begin())};
  }
  return std::nullopt;
}

}  // namespace

// -- parameters

NearDataParameterSet::NearDataParameterSet() { near_data_slots(); }

void NearDataParameterSet::check(const GpuDeviceParameters& device, std::vector<std::string>& problems) const {
  const GpuParameters& gpu = device.gpu;
  if (gpu.timing == TimingMode::functional)
    problems.emplace_back("ndc.mode needs time: gpu.timing = functional has none; set gpu.timing = loose, or ndc.mode = none");
  for (const auto& other : device.extensions.all()) {
    if (other.get() != this && other->is_on())
      problems.emplace_back(
          "ndc.mode and another research machine of loads (lazy.mode, duplo.mode) are both on: set one of them off");
  }
  const unsigned cores = gpu.shader_arrays * gpu.cus_per_shader_array;
  if (cores > ComputePacket::kMostCores) {
    problems.push_back(
        fmt::format("ndc.mode: gpu.shader_arrays x gpu.cus_per_shader_array = {} x {} are {} compute units, a compute packet "
                    "names at most {}; set fewer of them, or ndc.mode = none",
                    gpu.shader_arrays, gpu.cus_per_shader_array, cores, ComputePacket::kMostCores));
  }
  if (const auto shared = shared_node(device, cores)) {
    problems.push_back(
        fmt::format("ndc.mode: core {} and last-level cache {} are at one node of the network; set noc.placement to a node "
                    "for each cache, and noc.source_placement to other ones",
                    shared->first, shared->second));
  }
  if (ndc.mode != NearDataMode::omni) return;
  if (device.noc.topology->has_routers() && !is_mesh(device.noc) && !is_butterfly(device.noc))
    problems.push_back(
        fmt::format("ndc.mode = omni: noc.topology = {} has no nodes on the ways between others; set mesh, butterfly or "
                    "crossbar, or ndc.mode = llc",
                    device.noc.topology->name));
  if (is_butterfly(device.noc)) return;  // operands are in the switches' buffers, not in LDS
  const std::uint64_t bytes = std::uint64_t{ndc.sq_entries} * 2 * device.cu.transaction_bytes;
  if (bytes > device.cu.lds.n)
    problems.push_back(
        fmt::format("ndc.sq_entries = {}: their operands take {} bytes of LDS, cu.lds has {}; at most {} entries fit",
                    ndc.sq_entries, bytes, device.cu.lds.n, device.cu.lds.n / 2 / device.cu.transaction_bytes));
}

ExtensionNodes NearDataParameterSet::nodes(const GpuDeviceParameters& device) const {
  ExtensionNodes nodes;
  nodes.switches = ndc.mode == NearDataMode::omni && is_butterfly(device.noc);
  return nodes;
}

// The memory phase sends packets of service queues up to its lookahead after a window's end. Each packet takes at least the
// minimum packet time, so a response takes at least two packet times.
Tick NearDataParameterSet::min_response_time(const GpuDeviceParameters& device) const {
  const FabricParameters& noc = device.noc;
  Tick between = device.min_packet_time();
  // A core and its last switch are not connected by a link.
  const bool linked = noc.topology->has_routers() && !nodes(device).switches;
  if (linked) between += noc.clock.period() * (noc.router_latency.n + noc.link_latency.n);
  return between + between;
}

std::unique_ptr<DeviceExtension> NearDataParameterSet::make(const GpuDeviceParameters& device) const {
  return std::make_unique<NearData>(ndc, device);
}

// -- hardware

EmnTable meeting_nodes(const Fabric& fabric, unsigned first_l2, const GpuParameters& gpu, const FabricParameters& noc,
                       const std::optional<ButterflyNodes>& switches) {
  std::vector<unsigned> caches;
  for (unsigned i = 0; i < gpu.memory_partitions; ++i) caches.push_back(fabric.destination_node(first_l2 + i));
  std::vector<unsigned> cores;
  for (unsigned i = 0; i < gpu.shader_arrays * gpu.cus_per_shader_array; ++i)
    cores.push_back(fabric.source_node(i / gpu.cus_per_l1v));
  const NodePaths paths = is_mesh(noc) ? mesh_paths(noc.columns) : switches ? butterfly_paths(*switches) : NodePaths();
  return {cores, std::move(caches), paths, is_mesh(noc) ? 2U : 1U};
}

NearData::NearData(const NearDataParameters& parameters, const GpuDeviceParameters& device)
    : gpu_(device.gpu),
      noc_(device.noc),
      cu_(device.cu),
      network_{.parameters = parameters, .clock = Clock(device.gpu.core_clock)},
      tagger_(network_.parameters, device.gpu.target, network_.kernels) {
  network_.line_bytes = device.cu.transaction_bytes;
  network_.flit_bytes = device.noc.width;
  network_.cores.resize(std::size_t{gpu_.shader_arrays} * gpu_.cus_per_shader_array);
  for (unsigned i = 0; i < gpu_.memory_partitions; ++i)
    at_caches_.push_back(std::make_unique<ServiceQueue>(network_, ServiceQueue::Place::cache, i));
  if (parameters.mode != NearDataMode::omni) return;
  if (is_mesh(noc_)) {
    for (unsigned i = 0; i < network_.cores.size(); ++i)
      at_cores_.push_back(std::make_unique<ServiceQueue>(network_, ServiceQueue::Place::core, i));
  } else if (is_butterfly(noc_)) {
    const unsigned terminals = device.placement().nodes * noc_.radix / (noc_.radix + 1);
    butterfly_ = {.terminals = terminals, .radix = noc_.radix};
    for (unsigned i = 0; i < terminals / noc_.radix; ++i)
      at_switches_.push_back(std::make_unique<ServiceQueue>(network_, ServiceQueue::Place::on_switch, i));
  }
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
  network_.meeting =
      meeting_nodes(fabric, first_l2, gpu_, noc_, at_switches_.empty() ? std::nullopt : std::optional(butterfly_));
  network_.queues.assign(fabric.nodes(), nullptr);
  for (unsigned i = 0; i < at_cores_.size(); ++i)
    network_.queues[fabric.source_node(i / gpu_.cus_per_l1v)] = at_cores_[i].get();
  for (unsigned i = 0; i < at_caches_.size(); ++i) network_.queues[network_.meeting->caches()[i]] = at_caches_[i].get();
  for (unsigned i = 0; i < at_switches_.size(); ++i) network_.queues[butterfly_.terminals + i] = at_switches_[i].get();
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
  for (unsigned i = 0; i < at_switches_.size(); ++i)
    all.push_back({.unit = *at_switches_[i], .at = ExtensionUnit::At::node, .number = butterfly_.terminals + i});
  return all;
}

void NearData::reset() {
  running_ = 0;
  failed_ = false;
  lds_.clear();
  note_lds();
  for (const auto* const at : all_queues()) {
    for (const auto& queue : *at) queue->reset();
  }
  network_.most_input.clear();
  tagger_.reset();
}

void NearData::describe(StatisticsGroup& device) const {
  tagger_.statistics().describe(device.group("kernel_tagger"));
  for (std::size_t i = 0; i < at_caches_.size(); ++i)
    at_caches_[i]->statistics().describe(device.group(fmt::format("service_queue_l2_{}", i)));
  for (std::size_t i = 0; i < at_cores_.size(); ++i)
    at_cores_[i]->statistics().describe(device.group(fmt::format("service_queue_cu{}", i)));
  for (std::size_t i = 0; i < at_switches_.size(); ++i)
    at_switches_[i]->statistics().describe(device.group(fmt::format("service_queue_switch{}", i)));
}

// An entry costs as much as registers of its bits that are written and read once: 55 bits in the offload queue, 249 bits in the
// service queue. So does the storage in which a packet is built, 30 bytes (section 5), and each further flit of a packet. The
// table of meeting nodes is read as a register of 8 bits: a node's number, and whether there is one.
void NearData::describe_energy(EnergyMeter& meter, const EnergyParameters& energy) const {
  constexpr double kOffloadWords = 2;
  constexpr double kServiceWords = 8;
  constexpr double kTableWords = 0.25;
  const double word = energy.compute.vgpr_write + energy.compute.vgpr_read;
  const auto words = [](unsigned bytes) { return static_cast<double>(bytes) / sizeof(std::uint32_t); };
  for (const OffloadUnit* const unit : network_.cores) {
    if (unit == nullptr) continue;
    const NearDataStatistics& s = unit->statistics();
    const std::uint64_t& packets = s.counts[static_cast<std::size_t>(NearDataCount::packets)];
    meter.add("ndc", "offload_entry", packets, kOffloadWords * word);
    meter.add("ndc", "packet", packets, words(kBuilderBytes) * word);
    meter.add("ndc", "packet_flit", s.counts[static_cast<std::size_t>(NearDataCount::mask_flits)],
              words(network_.flit_bytes) * word);
    meter.add("ndc", "table_read", s.table_reads, kTableWords * energy.compute.vgpr_read);
    meter.add("l1v", "look_up", s.look_ups, energy.l1v.tag);
  }
  const auto describe = [&](const ServiceQueue& queue) {
    const ServiceQueueStatistics& s = queue.statistics();
    meter.add("ndc", "service_entry", s.packets, kServiceWords * word);
    meter.add("ndc", "alu_lane", s.lanes, energy.compute.valu_f32);
    meter.add("ndc", "kept_line", s.kept, 2 * words(network_.line_bytes) * energy.compute.lds_word);
    meter.add("l2", "fetch", s.fetched, energy.l2.read * static_cast<double>(network_.line_bytes));
  };
  for (const auto* const at : all_queues()) {
    for (const auto& queue : *at) describe(*queue);
  }
  meter.add_static("ndc", leakage(energy.compute), StaticPower::leakage);
}

// Bits of queues and tables leak like bits of the register files, the buffers of switches like an LDS of their size, and ALUs
// by lane. A queue at a core adds no LDS, and no ALU unless it has a dedicated one.
double NearData::leakage(const ComputeEnergy& energy) const {
  const NearDataParameters& ndc = network_.parameters;
  constexpr unsigned kOffloadBits = 55;   // sections 4.4.1 and 5
  constexpr unsigned kServiceBits = 200;  // section 5: 2.4 kB for 96 entries, buffer included
  constexpr unsigned kTableBits = 8;
  const auto number = [](std::size_t n) { return static_cast<double>(n); };
  const double cores = number(network_.cores.size());
  const double queues = number(at_caches_.size() + at_cores_.size() + at_switches_.size());
  const double pairs = number(at_caches_.size() * at_caches_.size());
  const double bits =
      cores * (number(ndc.oq_entries) * kOffloadBits + number(ndc.builders) * kBuilderBytes * 8 + pairs * kTableBits) +
      queues * number(ndc.sq_entries) * kServiceBits;
  const double register_bits = number(cu_.vgprs_per_simd) * isa::kLanes * 32;
  const double buffers = number(at_switches_.size()) * number(ndc.sq_entries) * 2 * number(network_.line_bytes);
  double lanes = number(at_caches_.size() + at_switches_.size()) * number(ndc.llc_alu_lanes);
  if (ndc.core_alu == CoreAlu::dedicated) lanes += number(at_cores_.size()) * number(ndc.core_alu_lanes);
  return bits / register_bits * energy.vgpr_static + buffers / number(cu_.lds.n) * energy.lds_static +
         lanes * energy.valu_static;
}

void NearDataNetwork::fail(const std::string& what) {
  SC_REPORT_FATAL("near-data computing", what.c_str());
  std::abort();
}

std::string NearData::violations() const {
  std::string what;
  const auto add = [&what](const std::string& text) {
    if (!text.empty()) what += (what.empty() ? "" : "; ") + text;
  };
  OffloadFlow cores;
  ServiceQueueFlow queues;
  for (const OffloadUnit* const unit : network_.cores) {
    add(unit->remains());
    cores.packets += unit->flow().packets;
    cores.results += unit->flow().results;
    cores.bounced_lines += unit->flow().bounced_lines;
  }
  for (const auto* const at : all_queues()) {
    for (const auto& queue : *at) {
      add(queue->remains());
      queues.taken += queue->flow().taken;
      queues.bounced += queue->flow().bounced;
      queues.results += queue->flow().results;
      queues.bounced_lines += queue->flow().bounced_lines;
    }
  }
  const auto equal = [&add](const char* name, std::uint64_t sent, std::uint64_t received) {
    if (sent != received) add(fmt::format("{}: {} sent, {} received", name, sent, received));
  };
  equal("compute packets", cores.packets, queues.taken + queues.bounced);
  equal("results", queues.results, cores.results);
  equal("lines of packets not taken", queues.bounced_lines, cores.bounced_lines);
  return what;
}

// Assumes that LDS holds as many workgroups as the wavefront slots allow (section 4.5).
std::uint64_t NearData::lds_of(const WorkgroupNeeds& needs) const {
  const std::uint64_t workgroups = std::max(1U, cu_.simds * cu_.wavefronts_per_simd / std::max(1U, needs.wavefronts));
  return std::min(workgroups * needs.lds_bytes, cu_.lds.n);
}

// Kernels that run at the same time share the wavefront slots, so that together they use no more LDS than the one with the most
// LDS per wavefront would use alone.
void NearData::note_lds() {
  std::uint64_t used = 0;
  for (const auto& [dispatch, bytes] : lds_) used = std::max(used, bytes);
  const std::uint64_t operands = std::uint64_t{network_.parameters.sq_entries} * 2 * network_.line_bytes;
  network_.lds_full = used != 0 && used + operands > cu_.lds.n;
}

void NearData::kernel_started(const Dispatch& dispatch) {
  ++running_;
  lds_[dispatch.index] = lds_of(dispatch.needs);
  note_lds();
  tagger_.started(dispatch);
}

// A failed kernel may leave messages in the network, which arrive later. The check is skipped until all have arrived.
void NearData::kernel_ended(const KernelRecord& record) {
  tagger_.ended(record.index);
  network_.most_input.erase(record.index);
  lds_.erase(record.index);
  note_lds();
  if (running_ > 0) --running_;
  if (!network_.parameters.check) return;
  failed_ |= record.failed;
  if (running_ > 0 || record.unfinished) return;
  const std::string what = violations();
  if (what.empty()) failed_ = false;
  if (!what.empty() && !failed_) NearDataNetwork::fail("ndc.check, after kernel \"" + record.name + "\": " + what);
}

}  // namespace lacuna
