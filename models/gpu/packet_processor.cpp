#include "models/gpu/packet_processor.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <ostream>

#include "models/common/tlm_time.h"
#include "models/gpu/initial_state.h"

namespace lacuna {

namespace {

double host_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Written to the queue's inactive signal: the codes that the ROCm runtime knows.
std::uint32_t runtime_error_code(std::uint32_t error) {
  switch (error) {
    case LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION:
      return 0x40000000u;
    case LACUNA_QUEUE_ERROR_MEMORY_FAULT:
      return 0x20000000u;
    case LACUNA_QUEUE_ERROR_TRAP:
      return 0x80000000u;
    case LACUNA_QUEUE_ERROR_KERNEL_OBJECT:
      return 8u;
    default:
      return 0x20u;
  }
}

std::uint32_t queue_error_of_fault(std::uint32_t fault) {
  switch (fault) {
    case LACUNA_FAULT_ILLEGAL_INSTRUCTION:
      return LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION;
    case LACUNA_FAULT_TRAP:
      return LACUNA_QUEUE_ERROR_TRAP;
    default:
      return LACUNA_QUEUE_ERROR_MEMORY_FAULT;
  }
}

}  // namespace

void PacketProcessorParameters::describe(ParameterSection& s) {
  constexpr std::string_view kAssumed = "assumption, see docs/DEVIATIONS.md";
  s.add("queue_slots", queue_slots, "Hardware queue slots", {.range = {1, 512}, .unit = "queues", .source = kAssumed});
  s.add("dispatches_in_flight", dispatches_in_flight, "Kernel dispatches of one queue that may run at the same time",
        {.range = {1, 64}, .unit = "dispatches", .source = kAssumed});
  s.add("packet_latency", packet_latency, "Core cycles to process one packet", {.range = {0, 1'000'000}, .source = kAssumed});
  s.add("poll_interval", poll_interval, "How often signals and packets that are not ready are looked at again",
        {.range = {1000, 1e9}, .source = kAssumed});
}

void PacketProcessorStatistics::describe(StatisticsGroup& g) const {
  g.add("dispatches", dispatches, "kernel dispatch packets started", "packets");
  g.add("barriers", barriers, "barrier packets carried out", "packets");
  g.add("queue_errors", queue_errors, "times a queue went to the failed state", "events");
  g.add("doorbells", doorbells, "doorbell writes", "writes");
  g.add("signals", signals, "completion signals decremented", "signals");
  g.add("acquires", acquires, "acquire fences that invalidated L1 caches", "fences");
  g.add("releases", releases, "release fences that wrote back L2", "fences");
}

PacketProcessor::PacketProcessor(sc_core::sc_module_name name, const PacketProcessorParameters& parameters, Clock clock,
                                 Clock timestamp, TimingMode mode, isa::Target target, GpuVm& vm, isa::DecodedCode& code,
                                 Dispatcher& dispatcher, InterruptSink& interrupts)
    : sc_module(name),
      memory("memory"),
      parameters_(parameters),
      clock_(clock),
      timestamp_(timestamp),
      mode_(mode),
      target_(target),
      vm_(vm),
      code_(code),
      dispatcher_(dispatcher),
      interrupts_(interrupts),
      symbols_(vm),
      code_check_(vm, target),
      slots_(parameters.queue_slots),
      work_("work") {
  SC_HAS_PROCESS(PacketProcessor);
  SC_THREAD(process);
}

void PacketProcessor::attach_caches(std::vector<CacheMaintenance*> l1, std::vector<CacheMaintenance*> l2) {
  l1_ = std::move(l1);
  l2_ = std::move(l2);
}

Tick PacketProcessor::now() const { return to_tick(sc_core::sc_time_stamp()); }

// -- queues

hsa::Queue* PacketProcessor::queue_memory(const QueueSlot& queue) const {
  return reinterpret_cast<hsa::Queue*>(vm_.pointer(queue.address, sizeof(hsa::Queue), isa::Access::read_write));
}

std::uint32_t PacketProcessor::create_queue(unsigned slot, std::uint64_t aql_queue, const QueueSetup&) {
  if (slot >= slots_.size() || slots_[slot].state != QueueSlot::State::inactive) {
    spdlog::error("{}: queue slot {} {}", name(), slot, slot >= slots_.size() ? "does not exist" : "is in use");
    return LACUNA_QUEUE_ERROR_SLOT;
  }
  QueueSlot queue;
  queue.address = aql_queue;
  const hsa::Queue* aql = aql_queue % 64 == 0 ? queue_memory(queue) : nullptr;
  const bool ring_ok =
      aql != nullptr && std::has_single_bit(aql->size) && aql->base_address % hsa::kPacketBytes == 0 &&
      vm_.pointer(aql->base_address, std::uint64_t{aql->size} * hsa::kPacketBytes, isa::Access::read_write) != nullptr;
  if (!ring_ok) {
    spdlog::error(
        "{}: queue slot {}: no usable amd_queue_t at {:#x}: it must be mapped, 64-byte aligned, with a mapped ring of a "
        "power-of-two number of packets",
        name(), slot, aql_queue);
    return LACUNA_QUEUE_ERROR_DESCRIPTOR;
  }
  queue.state = QueueSlot::State::active;
  queue.generation = ++generations_;
  queue.next = queue.retired = queue.rung = aql->read_dispatch_id;
  slots_[slot] = std::move(queue);
  return LACUNA_QUEUE_ERROR_NONE;
}

std::uint32_t PacketProcessor::destroy_queue(unsigned slot) {
  if (slot >= slots_.size() || slots_[slot].state == QueueSlot::State::inactive) {
    spdlog::error("{}: destroy of queue slot {}, which is not in use", name(), slot);
    return LACUNA_QUEUE_ERROR_SLOT;
  }
  drop_dispatches(slots_[slot]);
  slots_[slot] = QueueSlot{};
  return LACUNA_QUEUE_ERROR_NONE;
}

void PacketProcessor::drop_dispatches(QueueSlot& queue) {
  for (InFlightPacket& packet : queue.in_flight) {
    if (packet.dispatch == nullptr || packet.done) continue;
    dispatcher_.abort(*packet.dispatch);
    packet.dispatch->end = now();
    report(packet, true);
  }
  queue.in_flight.clear();
}

void PacketProcessor::reset() {
  for (QueueSlot& queue : slots_) {
    drop_dispatches(queue);
    queue = QueueSlot{};
  }
  completed_.clear();
  faults_.clear();
}

void PacketProcessor::ring(unsigned slot, std::uint64_t last, Tick at) {
  ++statistics_.doorbells;
  QueueSlot& queue = slots_[slot];
  if (queue.state != QueueSlot::State::active) {
    spdlog::warn("{}: doorbell of queue slot {}, which is {}", name(), slot,
                 queue.state == QueueSlot::State::failed ? "failed" : "not in use");
    return;
  }
  queue.rung = std::max(queue.rung, last + 1);
  work_.notify(to_sc_time(later(at, now()) - now()));
}

bool PacketProcessor::idle() const {
  return std::all_of(slots_.begin(), slots_.end(), [](const QueueSlot& q) {
    return q.state != QueueSlot::State::active || (q.in_flight.empty() && q.next >= q.rung);
  });
}

// -- packets

void PacketProcessor::process() {
  for (;;) {
    bool progress = false;
    bool poll = false;
    while (!completed_.empty()) {
      const auto [slot, packet] = completed_.front();
      completed_.pop_front();
      complete(slot, packet);
      progress = true;
    }
    while (!faults_.empty()) {
      const PendingFault pending = std::move(faults_.front());
      faults_.pop_front();
      interrupts_.record_fault(pending.slot, pending.fault);
      interrupts_.raise(LACUNA_INTERRUPT_MEMORY_FAULT, now());
      fail(pending.slot, queue_error_of_fault(pending.fault.code), pending.packet, pending.fault.text);
      progress = true;
    }
    // Each queue starts at most one packet in a round, so that no queue starves another.
    for (unsigned i = 0; i < slots_.size(); ++i) {
      const Step result = step(i);
      progress |= result == Step::progress;
      poll |= result == Step::poll;
    }
    if (progress) continue;
    if (poll) {
      wait(to_sc_time(parameters_.poll_interval), work_);
    } else {
      wait(work_);
    }
  }
}

PacketProcessor::Step PacketProcessor::step(unsigned slot) {
  QueueSlot& queue = slots_[slot];
  if (queue.state != QueueSlot::State::active) return Step::idle;
  hsa::Queue* aql = queue_memory(queue);
  if (aql == nullptr) {
    fail(slot, LACUNA_QUEUE_ERROR_DESCRIPTOR, queue.next,
         fmt::format("amd_queue_t at {:#x} is no longer mapped", queue.address));
    return Step::progress;
  }
  if (queue.next >= queue.rung) return Step::idle;
  if (queue.rung - queue.retired > aql->size) {
    fail(slot, LACUNA_QUEUE_ERROR_OVERFLOW, queue.next,
         fmt::format("doorbell announces packet {}, but the ring holds {} packets and {} is the oldest not retired",
                     queue.rung - 1, aql->size, queue.retired));
    return Step::progress;
  }
  const std::uint64_t address = aql->base_address + (queue.next & (aql->size - 1)) * hsa::kPacketBytes;
  const std::byte* raw = vm_.pointer(address, hsa::kPacketBytes, isa::Access::read_write);
  if (raw == nullptr) {
    fail(slot, LACUNA_QUEUE_ERROR_DESCRIPTOR, queue.next, fmt::format("ring slot at {:#x} is no longer mapped", address));
    return Step::progress;
  }
  hsa::PacketHeader header;
  std::memcpy(&header.bits, raw, sizeof header.bits);
  if (header.type() == hsa::PacketType::invalid) {
    queue.waiting_for = "the packet's header is still INVALID";
    return Step::poll;
  }
  if (header.barrier() && !queue.in_flight.empty()) {
    queue.waiting_for = "barrier bit: earlier packets are still running";
    return Step::idle;
  }
  switch (header.type()) {
    case hsa::PacketType::kernel_dispatch:
      return start_dispatch(slot, raw, header);
    case hsa::PacketType::barrier_and:
    case hsa::PacketType::barrier_or:
      return start_barrier(slot, raw, header);
    default:
      fail(slot, LACUNA_QUEUE_ERROR_PACKET_TYPE, queue.next,
           fmt::format("packet type {} (header {:#06x}) is not supported", static_cast<unsigned>(header.type()), header.bits));
      return Step::progress;
  }
}

PacketProcessor::Step PacketProcessor::start_dispatch(unsigned slot, const std::byte* raw, hsa::PacketHeader header) {
  QueueSlot& queue = slots_[slot];
  if (queue.in_flight.size() >= parameters_.dispatches_in_flight) {
    queue.waiting_for = "as many dispatches are running as may";
    return Step::idle;
  }
  auto dispatch = std::make_unique<Dispatch>();
  std::memcpy(&dispatch->packet, raw, sizeof dispatch->packet);
  dispatch->queue_slot = slot;
  dispatch->packet_index = queue.next;
  if (!describe_dispatch(slot, *dispatch)) return Step::progress;

  const std::uint64_t generation = queue.generation;
  access(dispatch->packet_address, hsa::kPacketBytes, false);
  access(dispatch->packet.kernel_object, hsa::KernelDescriptor::kBytes, false);
  wait(to_sc_time(clock_.ticks(parameters_.packet_latency)));
  acquire(header.acquire());
  // Time has passed: the queue may have been destroyed, or made anew, by its owner.
  if (queue.state != QueueSlot::State::active || queue.generation != generation) return Step::progress;

  dispatch->index = next_dispatch_++;
  dispatch->start = now();
  if (resources_ != nullptr) dispatch->activity.used = resources_->used();  // what report() counts from
  Dispatch& started = *dispatch;
  queue.in_flight.push_back({.index = queue.next,
                             .completion_signal = started.packet.completion_signal,
                             .release = header.release(),
                             .dispatch = std::move(dispatch),
                             .started = now(),
                             .wall_start = host_seconds()});
  ++queue.next;
  ++statistics_.dispatches;
  for (KernelObserver* observer : observers_) observer->kernel_started(started);
  dispatcher_.submit(started);
  return Step::progress;
}

// Everything about the packet that can be wrong is found here, before anything has happened.
bool PacketProcessor::describe_dispatch(unsigned slot, Dispatch& d) {
  const QueueSlot& queue = slots_[slot];
  const hsa::Queue& aql = *queue_memory(queue);
  const hsa::KernelDispatchPacket& packet = d.packet;
  const auto refuse = [&](std::uint32_t error, const std::string& why) {
    fail(slot, error, queue.next, why);
    return false;
  };
  d.packet_address = aql.base_address + (queue.next & (aql.size - 1)) * hsa::kPacketBytes;
  d.queue_address = queue.address;

  const unsigned dimensions = packet.setup & 3;
  if (dimensions == 0) return refuse(LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS, "dispatch packet with 0 dimensions");
  std::uint64_t items = 1;
  for (unsigned i = 0; i < 3; ++i) {
    if (i < dimensions) {
      d.grid[i] = packet.grid_size[i];
      d.workgroup[i] = packet.workgroup_size[i];
    }
    if (d.grid[i] == 0 || d.workgroup[i] == 0) {
      return refuse(
          LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS,
          fmt::format("dispatch packet with grid size {} and workgroup size {} in dimension {}", d.grid[i], d.workgroup[i], i));
    }
    items *= d.workgroup[i];
    d.workgroups[i] = static_cast<std::uint32_t>((std::uint64_t{d.grid[i]} + d.workgroup[i] - 1) / d.workgroup[i]);
  }
  constexpr std::uint64_t kMaxWorkItems = 1024;
  if (items > kMaxWorkItems) {
    return refuse(LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS,
                  fmt::format("workgroup of {} work-items, at most {} are possible", items, kMaxWorkItems));
  }

  const std::byte* raw = packet.kernel_object % hsa::KernelDescriptor::kAlignment == 0
                             ? vm_.pointer(packet.kernel_object, hsa::KernelDescriptor::kBytes, isa::Access::read)
                             : nullptr;
  if (raw == nullptr) {
    return refuse(LACUNA_QUEUE_ERROR_KERNEL_OBJECT,
                  fmt::format("kernel object {:#x} is not a 64-byte aligned, mapped address; {}", packet.kernel_object,
                              vm_.nearest(packet.kernel_object)));
  }
  d.kernel = symbols_.name(packet.kernel_object);
  d.descriptor = hsa::KernelDescriptor::read(raw);
  d.entry = packet.kernel_object + static_cast<std::uint64_t>(d.descriptor.entry_offset);
  if (vm_.pointer(d.entry, 4, isa::Access::execute) == nullptr) {
    return refuse(LACUNA_QUEUE_ERROR_KERNEL_OBJECT, fmt::format("kernel {}: entry point {:#x} is not mapped executable; {}",
                                                                d.kernel, d.entry, vm_.nearest(d.entry)));
  }
  if (const std::string reason = check_descriptor(d.descriptor, target_); !reason.empty()) {
    return refuse(LACUNA_QUEUE_ERROR_KERNEL_OBJECT, fmt::format("kernel {}: {}", d.kernel, reason));
  }

  if (const isa::CodeProblem* problem = code_check_.problem(d.entry)) {
    interrupts_.record_fault(slot, {.code = LACUNA_FAULT_ILLEGAL_INSTRUCTION, .address = 0, .pc = problem->pc, .text = {}});
    return refuse(LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION,
                  fmt::format("kernel {} cannot run: PC {:#x} (+{:#x}): {}: {}", d.kernel, problem->pc, problem->pc - d.entry,
                              problem->mnemonic, problem->reason));
  }

  d.needs = register_needs(d.descriptor, target_);
  d.needs.wavefronts = static_cast<unsigned>((items + isa::kLanes - 1) / isa::kLanes);
  d.needs.lds_bytes = packet.group_segment_size;
  if (packet.private_segment_size > 0 || d.descriptor.private_segment_wave_offset()) {
    if (packet.private_segment_size > aql.scratch_wave64_lane_byte_size) {
      return refuse(LACUNA_QUEUE_ERROR_PACKET_SEGMENT,
                    fmt::format("kernel {}: private segment of {} bytes per work-item, the queue's scratch memory has {}",
                                d.kernel, packet.private_segment_size, aql.scratch_wave64_lane_byte_size));
    }
    std::copy_n(aql.scratch_resource_descriptor, 4, d.scratch.resource_descriptor.begin());
    const std::uint64_t base = aql.scratch_resource_descriptor[0] | std::uint64_t{aql.scratch_resource_descriptor[1] & 0xffff}
                                                                        << 32;
    d.scratch.backing_location = aql.scratch_backing_memory_location;
    // gfx8 counts FLAT scratch offsets from the pool's base, gfx9 holds the address itself.
    d.scratch.pool_base = target_ == isa::Target::gfx803 ? base - aql.scratch_backing_memory_location : 0;
    if (packet.private_segment_size > 0) {
      d.scratch.wave_slots = aql.compute_tmpring_size & 0xfff;
      d.scratch.wave_bytes = (aql.compute_tmpring_size >> 12 & 0x1fff) * 1024;
      if (d.scratch.wave_bytes < packet.private_segment_size * isa::kLanes) {
        return refuse(LACUNA_QUEUE_ERROR_PACKET_SEGMENT,
                      fmt::format("kernel {}: wavefronts need {} bytes of scratch, compute_tmpring_size gives {}", d.kernel,
                                  packet.private_segment_size * isa::kLanes, d.scratch.wave_bytes));
      }
    }
  }
  if (const std::string reason = dispatcher_.refusal(d); !reason.empty()) {
    return refuse(LACUNA_QUEUE_ERROR_PACKET_SEGMENT, fmt::format("kernel {}: {}", d.kernel, reason));
  }
  return check_signal(slot, packet.completion_signal);
}

bool PacketProcessor::check_signal(unsigned slot, std::uint64_t handle) {
  if (handle == 0) return true;
  if (handle % 64 == 0 && vm_.pointer(handle, sizeof(hsa::Signal), isa::Access::read_write) != nullptr) return true;
  fail(slot, LACUNA_QUEUE_ERROR_SIGNAL, slots_[slot].next,
       fmt::format("signal handle {:#x} is not a 64-byte aligned, mapped address; {}", handle, vm_.nearest(handle)));
  return false;
}

PacketProcessor::Step PacketProcessor::start_barrier(unsigned slot, const std::byte* raw, hsa::PacketHeader header) {
  QueueSlot& queue = slots_[slot];
  hsa::BarrierPacket packet;
  std::memcpy(&packet, raw, sizeof packet);
  bool all = true;
  bool any = false;
  bool used = false;
  for (const std::uint64_t handle : packet.dependencies) {
    if (handle == 0) continue;
    if (!check_signal(slot, handle)) return Step::progress;
    hsa::Signal dependency;
    std::memcpy(&dependency, vm_.pointer(handle, sizeof dependency, isa::Access::read), sizeof dependency);
    used = true;
    all &= dependency.value == 0;
    any |= dependency.value == 0;
  }
  if (!check_signal(slot, packet.completion_signal)) return Step::progress;
  const bool satisfied = header.type() == hsa::PacketType::barrier_and ? all : any || !used;
  if (!satisfied) {
    queue.waiting_for = "dependency signals of a barrier packet";
    return Step::poll;
  }
  const std::uint64_t generation = queue.generation;
  const std::uint64_t index = queue.next;
  wait(to_sc_time(clock_.ticks(parameters_.packet_latency)));
  acquire(header.acquire());
  if (queue.state != QueueSlot::State::active || queue.generation != generation) return Step::progress;
  queue.in_flight.push_back({.index = index,
                             .completion_signal = packet.completion_signal,
                             .release = header.release(),
                             .dispatch = nullptr,
                             .started = now()});
  ++queue.next;
  ++statistics_.barriers;
  complete(slot, index);
  return Step::progress;
}

// -- completion

void PacketProcessor::dispatch_done(Dispatch& dispatch) {
  completed_.emplace_back(dispatch.queue_slot, dispatch.packet_index);
  work_.notify(sc_core::SC_ZERO_TIME);
}

void PacketProcessor::dispatch_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick at) {
  // Other wavefronts of the dispatch may fault in the same time slice: the first report counts.
  for (const PendingFault& pending : faults_) {
    if (pending.slot == dispatch.queue_slot && pending.packet == dispatch.packet_index) return;
  }
  faults_.push_back({dispatch.queue_slot, dispatch.packet_index, fault});
  work_.notify(to_sc_time(later(at, now()) - now()));
}

