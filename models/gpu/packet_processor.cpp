// The packet processor's queues, and the loop that looks at them.
#include "models/gpu/packet_processor.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <ostream>

#include "models/common/tlm_time.h"

namespace lacuna {

namespace {

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

bool is_memory_fault(std::uint32_t fault) {
  return fault == LACUNA_FAULT_NOT_MAPPED || fault == LACUNA_FAULT_NOT_PERMITTED || fault == LACUNA_FAULT_FETCH;
}

/// What other threads write with release order.
std::uint64_t acquire_load(std::uint64_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }

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
  g.add("pm4_packets", pm4_packets, "packets of PM4 commands carried out", "packets");
  g.add("scratch_requests", scratch_requests, "times the runtime was asked for scratch memory, or to take it back", "requests");
  g.add("queue_errors", queue_errors, "times a queue went to the failed state", "events");
  g.add("doorbells", doorbells, "doorbell writes, or changes of a write index that were noticed", "writes");
  g.add("signals", signals, "completion signals decremented", "signals");
  g.add("events", events, "events posted to mailboxes", "events");
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
      vm_(vm),
      code_(code),
      dispatcher_(dispatcher),
      interrupts_(interrupts),
      signals_(vm),
      pm4_(vm),
      dispatch_packets_(vm, target),
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

QueueSlot* PacketProcessor::used(unsigned slot, const char* what) {
  if (slot < slots_.size() && slots_[slot].state != QueueSlot::State::inactive) return &slots_[slot];
  spdlog::error("{}: {} of queue slot {}, which is not in use", name(), what, slot);
  return nullptr;
}

void PacketProcessor::order_queues() {
  order_.clear();
  for (unsigned i = 0; i < slots_.size(); ++i) {
    if (slots_[i].state != QueueSlot::State::inactive) order_.push_back(i);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [this](unsigned a, unsigned b) { return slots_[a].priority > slots_[b].priority; });
}

unsigned PacketProcessor::free_slot() {
  const auto unused =
      std::find_if(slots_.begin(), slots_.end(), [](const QueueSlot& q) { return q.state == QueueSlot::State::inactive; });
  const auto slot = static_cast<unsigned>(unused - slots_.begin());
  if (unused == slots_.end()) slots_.emplace_back();
  return slot;
}

std::uint32_t PacketProcessor::create_queue(unsigned slot, std::uint64_t aql_queue, const QueueSetup& setup) {
  if (slot >= slots_.size() || slots_[slot].state != QueueSlot::State::inactive) {
    spdlog::error("{}: queue slot {} {}", name(), slot, slot >= slots_.size() ? "does not exist" : "is in use");
    return LACUNA_QUEUE_ERROR_SLOT;
  }
  QueueSlot queue;
  queue.address = aql_queue;
  hsa::Queue* aql = aql_queue % 64 == 0 ? queue_memory(queue) : nullptr;
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
  if (!dispatcher_.any_unit(setup.cu_mask)) {
    spdlog::error("{}: queue slot {}: the mask of compute units leaves none", name(), slot);
    return LACUNA_QUEUE_ERROR_DESCRIPTOR;
  }
  queue.state = QueueSlot::State::active;
  queue.doorbell = setup.doorbell;
  queue.priority = setup.priority;
  queue.cu_mask = setup.cu_mask;
  queue.generation = ++generations_;
  queue.next = queue.retired = queue.rung = acquire_load(aql->read_dispatch_id);
  slots_[slot] = std::move(queue);
  order_queues();
  return LACUNA_QUEUE_ERROR_NONE;
}

std::uint32_t PacketProcessor::destroy_queue(unsigned slot) {
  if (used(slot, "destroy") == nullptr) return LACUNA_QUEUE_ERROR_SLOT;
  drop_dispatches(slot);
  slots_[slot] = QueueSlot{};
  if (synced_ == slot) synced_.reset();
  order_queues();
  return LACUNA_QUEUE_ERROR_NONE;
}

std::uint32_t PacketProcessor::suspend_queue(unsigned slot) {
  QueueSlot* queue = used(slot, "suspension");
  if (queue == nullptr) return LACUNA_QUEUE_ERROR_SLOT;
  queue->suspended = true;
  for (const InFlightPacket& packet : queue->in_flight) {
    if (packet.dispatch != nullptr) packet.dispatch->held = true;
  }
  return LACUNA_QUEUE_ERROR_NONE;
}

std::uint32_t PacketProcessor::resume_queue(unsigned slot) {
  QueueSlot* queue = used(slot, "resumption");
  if (queue == nullptr) return LACUNA_QUEUE_ERROR_SLOT;
  queue->suspended = false;
  for (const InFlightPacket& packet : queue->in_flight) {
    if (packet.dispatch != nullptr) packet.dispatch->held = false;
  }
  dispatcher_.look_again();
  work_.notify(sc_core::SC_ZERO_TIME);
  return LACUNA_QUEUE_ERROR_NONE;
}

std::uint32_t PacketProcessor::set_priority(unsigned slot, int priority) {
  QueueSlot* queue = used(slot, "priority");
  if (queue == nullptr) return LACUNA_QUEUE_ERROR_SLOT;
  queue->priority = priority;
  order_queues();
  return LACUNA_QUEUE_ERROR_NONE;
}

std::uint32_t PacketProcessor::set_cu_mask(unsigned slot, std::vector<std::uint32_t> mask) {
  QueueSlot* queue = used(slot, "mask of compute units");
  if (queue == nullptr) return LACUNA_QUEUE_ERROR_SLOT;
  if (!dispatcher_.any_unit(mask)) {
    spdlog::error("{}: queue slot {}: the mask of compute units leaves none", name(), slot);
    return LACUNA_QUEUE_ERROR_DESCRIPTOR;
  }
  queue->cu_mask = std::move(mask);
  return LACUNA_QUEUE_ERROR_NONE;
}

std::uint32_t PacketProcessor::allocate_gws(unsigned slot) {
  if (used(slot, "global wave sync") == nullptr) return LACUNA_QUEUE_ERROR_SLOT;
  if (synced_ && *synced_ != slot) {
    spdlog::warn("{}: queue slot {} has global wave sync, slot {} cannot have it", name(), *synced_, slot);
    return LACUNA_QUEUE_ERROR_SLOT;
  }
  synced_ = slot;
  return LACUNA_QUEUE_ERROR_NONE;
}

void PacketProcessor::drop_dispatches(unsigned slot) {
  QueueSlot& queue = slots_[slot];
  for (InFlightPacket& packet : queue.in_flight) {
    if (packet.dispatch == nullptr || packet.done) continue;
    dispatcher_.abort(*packet.dispatch);
    packet.dispatch->end = now();
    report(packet, true);
  }
  queue.in_flight.clear();
  std::erase_if(completed_, [slot](const CompletedPacket& c) { return c.slot == slot; });
  std::erase_if(faults_, [slot](const PendingFault& f) { return f.slot == slot; });
}

void PacketProcessor::reset() {
  for (unsigned i = 0; i < slots_.size(); ++i) {
    drop_dispatches(i);
    slots_[i] = QueueSlot{};
  }
  synced_.reset();
  order_queues();
}

// -- doorbells

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

bool PacketProcessor::look_at_doorbells() {
  bool news = false;
  for (const unsigned slot : order_) {
    QueueSlot& queue = slots_[slot];
    if (queue.doorbell == DoorbellKind::ring || queue.state != QueueSlot::State::active) continue;
    hsa::Queue* aql = queue_memory(queue);
    if (aql == nullptr) continue;  // step() says so
    const std::uint64_t written = acquire_load(
        queue.doorbell == DoorbellKind::write_index ? aql->write_dispatch_id : aql->max_legacy_doorbell_dispatch_id_plus_1);
    if (written <= queue.rung) continue;
    queue.rung = written;
    ++statistics_.doorbells;
    news = true;
  }
  if (news) work_.notify(sc_core::SC_ZERO_TIME);
  return news;
}

// Writers reserve indices before there is room for their packets: what lies beyond the ring is not there yet. A doorbell
// register on the other hand is written when the packets are, and a value beyond the ring is a mistake, which step() reports.
std::uint64_t PacketProcessor::announced(const QueueSlot& queue, const hsa::Queue& aql) const {
  return queue.doorbell == DoorbellKind::ring ? queue.rung : std::min(queue.rung, queue.retired + aql.size);
}

bool PacketProcessor::idle() const {
  return std::all_of(slots_.begin(), slots_.end(), [](const QueueSlot& q) {
    return q.state != QueueSlot::State::active || (q.in_flight.empty() && q.next >= q.rung);
  });
}

PacketProcessor::Activity PacketProcessor::activity() const {
  if (working_ || !completed_.empty() || !faults_.empty() || dispatcher_.busy()) return Activity::busy;
  bool waits = false;
  for (const unsigned slot : order_) {
    const QueueSlot& queue = slots_[slot];
    if (queue.state != QueueSlot::State::active || queue.suspended) continue;
    if (!queue.in_flight.empty()) return Activity::busy;
    if (queue.polls) {
      waits = true;
    } else if (queue.next < queue.rung) {
      return Activity::busy;
    }
  }
  return waits ? Activity::waits_for_memory : Activity::idle;
}

// -- the loop

void PacketProcessor::process() {
  for (;;) {
    working_ = true;
    bool progress = complete_packets();
    progress |= report_faults();
    bool poll = false;
    bool started = false;
    int level = 0;
    // Each queue starts at most one packet in a round, so that no queue starves another of its priority.
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const unsigned slot = order_[i];
      if (started && slots_[slot].priority < level) break;
      level = slots_[slot].priority;
      const Step result = step(slot);
      started |= result == Step::progress;
      poll |= result == Step::poll;
    }
    if (progress || started) continue;
    working_ = false;
    if (poll) {
      wait(to_sc_time(parameters_.poll_interval), work_);
    } else {
      wait(work_);
    }
  }
}

bool PacketProcessor::complete_packets() {
  bool any = false;
  while (!completed_.empty()) {
    const CompletedPacket completed = completed_.front();
    completed_.pop_front();
    complete(completed.slot, completed.packet);
    any = true;
  }
  return any;
}

bool PacketProcessor::report_faults() {
  bool any = false;
  while (!faults_.empty()) {
    const PendingFault pending = std::move(faults_.front());
    faults_.pop_front();
    interrupts_.record_fault(pending.slot, pending.fault);
    interrupts_.raise(LACUNA_INTERRUPT_MEMORY_FAULT, now());
    const bool told =
        driver_ != nullptr && is_memory_fault(pending.fault.code) && driver_->memory_fault(pending.slot, pending.fault);
    fail(pending.slot, queue_error_of_fault(pending.fault.code), pending.packet, pending.fault.text, !told);
    any = true;
  }
  return any;
}

PacketProcessor::Step PacketProcessor::step(unsigned slot) {
  QueueSlot& queue = slots_[slot];
  queue.polls = false;
  if (queue.state != QueueSlot::State::active || queue.suspended) return Step::idle;
  hsa::Queue* aql = queue_memory(queue);
  if (aql == nullptr) {
    fail(slot, LACUNA_QUEUE_ERROR_DESCRIPTOR, queue.next,
         fmt::format("amd_queue_t at {:#x} is no longer mapped", queue.address));
    return Step::progress;
  }
  if (queue.scratch != QueueSlot::Scratch::settled && queue.scratch != QueueSlot::Scratch::granted) {
    return step_scratch(slot, *aql);
  }
  const std::uint64_t end = announced(queue, *aql);
  if (queue.next >= end) {
    queue.waiting_for = "a ring slot to be free";
    return Step::idle;
  }
  if (end - queue.retired > aql->size) {
    fail(slot, LACUNA_QUEUE_ERROR_OVERFLOW, queue.next,
         fmt::format("doorbell announces packet {}, but the ring holds {} packets and {} is the oldest not retired",
                     queue.rung - 1, aql->size, queue.retired));
    return Step::progress;
  }
  const std::uint64_t address = aql->base_address + (queue.next & (aql->size - 1)) * hsa::kPacketBytes;
  std::byte* raw = vm_.pointer(address, hsa::kPacketBytes, isa::Access::read_write);
  if (raw == nullptr) {
    fail(slot, LACUNA_QUEUE_ERROR_DESCRIPTOR, queue.next, fmt::format("ring slot at {:#x} is no longer mapped", address));
    return Step::progress;
  }
  // The header is what a writer stores last.
  const std::uint32_t first = std::atomic_ref(*reinterpret_cast<std::uint32_t*>(raw)).load(std::memory_order_acquire);
  const hsa::PacketHeader header{static_cast<std::uint16_t>(first)};
  if (header.type() == hsa::PacketType::invalid) {
    queue.waiting_for = "the packet's header is still INVALID";
    queue.polls = true;
    return Step::poll;
  }
  if (Pm4Reader::starts(first)) return start_pm4(slot, pm4_.read_slot(raw), {}, 0);
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
    case hsa::PacketType::vendor_specific:
      return start_vendor(slot, raw, header);
    default:
      fail(slot, LACUNA_QUEUE_ERROR_PACKET_TYPE, queue.next,
           fmt::format("packet type {} (header {:#06x}) is not supported", static_cast<unsigned>(header.type()), header.bits));
      return Step::progress;
  }
}

