// The packet processor: how packets end, well or badly; fences and memory traffic on the way.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "models/command/loaded_code_object.h"
#include "models/command/packet_processor.h"
#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

namespace {

/// What AMD's runtime expects in the inactive signal of a queue that has failed.
std::int64_t runtime_error_code(std::uint32_t error) {
  switch (error) {
    case LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS:
      return 2;
    case LACUNA_QUEUE_ERROR_PACKET_SEGMENT:
      return 4;
    case LACUNA_QUEUE_ERROR_KERNEL_OBJECT:
      return 8;
    case LACUNA_QUEUE_ERROR_MEMORY_FAULT:
      return 0x20000000;
    case LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION:
      return 0x40000000;
    case LACUNA_QUEUE_ERROR_TRAP:
      return 0x80000000;
    default:
      return 0x20;
  }
}

}  // namespace

void PacketProcessor::dispatch_done(Dispatch& dispatch) {
  if (bulk_.piece_done(dispatch)) return;
  completed_.push_back({dispatch.queue_slot, dispatch.packet_index});
  work_.notify(sc_core::SC_ZERO_TIME);
}

void PacketProcessor::dispatch_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick at) {
  // Other wavefronts of the dispatch may fault in the same time slice: the first report counts.
  for (const PendingFault& pending : faults_) {
    if (pending.slot == dispatch.queue_slot && pending.packet == dispatch.packet_index) return;
  }
  faults_.push_back({dispatch.queue_slot, dispatch.packet_index, fault,
                     fmt::format("{}: kernel {}, {}{}", fault.what, dispatch.kernel,
                                 dispatch_packets_.place(dispatch, fault.pc), fault.where)});
  work_.notify(to_sc_time(later(at, now()) - now()));
}

// Each compute unit reports an instruction once: of all units, the first in time is named.
void PacketProcessor::dispatch_warning(Dispatch& dispatch, const WavefrontFault& fault, Tick) {
  if (!warned_.emplace(dispatch.kernel, fault.pc).second) return;
  guest_warning("warnings of kernels", "{}: queue {}, packet {}: {}: kernel {}, {}{}", name(), dispatch.queue_slot,
                dispatch.packet_index, fault.what, dispatch.kernel, dispatch_packets_.place(dispatch, fault.pc), fault.where);
}

void PacketProcessor::interrupt_message(Dispatch&, std::uint32_t m0, Tick at) {
  interrupts_.raise(LACUNA_INTERRUPT_SIGNAL, at);
  if (driver_ != nullptr) driver_->message_interrupt(m0);
}

void PacketProcessor::complete(unsigned slot, std::uint64_t index) {
  QueueSlot& queue = slots_[slot];
  const auto packet = std::find_if(queue.in_flight.begin(), queue.in_flight.end(),
                                   [index](const InFlightPacket& p) { return p.index == index; });
  if (packet == queue.in_flight.end()) return;  // the queue was destroyed or failed meanwhile
  const std::uint64_t handle = packet->completion_signal;
  const Tick started = packet->started;
  const Tick ended = packet->dispatch != nullptr ? packet->dispatch->end : now();
  if (packet->dispatch != nullptr) report(*packet, KernelEnd::done);
  packet->done = true;
  const std::uint64_t generation = queue.generation;
  release(packet->release);
  if (queue.generation != generation) return;  // destroyed while the fence took its time: its memory is not ours any more
  if (handle != 0) signal(handle, started, ended);
  if (queue.generation == generation && queue.state == QueueSlot::State::active) retire(queue);
}

void PacketProcessor::signal(std::uint64_t handle, Tick start, Tick end) {
  access(handle, sizeof(hsa::Signal), true);
  if (!signals_.valid(handle)) {
    guest_error("unmapped completion signals", "{}: completion signal {:#x} is no longer mapped; {}", name(), handle,
                vm_.nearest(handle));
    return;
  }
  ++statistics_.signals;
  notify(signals_.complete(handle, timestamp_.floor(start).n, timestamp_.floor(end).n));
}

void PacketProcessor::notify(const std::optional<SignalEvent>& event) {
  if (event) {
    ++statistics_.events;
    interrupts_.raise(LACUNA_INTERRUPT_SIGNAL, now());
    if (driver_ != nullptr) driver_->signal_event(event->id, event->mailbox);
  }
  if (driver_ != nullptr) driver_->progress_visible();
}

void PacketProcessor::retire(QueueSlot& queue) {
  hsa::Queue* aql = queue_memory(queue);
  if (aql == nullptr) return;  // found again, and reported, by the next step
  const std::uint64_t before = queue.retired;
  while (!queue.in_flight.empty() && queue.in_flight.front().done) {
    const std::uint64_t index = queue.in_flight.front().index;
    if (std::byte* raw = vm_.pointer(queue.place(index), hsa::kPacketBytes, isa::Access::read_write)) {
      std::atomic_ref(*reinterpret_cast<std::uint16_t*>(raw))
          .store(static_cast<std::uint16_t>(hsa::PacketType::invalid), std::memory_order_relaxed);
    }
    queue.in_flight.pop_front();
    queue.retired = index + 1;
    // Whoever sees the index may write the slot.
    std::atomic_ref(aql->read_dispatch_id).store(queue.retired, std::memory_order_release);
  }
  if (queue.retired != before && driver_ != nullptr) driver_->progress_visible();
}