void PacketProcessor::interrupt_message(Dispatch&, std::uint32_t, Tick at) { interrupts_.raise(LACUNA_INTERRUPT_SIGNAL, at); }

void PacketProcessor::complete(unsigned slot, std::uint64_t index) {
  QueueSlot& queue = slots_[slot];
  const auto find = [&] {
    return std::find_if(queue.in_flight.begin(), queue.in_flight.end(),
                        [&](const InFlightPacket& p) { return p.index == index; });
  };
  auto packet = find();
  if (packet == queue.in_flight.end()) return;  // the queue was destroyed or failed meanwhile
  const std::uint64_t handle = packet->completion_signal;
  const Tick started = packet->started;
  const Tick ended = packet->dispatch != nullptr ? packet->dispatch->end : now();
  if (packet->dispatch != nullptr) report(*packet, false);
  packet->done = true;
  release(packet->release);
  if (handle != 0) signal(handle, started, ended);
  if (queue.state == QueueSlot::State::active) retire(queue);
}

void PacketProcessor::signal(std::uint64_t handle, Tick start, Tick end) {
  auto* s = reinterpret_cast<hsa::Signal*>(vm_.pointer(handle, sizeof(hsa::Signal), isa::Access::read_write));
  if (s == nullptr) {
    spdlog::error("{}: completion signal {:#x} is no longer mapped; {}", name(), handle, vm_.nearest(handle));
    return;
  }
  access(handle, sizeof(hsa::Signal), true);
  s->start_timestamp = timestamp_.floor(start).n;
  s->end_timestamp = timestamp_.floor(end).n;
  s->value -= 1;
  ++statistics_.signals;
  if (s->event_mailbox == 0) return;
  if (std::byte* mailbox = vm_.pointer(s->event_mailbox, sizeof(std::uint64_t), isa::Access::read_write)) {
    const std::uint64_t id = s->event_id;
    std::memcpy(mailbox, &id, sizeof id);
  } else {
    spdlog::error("{}: event mailbox {:#x} of signal {:#x} is not mapped", name(), s->event_mailbox, handle);
  }
  interrupts_.raise(LACUNA_INTERRUPT_SIGNAL, now());
}

