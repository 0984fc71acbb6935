#include "models/gpu/gpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "include/lacuna/abi/memory_map.h"
#include "models/common/time/tlm_time.h"
#include "models/noc/detail/host_prefetch.h"
#include "models/sampling/kernel_sampler.h"
#include "models/sampling/skipped_results.h"
#include "models/sampling/untimed_units.h"

namespace lacuna {

namespace {

constexpr std::uint64_t kVramBase = LACUNA_VRAM_BASE;

std::string name_of(const char* what, std::size_t index) { return fmt::format("{}{}", what, index); }

// Initial size in bytes of the arena for the compute units' state; the arena grows if necessary.
std::size_t state_bytes(const GpuDeviceParameters& p) {
  const std::size_t registers = std::size_t{p.cu.simds} * p.cu.vgprs_per_simd * isa::kLanes * sizeof(std::uint32_t);
  const std::size_t units = p.gpu.shader_arrays * p.gpu.cus_per_shader_array;
  constexpr std::size_t kWavefront = 4096;  // state, counters and accounts of a wavefront, rounded up
  return units * (registers + p.cu.lds.n + std::size_t{p.cu.simds} * p.cu.wavefronts_per_simd * kWavefront);
}

}  // namespace

GpuDevice::GpuDevice(sc_core::sc_module_name module_name, const GpuDeviceParameters& parameters, WorkerThreads* threads)
    : sc_module(module_name),
      parameters_(parameters),
      destinations_{.l2_banks = parameters.gpu.memory_partitions},
      vram_(parameters.vram.size),
      threads_(threads),
      code_(vm_, parameters.gpu.target, parameters.mfma.codes()),
      lds_banks_(parameters.gpu.shader_arrays),
      vector_workspaces_(parameters.gpu.shader_arrays, VectorWorkspace(parameters.cu.transaction_bytes)),
      state_memory_(state_bytes(parameters), &huge_pages_),
      windows_("windows", Clock(parameters.gpu.core_clock), parameters.gpu.timing, parameters.window(), threads),
      dispatcher_("dispatcher", parameters.dispatcher, Clock(parameters.gpu.core_clock), windows_.length()) {
  if (const auto problems = parameters.check(); !problems.empty()) throw std::invalid_argument(problems.front());
  build_l1_caches();
  build_extensions();
  build_translation();
  build_compute_units();
  build_command_processor();
  build_sdma();
  build_noc();
  build_memory();
  build_memory_phase();
  build_copies();
  if (parameters_.gpu.request_interval != Tick{}) build_requests();
  if (parameters_.energy.on()) build_energy();
  if (parameters_.gpu.timing == TimingMode::sampled) build_sampler();
  add_observer(*this);
  for (const auto& extension : extensions_) {
    if (KernelObserver* const observer = extension->kernel_observer()) add_observer(*observer);
    if (isa::CodeObserver* const observer = extension->code_observer()) code_.attach(*observer);
    if (DispatchCheck* const check = extension->dispatch_check()) cp_->packets.add_dispatch_check(*check);
    if (PacketEngine* const engine = extension->packet_engine()) cp_->packets.add_engine(*engine);
  }
  if (parameters.gpu.timing != TimingMode::functional) cp_->packets.set_resource_meter(*this);
}

GpuDevice::~GpuDevice() = default;

void GpuDevice::build_l1_caches() {
  const GpuParameters& gpu = parameters_.gpu;
  const auto make = [](const char* name, std::size_t index, const CacheParameters& p, unsigned sharers) {
    return std::make_unique<FirstLevelCache>(name_of(name, index).c_str(), p, sharers);
  };
  const std::size_t vector_caches = std::size_t{gpu.shader_arrays} * gpu.cus_per_shader_array / gpu.cus_per_l1v;
  while (l1v_.size() < vector_caches) l1v_.push_back(make("l1v", l1v_.size(), parameters_.l1v, gpu.cus_per_l1v));
  while (arrays_.size() < gpu.shader_arrays) {
    ShaderArray array;
    array.l1s = make("l1s", arrays_.size(), parameters_.l1s, gpu.cus_per_shader_array);
    array.l1i = make("l1i", arrays_.size(), parameters_.l1i, gpu.cus_per_shader_array);
    arrays_.push_back(std::move(array));
  }
}

void GpuDevice::build_extensions() {
  for (const auto& parameters : parameters_.extensions.all()) {
    if (!parameters->is_on()) continue;
    extensions_.push_back(parameters->make(parameters_));
    DeviceExtension& extension = *extensions_.back();
    extension.attach_code(vm_, code_);
    for (ExtensionRequester& requester : extension.requesters()) extension_requesters_.push_back(requester);
    if (auto memory = extension.memory()) {
      if (extension_memory_)
        throw std::invalid_argument(extension_memory_->name + " and " + memory->name +
                                    " cannot both be connected to DRAM channels");
      extension_memory_ = std::move(memory);
    }
    if (threads_ != nullptr) extension.attach_threads(*threads_);
    extension.attach_windows(windows_);
    for (Agent* const agent : extension.agents()) {
      agents_.add(*agent);
      extension_agents_.push_back(agent);
    }
  }
}

void GpuDevice::build_translation() {
  const GpuParameters& gpu = parameters_.gpu;
  if (gpu.translation == Translation::free || gpu.timing == TimingMode::functional) return;
  page_walker_ = std::make_unique<PageWalker>(parameters_.page_walker);
  l2_tlb_ = std::make_unique<Tlb>(parameters_.l2_tlb, *page_walker_);
  const auto make_l1_tlb = [this] { return std::make_unique<FirstLevelTlb>(parameters_.l1_tlb, *l2_tlb_); };
  const std::size_t units = std::size_t{gpu.shader_arrays} * gpu.cus_per_shader_array;
  while (l1v_tlbs_.size() < units) l1v_tlbs_.push_back(make_l1_tlb());
  for (ShaderArray& array : arrays_) {
    array.l1s_tlb = make_l1_tlb();
    array.l1i_tlb = make_l1_tlb();
  }
  for (const auto& extension : extensions_) {
    if (Tlb* const tlb = extension->attach_translation(*l2_tlb_)) extension_tlbs_.push_back(tlb);
  }
  vm_.on_unmap([this] {
    for (FirstLevelTlb* tlb : l1_tlbs()) tlb->invalidate();
    for (Tlb* tlb : extension_tlbs_) tlb->invalidate();
    l2_tlb_->invalidate();
  });
}

ComputeUnitPorts GpuDevice::ports_of(const ComputeUnitPlace& place) {
  const unsigned sharers = parameters_.gpu.cus_per_l1v;
  const auto port = [](FirstLevelCache& cache, unsigned sharer, FirstLevelTlb* tlb) {
    return ComputeUnitPorts::Port{.cache = cache, .socket = cache.upstream[sharer], .tlb = tlb};
  };
  ShaderArray& array = arrays_[place.shader_array];
  return {.vector = port(*l1v_[place.index / sharers], place.index % sharers,
                         l1v_tlbs_.empty() ? nullptr : l1v_tlbs_[place.index].get()),
          .scalar = port(*array.l1s, place.in_array, array.l1s_tlb.get()),
          .instruction = port(*array.l1i, place.in_array, array.l1i_tlb.get())};
}

void GpuDevice::build_compute_units() {
  const GpuParameters& gpu = parameters_.gpu;
  std::vector<LoadStageFactory> stages;
  for (const auto& extension : extensions_)
    stages.emplace_back([&extension = *extension](const LoadStageContext& context) { return extension.make_stage(context); });
  for (unsigned index = 0; index < gpu.shader_arrays * gpu.cus_per_shader_array; ++index) {
    const ComputeUnitPlace place{
        .index = index, .shader_array = index / gpu.cus_per_shader_array, .in_array = index % gpu.cus_per_shader_array};
    const ComputeUnitContext context{.mode = gpu.timing,
                                     .target = gpu.target,
                                     .clock = Clock(gpu.core_clock),
                                     .timestamp = Clock(gpu.timestamp_clock),
                                     .vm = vm_,
                                     .code = code_,
                                     .lds_banks = lds_banks_[place.shader_array],
                                     .vector_workspace = &vector_workspaces_[place.shader_array],
                                     .listener = dispatcher_,
                                     .matrix = parameters_.mfma,
                                     .stages = stages,
                                     .fine_grained_float_atomics = gpu.fine_grained_float_atomics,
                                     .memory = state_memory_};
    if (index == 0 && gpu.timing == TimingMode::sampled)
      untimed_units_ =
          std::make_unique<UntimedUnits>("untimed_units", parameters_.cu, context, gpu.shader_arrays, dispatcher_, threads_);
    units_.push_back(std::make_unique<ComputeUnit>(name_of("cu", index).c_str(), parameters_.cu, place, context));
    ComputeUnit& unit = *units_.back();
    const ComputeUnitPorts ports = ports_of(place);
    unit.vector_port.bind(ports.vector.socket);
    unit.scalar_port.bind(ports.scalar.socket);
    unit.instruction_port.bind(ports.instruction.socket);
    unit.attach_memory(ports.vector.cache, ports.scalar.cache, ports.instruction.cache);
    std::vector<CacheMaintenance*> vector_caches{&ports.vector.cache};
    for (const auto& extension : extensions_) {
      if (CacheMaintenance* const cache = extension->invalidated_with_l1v(index)) vector_caches.push_back(cache);
    }
    CacheMaintenance* invalidated = vector_caches.front();
    if (vector_caches.size() > 1) {
      vector_caches_.push_back(std::make_unique<CachesTogether>(std::move(vector_caches)));
      invalidated = vector_caches_.back().get();
    }
    unit.attach_caches(invalidated, &ports.scalar.cache, &ports.instruction.cache);
    unit.attach_tlbs(ports.vector.tlb, ports.scalar.tlb, ports.instruction.tlb);
    for (const auto& extension : extensions_) extension->attach_l1v(index, ports.vector.cache);
  }
  // The units of a shader array share its caches.
  const std::vector<ComputeUnit*> units = unit_pointers();
  for (auto first = units.begin(); first != units.end(); first += gpu.cus_per_shader_array) {
    windows_.add_group({first, first + gpu.cus_per_shader_array});
  }
}

void GpuDevice::build_command_processor() {
  const GpuParameters& gpu = parameters_.gpu;
  PacketProcessorParameters packet_parameters = parameters_.cp;
  std::vector<ComputeUnit*> units = unit_pointers();
  if (untimed_units_) {
    const std::vector<ComputeUnit*> untimed = untimed_units_->units();
    units.insert(units.end(), untimed.begin(), untimed.end());
  }
  packet_parameters.start_phase = gpu.start_phase;
  const DeviceDescription device{.target = gpu.target,
                                 .shader_arrays = gpu.shader_arrays,
                                 .compute_units = gpu.shader_arrays * gpu.cus_per_shader_array,
                                 .compute_unit = parameters_.cu,
                                 .vram_base = kVramBase,
                                 .vram_size = vram_.size().n,
                                 .core_clock = gpu.core_clock,
                                 .timestamp_clock = gpu.timestamp_clock};
  cp_ = std::make_unique<CommandProcessor>("cp", parameters_.mmio, packet_parameters,
                                           CommandProcessorContext{.device = device,
                                                                   .mode = gpu.timing,
                                                                   .vm = vm_,
                                                                   .code = code_,
                                                                   .dispatcher = dispatcher_,
                                                                   .units = std::move(units)});
  cp_->set_host_memory([this](std::uint64_t address, std::uint64_t bytes) { return host_memory(address, bytes); });
  cp_->set_device_reset([this] { reset(); });
  dispatcher_.attach(unit_pointers(), cp_->packets);
  agents_.add(cp_->packets);
  agents_.add(dispatcher_);
}

void GpuDevice::build_sdma() {
  const GpuParameters& gpu = parameters_.gpu;
  for (unsigned i = 0; i < parameters_.sdma.engines; ++i) {
    sdma_.push_back(std::make_unique<SdmaEngine>(name_of("sdma", i).c_str(), parameters_.sdma,
                                                 SdmaEngineContext{.index = i,
                                                                   .clock = Clock(gpu.core_clock),
                                                                   .timestamp = Clock(gpu.timestamp_clock),
                                                                   .mode = gpu.timing,
                                                                   .lookahead = windows_.length(),
                                                                   .target = gpu.target,
                                                                   .vm = vm_}));
    sdma_.back()->set_tlb(l2_tlb_.get());
    for (const auto& extension : extensions_) {
      if (WriteObserver* const observer = extension->write_observer()) sdma_.back()->add_write_observer(*observer);
    }
    agents_.add(*sdma_.back());
  }
}

// Sources that share nodes have the last numbers, as FabricGuests requires.
void GpuDevice::find_requesters() {
  const GpuParameters& gpu = parameters_.gpu;
  for (unsigned i = 0; i < l1v_.size(); ++i) {
    const unsigned array = i * gpu.cus_per_l1v / gpu.cus_per_shader_array;
    requesters_.push_back({.socket = l1v_[i]->downstream, .cache = l1v_[i].get(), .shader_array = array});
  }
  for (const auto level : {&ShaderArray::l1s, &ShaderArray::l1i}) {
    for (unsigned array = 0; array < arrays_.size(); ++array) {
      FirstLevelCache& cache = *(arrays_[array].*level);
      requesters_.push_back({.socket = cache.downstream, .cache = &cache, .shader_array = array});
    }
  }
  requesters_.push_back({.socket = cp_->packets.memory});
  for (const auto& engine : sdma_) requesters_.push_back({.socket = engine->memory});
  const auto add_extensions = [this](bool guests) {
    for (const ExtensionRequester& added : extension_requesters_) {
      if (added.shares_node_of.has_value() != guests) continue;
      requesters_.push_back({.socket = added.cache.downstream,
                             .cache = &added.cache,
                             .shader_array = added.shader_array,
                             .shares_node_of = added.shares_node_of});
    }
  };
  add_extensions(false);
  first_unit_node_ = static_cast<unsigned>(requesters_.size());
  for (unsigned i = 0; i < parameters_.extension_nodes().units; ++i) {
    unit_nodes_.push_back(std::make_unique<UnitNode>(name_of("unit_node", i).c_str()));
    requesters_.push_back({.socket = unit_nodes_.back()->socket});
  }
  add_extensions(true);
}

void GpuDevice::build_noc() {
  const GpuParameters& gpu = parameters_.gpu;
  find_requesters();
  FabricGuests guests;
  for (const Requester& requester : requesters_) {
    if (requester.shares_node_of) guests.sources.push_back(*requester.shares_node_of);
  }
  if (extension_memory_ && extension_memory_->shares_l2_nodes) {
    for (unsigned i = 0; i < destinations_.l2_banks; ++i) guests.destinations.push_back(destinations_.first_l2 + i);
  }
  std::vector<AddressRoute> routes;
  routes.push_back({.name = "host below VRAM", .base = 0, .size = Bytes{kVramBase}, .first_destination = destinations_.host});
  routes.push_back({.name = "VRAM",
                    .base = kVramBase,
                    .size = vram_.size(),
                    .first_destination = destinations_.first_l2,
                    .count = destinations_.l2_banks,
                    .interleave = gpu.partition_interleave,
                    .hash = gpu.partition_hash});
  if (extension_memory_) {
    const AddressSlice& slice = extension_memory_->slice;
    routes.push_back({.name = extension_memory_->name,
                      .base = slice.base(),
                      .size = slice.size(),
                      .first_destination = destinations_.first_of_extension,
                      .count = slice.count(),
                      .interleave = slice.interleave()});
  }
  noc_ = make_fabric("noc", parameters_.fabric(), static_cast<unsigned>(requesters_.size() - guests.sources.size()),
                     AddressRoutes(std::move(routes)), guests);
  for (std::size_t i = 0; i < requesters_.size(); ++i) requesters_[i].socket.bind(noc_->sources[i]);
  for (const auto& extension : extensions_) extension->attach_fabric(*noc_, destinations_.first_l2);
}

void GpuDevice::build_memory() {
  std::vector<CacheMaintenance*> l2;
  for (unsigned i = 0; i < destinations_.l2_banks; ++i) {
    const unsigned destination = destinations_.first_l2 + i;
    const AddressSlice slice = noc_->routes().slice(destination);
    l2_.push_back(std::make_unique<LastLevelCache>(name_of("l2_", i).c_str(), parameters_.l2, MemoryLevel::l2, 1, slice));
    std::optional<AddressSlice> second;
    if (extension_memory_) {
      const AddressSlice& all = extension_memory_->slice;
      second = AddressSlice(all.base(), all.size(), all.interleave(), all.count(), i);
    }
    dram_.push_back(std::make_unique<DramChannel>(name_of("dram", i).c_str(), parameters_.dram, slice, vram_, 0, second));
    noc_->destinations[destination].bind(l2_.back()->upstream[0]);
    detail::FabricPrefetch::attach(*noc_, destination, l2_.back().get());
    l2_.back()->downstream.bind(dram_.back()->memory);
    l2.push_back(l2_.back().get());
    for (const auto& extension : extensions_) extension->attach_l2(i, *l2_.back());
    if (!extension_memory_) continue;
    build_extension_memory(i);
    l2.push_back(extension_memory_->caches[i]);
  }
  const std::vector<FirstLevelCache*> caches = l1_caches();
  std::vector<CacheMaintenance*> l1(caches.begin(), caches.end());
  for (const ExtensionRequester& added : extension_requesters_) l1.push_back(&added.cache);
  cp_->packets.set_caches(std::move(l1), std::move(l2));
}

// Connects an extension's cache to the DRAM channel of the partition's L2 bank.
void GpuDevice::build_extension_memory(unsigned partition) {
  LastLevelCache& cache = *extension_memory_->caches[partition];
  const unsigned destination = destinations_.first_of_extension + partition;
  noc_->destinations[destination].bind(cache.upstream[0]);
  detail::FabricPrefetch::attach(*noc_, destination, &cache);
  cache.downstream.bind(dram_[partition]->second[0]);
}

// Functional mode needs no memory phase.
void GpuDevice::build_memory_phase() {
  if (parameters_.gpu.timing == TimingMode::functional) return;
  memory_phase_ = std::make_unique<MemoryPhase>(*noc_, l2_tlb_.get(), threads_, parameters_.min_packet_time());
  for (unsigned source = 0; source < requesters_.size(); ++source) {
    const Requester& requester = requesters_[source];
    if (requester.cache != nullptr) memory_phase_->add(*requester.cache, source, requester.shader_array);
  }
  const auto node_of = [this](const ExtensionUnit& unit) {
    switch (unit.at) {
      case ExtensionUnit::At::l1v:
        return noc_->source_node(unit.number);
      case ExtensionUnit::At::l2_bank:
        return noc_->destination_node(destinations_.first_l2 + unit.number);
      case ExtensionUnit::At::own:
        return noc_->source_node(first_unit_node_ + unit.number);
      case ExtensionUnit::At::node:
        break;
    }
    return unit.number;
  };
  for (const auto& extension : extensions_) {
    for (const ExtensionUnit& added : extension->units()) {
      const unsigned node = node_of(added);
      const bool ahead = !added.shader_array.has_value();
      memory_phase_->add(added.unit, node, ahead ? parameters_.gpu.shader_arrays : *added.shader_array, ahead);
    }
  }
  if (page_walker_) {
    for (unsigned i = 0; i < l1v_tlbs_.size(); ++i) memory_phase_->add(*l1v_tlbs_[i], i / parameters_.gpu.cus_per_shader_array);
    for (const auto tlb : {&ShaderArray::l1s_tlb, &ShaderArray::l1i_tlb}) {
      for (unsigned array = 0; array < arrays_.size(); ++array) memory_phase_->add(*(arrays_[array].*tlb), array);
    }
  }
  for (unsigned i = 0; i < destinations_.l2_banks; ++i)
    memory_phase_->add_destination(destinations_.first_l2 + i, *l2_[i], &dram_[i]->port());
  if (extension_memory_) {
    for (unsigned i = 0; i < destinations_.l2_banks; ++i) {
      memory_phase_->add_destination(destinations_.first_of_extension + i, *extension_memory_->caches[i],
                                     &dram_[i]->second_port(), destinations_.first_l2 + i);
    }
  }
  for (const auto& extension : extensions_) {
    if (WindowObserver* const observer = extension->window_observer()) memory_phase_->attach(*observer);
  }
  windows_.attach(memory_phase_.get());
}

void GpuDevice::build_copies() {
  std::vector<WriteObserver*> write_observers;
  for (const auto& extension : extensions_) {
    if (WriteObserver* const observer = extension->write_observer()) write_observers.push_back(observer);
  }
  for (const auto& extension : extensions_) extension->attach_writes(write_observers);
  const auto others = [this] {
    return static_cast<unsigned>(
        std::count_if(extension_agents_.begin(), extension_agents_.end(), [](const Agent* agent) { return agent->busy(); }));
  };
  copies_ = std::make_unique<DeviceCopies>(DeviceCopies::Device{.vm = vm_,
                                                                .dispatcher = dispatcher_,
                                                                .packets = cp_->packets,
                                                                .engines = sdma_,
                                                                .l2 = l2_,
                                                                .dram = dram_,
                                                                .l2_parameters = parameters_.l2,
                                                                .l1_tlbs = l1v_tlbs_,
                                                                .l1_tlb_parameters = parameters_.l1_tlb,
                                                                .l2_tlb = l2_tlb_.get(),
                                                                .l2_tlb_parameters = parameters_.l2_tlb,
                                                                .routes = noc_->routes(),
                                                                .write_observers = std::move(write_observers),
                                                                .other_users = others,
                                                                .used = [this] { return used(); }});
  describe_memory([this](const std::string& name, const DeviceCopies::Describe& describe) { copies_->count(name, describe); });
  for (const auto& extension : extensions_) extension->attach_copies(*copies_);
  if (parameters_.gpu.copies != CopyMode::bulk) return;
  cp_->packets.set_copy_context(*copies_);
  for (const auto& engine : sdma_) engine->set_copy_context(*copies_);
}

void GpuDevice::build_requests() {
  const Tick window = Clock(parameters_.gpu.core_clock).ticks(windows_.length());
  requests_ = std::make_unique<DeviceRequests>(parameters_.gpu.request_interval, window, *memory_phase_);
  for (const auto& unit : units_) unit->count_requests(requests_->add([&unit = *unit] { return unit.oldest_load(); }));
  windows_.attach(requests_.get());
}

// Resets the agents first: after their reset no component sends requests.
void GpuDevice::reset() {
  agents_.reset();
  copies_->reset();
  for (FirstLevelCache* cache : l1_caches()) cache->reset();
  for (FirstLevelTlb* tlb : l1_tlbs()) tlb->reset();
  for (Tlb* tlb : extension_tlbs_) tlb->reset();
  if (page_walker_) {
    l2_tlb_->reset();
    page_walker_->reset();
  }
  noc_->reset();
  for (const auto& bank : l2_) bank->reset();
  for (const ExtensionRequester& added : extension_requesters_) added.cache.reset();
  if (extension_memory_) {
    for (LastLevelCache* const cache : extension_memory_->caches) cache->reset();
  }
  for (const auto& channel : dram_) channel->reset();
  for (const auto& extension : extensions_) extension->reset();
  if (memory_phase_) memory_phase_->reset();
  if (sampler_) sampler_->reset();
}

void GpuDevice::kernel_ended(const KernelRecord&) {
  const Tick now = kernel_time();
  agents_.retire(now);
  if (requests_ != nullptr) requests_->advance(now);
}

// -- lists of all components of a kind, in the order of the statistics

std::vector<ComputeUnit*> GpuDevice::unit_pointers() const {
  std::vector<ComputeUnit*> all;
  for (const auto& unit : units_) all.push_back(unit.get());
  return all;
}

std::vector<FirstLevelCache*> GpuDevice::l1_caches() const {
  std::vector<FirstLevelCache*> all;
  for (const auto& cache : l1v_) all.push_back(cache.get());
  for (const ShaderArray& array : arrays_) all.push_back(array.l1s.get());
  for (const ShaderArray& array : arrays_) all.push_back(array.l1i.get());
  return all;
}

std::vector<FirstLevelTlb*> GpuDevice::l1_tlbs() const {
  std::vector<FirstLevelTlb*> all;
  if (!page_walker_) return all;
  for (const auto& tlb : l1v_tlbs_) all.push_back(tlb.get());
  for (const ShaderArray& array : arrays_) all.push_back(array.l1s_tlb.get());
  for (const ShaderArray& array : arrays_) all.push_back(array.l1i_tlb.get());
  return all;
}

// GPU memory belongs to the device. Other addresses are requested from the host bus, which grants access to RAM only.
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

void GpuDevice::add_observer(KernelObserver& observer) { cp_->packets.add_observer(observer); }

// Calls `to` with the name and the statistics of each part, other than the compute units, that GPU kernels and copies use.
void GpuDevice::describe_memory(const std::function<void(const std::string&, const DeviceCopies::Describe&)>& to) const {
  const auto describe = [&to](const std::string& name, const auto& model) {
    to(name, [&model](StatisticsGroup& group) { model.statistics().describe(group); });
  };
  for (const FirstLevelCache* cache : l1_caches()) describe(cache->basename(), *cache);
  for (const auto& bank : l2_) describe(bank->basename(), *bank);
  for (const ExtensionRequester& added : extension_requesters_) describe(added.cache.basename(), added.cache);
  if (extension_memory_) {
    for (const LastLevelCache* cache : extension_memory_->caches) describe(cache->basename(), *cache);
  }
  if (page_walker_) {
    for (std::size_t i = 0; i < l1v_tlbs_.size(); ++i) describe(name_of("l1v_tlb", i), *l1v_tlbs_[i]);
    for (std::size_t i = 0; i < arrays_.size(); ++i) describe(name_of("l1s_tlb", i), *arrays_[i].l1s_tlb);
    for (std::size_t i = 0; i < arrays_.size(); ++i) describe(name_of("l1i_tlb", i), *arrays_[i].l1i_tlb);
    describe("l2_tlb", *l2_tlb_);
    to("page_walker", [this](StatisticsGroup& group) { page_walker_->describe(group); });
  }
  to("noc", [this](StatisticsGroup& group) { noc_->describe(group); });
  for (const auto& channel : dram_) describe(channel->basename(), *channel);
}

void GpuDevice::describe_statistics(StatisticsGroup& group) const {
  agents_.describe_statistics(group);
  describe_memory([&group](const std::string& name, const DeviceCopies::Describe& describe) { describe(group.group(name)); });
  copies_->add_to(group);
  if (sampler_) sampler_->describe_statistics(group);
  for (const auto& extension : extensions_) extension->describe(group);
}

}  // namespace lacuna