void PacketProcessor::report_unfinished() {
  for (const QueueSlot& queue : slots_) {
    for (const InFlightPacket& packet : queue.in_flight) {
      if (packet.dispatch == nullptr || packet.done) continue;
      report(packet, packet.dispatch->done() ? KernelEnd::done : KernelEnd::unfinished);
    }
  }
}

void PacketProcessor::report(const InFlightPacket& packet, KernelEnd how) {
  const Dispatch& d = *packet.dispatch;
  const Tick end = how == KernelEnd::unfinished ? now() : d.end;
  KernelRecord record{.index = d.index,
                      .name = d.kernel,
                      .queue = d.queue_slot,
                      .grid = d.grid,
                      .workgroup = d.workgroup,
                      .start = d.start,
                      .end = end,
                      .cycles = clock_.ceil(end - d.start).n,
                      .workgroups = d.finished_workgroups,
                      .wavefronts = d.wavefronts,
                      .wavefront_instructions = d.wavefront_instructions,
                      .thread_instructions = d.thread_instructions,
                      .wall_seconds = host_seconds() - packet.wall_start,
                      .failed = how == KernelEnd::failed,
                      .unfinished = how == KernelEnd::unfinished,
                      .bulk_bytes = d.bulk_bytes,
                      .activity = d.activity};
  d.add_open_work(record);
  if (how == KernelEnd::unfinished) dispatcher_.add_resident(d, record.activity);
  if (resources_ != nullptr) {
    KernelActivity& a = record.activity;
    const ResourceAmounts used = resources_->used();
    a.available = resources_->available({record.cycles});
    for (std::size_t i = 0; i < kResources; ++i) a.used[i] = used[i] - d.activity.used[i];
    a.used[static_cast<std::size_t>(Resource::slots)] = a.all().resident;
    // Writes that memory has taken may be booked beyond the kernel's end: they are not what it had to wait for.
    for (std::size_t i = 0; i < kResources; ++i) a.used[i] = std::min(a.used[i], a.available[i]);
  }
  if (energy_ != nullptr) record.energy = energy_->kernel_ended(record.index, record.end);
  for (KernelObserver* observer : observers_) observer->kernel_ended(record);
}

// -- fences

// L1 caches are not coherent: an acquire of any scope drops them. L2 is where all compute units and the host meet.
void PacketProcessor::acquire(hsa::FenceScope scope) {
  if (scope == hsa::FenceScope::none) return;
  ++statistics_.acquires;
  invalidate_l1();
}

void PacketProcessor::invalidate_l1() {
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
  maintain_l2(&CacheMaintenance::write_back);
}

void PacketProcessor::renew_pages(Dispatch& dispatch) {
  dispatch.page_salt = (dispatch.index + 1) << 48;  // above the bits of virtual addresses
  const auto forget = [this](std::uint64_t address, std::uint64_t bytes) {
    const isa::MemoryWindow window = vm_.find(address);
    if (!window.contains(address, bytes)) return;
    for (CacheMaintenance* cache : l2_) cache->forget(window.physical + (address - window.base), bytes);
  };
  if (const auto object = LoadedCodeObject::around(vm_, dispatch.packet.kernel_object)) {
    for (const Elf64_Phdr& segment : object->segments) {
      const bool code = segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0;
      if (code) forget(object->base + segment.p_vaddr, segment.p_memsz);
    }
  }
  constexpr std::uint64_t kPage = GpuVm::kPage;
  if (dispatch.packet.kernarg_address != 0) forget(dispatch.packet.kernarg_address / kPage * kPage, kPage);
  forget(dispatch.packet_address, hsa::kPacketBytes);
}

void PacketProcessor::maintain_l2(Tick (CacheMaintenance::*operation)(Tick)) {
  if (mode_ == TimingMode::functional) return;
  Tick done = now();
  for (CacheMaintenance* cache : l2_) done = later(done, (cache->*operation)(now()));
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

void PacketProcessor::fail(unsigned slot, std::uint32_t error, std::uint64_t packet, const std::string& why,
                           bool tell_runtime) {
  QueueSlot& queue = slots_[slot];
  if (queue.state != QueueSlot::State::active) return;
  guest_error("stopped queues", "{}: queue {} stopped at packet {}: {}", name(), slot, packet, why);
  queue.state = QueueSlot::State::failed;
  queue.error = error;
  queue.error_packet = packet;
  ++statistics_.queue_errors;
  drop_dispatches(slot);
  if (tell_runtime) store_inactive_signal(queue, runtime_error_code(error));
  interrupts_.raise(LACUNA_INTERRUPT_QUEUE_ERROR, now());
  if (driver_ != nullptr) driver_->queue_failed(slot, error);
}

bool PacketProcessor::store_inactive_signal(const QueueSlot& queue, std::int64_t value) {
  const hsa::Queue* aql = queue_memory(queue);
  if (aql == nullptr || aql->queue_inactive_signal == 0 || !signals_.valid(aql->queue_inactive_signal)) return false;
  notify(signals_.store(aql->queue_inactive_signal, value));
  return true;
}

}  // namespace lacuna