void PacketProcessor::retire(QueueSlot& queue) {
  hsa::Queue* aql = queue_memory(queue);
  if (aql == nullptr) return;  // found again, and reported, by the next step
  while (!queue.in_flight.empty() && queue.in_flight.front().done) {
    const std::uint64_t index = queue.in_flight.front().index;
    const std::uint64_t address = aql->base_address + (index & (aql->size - 1)) * hsa::kPacketBytes;
    if (std::byte* raw = vm_.pointer(address, hsa::kPacketBytes, isa::Access::read_write)) {
      const auto invalid = static_cast<std::uint16_t>(hsa::PacketType::invalid);
      std::memcpy(raw, &invalid, sizeof invalid);
    }
    queue.in_flight.pop_front();
    queue.retired = index + 1;
    aql->read_dispatch_id = queue.retired;
  }
}

void PacketProcessor::report(const InFlightPacket& packet, bool failed) {
  const Dispatch& d = *packet.dispatch;
  KernelRecord record{.index = d.index,
                      .name = d.kernel,
                      .queue = d.queue_slot,
                      .grid = d.grid,
                      .workgroup = d.workgroup,
                      .start = d.start,
                      .end = d.end,
                      .cycles = clock_.ceil(d.end - d.start).n,
                      .workgroups = d.finished_workgroups,
                      .wavefronts = d.wavefronts,
                      .wavefront_instructions = d.wavefront_instructions,
                      .thread_instructions = d.thread_instructions,
                      .wall_seconds = host_seconds() - packet.wall_start,
                      .failed = failed,
                      .activity = d.activity};
  if (resources_ != nullptr) {
    KernelActivity& a = record.activity;
    const ResourceAmounts used = resources_->used();
    a.available = resources_->available({record.cycles});
    for (std::size_t i = 0; i < kResources; ++i) a.used[i] = used[i] - d.activity.used[i];
    a.used[static_cast<std::size_t>(Resource::slots)] = a.all().resident;
    // Writes that memory has taken may be booked beyond the kernel's end: they are not what it had to wait for.
    for (std::size_t i = 0; i < kResources; ++i) a.used[i] = std::min(a.used[i], a.available[i]);
  }
  for (KernelObserver* observer : observers_) observer->kernel_ended(record);
}