PacketProcessor::Step PacketProcessor::step_scratch(unsigned slot, hsa::Queue& aql) {
  QueueSlot& queue = slots_[slot];
  switch (queue.scratch) {
    case QueueSlot::Scratch::lent:
      if (!queue.in_flight.empty()) {
        queue.waiting_for = "scratch memory that was lent for the dispatch before";
        return Step::idle;
      }
      ++statistics_.scratch_requests;
      queue.scratch =
          store_inactive_signal(queue, hsa::kScratchReclaim) ? QueueSlot::Scratch::reclaimed : QueueSlot::Scratch::settled;
      return Step::progress;
    case QueueSlot::Scratch::requested:
      // The fields of amd_queue_t count only when the signal says that they have all been written.
      if (!signals_.valid(aql.queue_inactive_signal) || signals_.value(aql.queue_inactive_signal) == 0) {
        queue.scratch = QueueSlot::Scratch::granted;
        return Step::progress;
      }
      queue.waiting_for = "the runtime to provide scratch memory";
      break;
    default:
      if ((std::atomic_ref(aql.queue_properties).load(std::memory_order_acquire) & hsa::kUseScratchOnce) == 0) {
        queue.scratch = QueueSlot::Scratch::settled;
        return Step::progress;
      }
      queue.waiting_for = "the runtime to take back scratch memory";
      break;
  }
  queue.polls = true;
  return Step::poll;
}

void PacketProcessor::diagnose(std::ostream& out) const {
  for (unsigned i = 0; i < slots_.size(); ++i) {
    const QueueSlot& queue = slots_[i];
    if (queue.state == QueueSlot::State::inactive) continue;
    const char* state = queue.state == QueueSlot::State::failed ? "failed" : queue.suspended ? "suspended" : "active";
    out << fmt::format("  queue {}: {}, next packet {}, announced {}, retired {}", i, state, queue.next, queue.rung,
                       queue.retired);
    if (queue.state == QueueSlot::State::active && queue.next < queue.rung) out << ", waits for: " << queue.waiting_for;
    out << '\n';
  }
}

}  // namespace lacuna