// -- fences

// L1 caches are not coherent: an acquire of any scope drops them. L2 is where all compute units and the host meet.
void PacketProcessor::acquire(hsa::FenceScope scope) {
  if (scope == hsa::FenceScope::none) return;
  ++statistics_.acquires;
  code_.revalidate();
  if (dispatcher_.idle()) code_.collect();  // no wavefront holds an instruction
  if (mode_ == TimingMode::functional) return;
  Tick done = now();
  for (CacheMaintenance* cache : l1_) done = later(done, cache->invalidate(now()));
  wait(to_sc_time(done - now()));
}

// L1 caches hold no dirty bytes (write-around), so only system scope has something to do: the host reads behind L2.
void PacketProcessor::release(hsa::FenceScope scope) {
  if (scope != hsa::FenceScope::system) return;
  ++statistics_.releases;
  if (mode_ == TimingMode::functional) return;
  Tick done = now();
  for (CacheMaintenance* cache : l2_) done = later(done, cache->write_back(now()));
  wait(to_sc_time(done - now()));
}

void PacketProcessor::access(std::uint64_t address, unsigned bytes, bool write) {
  if (mode_ == TimingMode::functional) return;
  const isa::MemoryWindow window = vm_.find(address);
  if (!window.contains(address, bytes)) return;
  PooledPayload payload(payloads_);
  payload->set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload->set_address(window.physical + (address - window.base));
  payload->set_data_length(bytes);
  payload->set_streaming_width(bytes);
  payload.attributes().kind = RequestKind::command_processor;
  payload.attributes().timing_only = true;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  memory->b_transport(*payload, delay);
  wait(delay);
}

// -- errors

void PacketProcessor::fail(unsigned slot, std::uint32_t error, std::uint64_t packet, const std::string& why) {
  QueueSlot& queue = slots_[slot];
  if (queue.state != QueueSlot::State::active) return;
  spdlog::error("{}: queue {} stopped at packet {}: {}", name(), slot, packet, why);
  queue.state = QueueSlot::State::failed;
  queue.error = error;
  queue.error_packet = packet;
  ++statistics_.queue_errors;
  drop_dispatches(queue);
  store_inactive_signal(queue, error);
  interrupts_.raise(LACUNA_INTERRUPT_QUEUE_ERROR, now());
}

void PacketProcessor::store_inactive_signal(const QueueSlot& queue, std::uint32_t error) {
  const hsa::Queue* aql = queue_memory(queue);
  if (aql == nullptr || aql->queue_inactive_signal == 0) return;
  auto* s =
      reinterpret_cast<hsa::Signal*>(vm_.pointer(aql->queue_inactive_signal, sizeof(hsa::Signal), isa::Access::read_write));
  if (s == nullptr) return;
  s->value = runtime_error_code(error);
  if (s->event_mailbox == 0) return;
  if (std::byte* mailbox = vm_.pointer(s->event_mailbox, sizeof(std::uint64_t), isa::Access::read_write)) {
    const std::uint64_t id = s->event_id;
    std::memcpy(mailbox, &id, sizeof id);
  }
}

void PacketProcessor::diagnose(std::ostream& out) const {
  for (unsigned i = 0; i < slots_.size(); ++i) {
    const QueueSlot& queue = slots_[i];
    if (queue.state == QueueSlot::State::inactive) continue;
    out << fmt::format("  queue {}: {}, next packet {}, announced {}, retired {}", i,
                       queue.state == QueueSlot::State::failed ? "failed" : "active", queue.next, queue.rung, queue.retired);
    if (queue.state == QueueSlot::State::active && queue.next < queue.rung) out << ", waits for: " << queue.waiting_for;
    out << '\n';
  }
}

}  // namespace lacuna
