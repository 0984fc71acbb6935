// The packet processor's queues: how they come and go, and how new packets are noticed.
#include <algorithm>
#include <atomic>
#include <bit>

#include "models/command/packet_processor.h"
#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

namespace {

/// What other threads write with release order.
std::uint64_t acquire_load(std::uint64_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }

}  // namespace

hsa::Queue* PacketProcessor::queue_memory(const QueueSlot& queue) const {
  return reinterpret_cast<hsa::Queue*>(vm_.pointer(queue.address, sizeof(hsa::Queue), isa::Access::read_write));
}

QueueSlot* PacketProcessor::used(unsigned slot, const char* what) {
  if (slot < slots_.size() && slots_[slot].state != QueueSlot::State::inactive) return &slots_[slot];
  guest_error("refused queue commands", "{}: {} of queue slot {}, which is not in use", name(), what, slot);
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
    guest_error("refused queue commands", "{}: queue slot {} {}", name(), slot,
                slot >= slots_.size() ? "does not exist" : "is in use");
    return LACUNA_QUEUE_ERROR_SLOT;
  }
  QueueSlot queue;
  queue.address = aql_queue;
  hsa::Queue* aql = aql_queue % 64 == 0 ? queue_memory(queue) : nullptr;
  if (aql != nullptr) {
    queue.ring = aql->base_address;
    queue.size = aql->size;
  }
  const bool ring_ok =
      std::has_single_bit(queue.size) && queue.ring % hsa::kPacketBytes == 0 &&
      vm_.pointer(queue.ring, std::uint64_t{queue.size} * hsa::kPacketBytes, isa::Access::read_write) != nullptr;
  if (!ring_ok) {
    guest_error(
        "refused queue commands",
        "{}: queue slot {}: no usable amd_queue_t at {:#x}: it must be mapped, 64-byte aligned, with a mapped ring of a "
        "power-of-two number of packets",
        name(), slot, aql_queue);
    return LACUNA_QUEUE_ERROR_DESCRIPTOR;
  }
  if (!dispatcher_.mask_selects_any(setup.cu_mask)) {
    guest_error("refused queue commands", "{}: queue slot {}: the mask of compute units leaves none", name(), slot);
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
  dispatcher_.reschedule();
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
  if (!dispatcher_.mask_selects_any(mask)) {
    guest_error("refused queue commands", "{}: queue slot {}: the mask of compute units leaves none", name(), slot);
    return LACUNA_QUEUE_ERROR_DESCRIPTOR;
  }
  queue->cu_mask = std::move(mask);
  return LACUNA_QUEUE_ERROR_NONE;
}

std::uint32_t PacketProcessor::allocate_gws(unsigned slot) {
  if (used(slot, "global wave sync") == nullptr) return LACUNA_QUEUE_ERROR_SLOT;
  if (synced_ && *synced_ != slot) {
    guest_warning("refused queue commands", "{}: queue slot {} has global wave sync, slot {} cannot have it", name(), *synced_,
                  slot);
    return LACUNA_QUEUE_ERROR_SLOT;
  }
  synced_ = slot;
  return LACUNA_QUEUE_ERROR_NONE;
}

void PacketProcessor::drop_dispatches(unsigned slot) {
  QueueSlot& queue = slots_[slot];
  for (InFlightPacket& packet : queue.in_flight) {
    if (packet.dispatch == nullptr || packet.done) continue;
    bulk_.drop(*packet.dispatch);
    dispatcher_.abort(*packet.dispatch);
    packet.dispatch->end = now();
    report(packet, KernelEnd::failed);
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
  completed_.clear();
  faults_.clear();
  synced_.reset();
  bulk_.reset();
  order_queues();
  work_.cancel();
  if (process_.valid()) process_.reset();  // it goes round the queues from the beginning, and finds none
}

// -- doorbells

void PacketProcessor::ring(unsigned slot, std::uint64_t last, Tick at) {
  ++statistics_.doorbells;
  QueueSlot& queue = slots_[slot];
  if (queue.state != QueueSlot::State::active) {
    guest_warning("doorbells of inactive queues", "{}: doorbell of queue slot {}, which is {}", name(), slot,
                  queue.state == QueueSlot::State::failed ? "failed" : "not in use");
    return;
  }
  queue.rung = std::max(queue.rung, last + 1);
  work_.notify(to_sc_time(later(at, now()) - now()));
}

/// Packets that the host has announced in memory; 0 for queues whose doorbell is not there.
std::uint64_t PacketProcessor::doorbell(const QueueSlot& queue) const {
  if (queue.doorbell == DoorbellKind::ring || queue.state != QueueSlot::State::active) return 0;
  hsa::Queue* aql = queue_memory(queue);
  if (aql == nullptr) return 0;  // step() says so
  return queue.doorbell == DoorbellKind::write_index ? written_packets(queue, *aql)
                                                     : acquire_load(aql->max_legacy_doorbell_dispatch_id_plus_1);
}

bool PacketProcessor::has_doorbells() const {
  return std::any_of(order_.begin(), order_.end(),
                     [this](unsigned slot) { return doorbell(slots_[slot]) > slots_[slot].rung; });
}

void PacketProcessor::visit_packets(const std::function<void(const std::byte*)>& visit) const {
  for (const unsigned slot : order_) {
    const QueueSlot& queue = slots_[slot];
    if (queue.doorbell == DoorbellKind::ring) continue;
    const std::uint64_t end = std::min(std::max(doorbell(queue), queue.rung), queue.retired + queue.size);
    const std::byte* const ring = vm_.pointer(queue.ring, std::uint64_t{queue.size} * hsa::kPacketBytes, isa::Access::read);
    if (ring == nullptr) continue;
    for (std::uint64_t index = queue.retired; index < end; ++index) visit(ring + (queue.place(index) - queue.ring));
  }
}

bool PacketProcessor::look_at_doorbells() {
  bool news = false;
  for (const unsigned slot : order_) {
    QueueSlot& queue = slots_[slot];
    const std::uint64_t written = doorbell(queue);
    if (written <= queue.rung) continue;
    queue.rung = written;
    ++statistics_.doorbells;
    news = true;
  }
  if (news) work_.notify(sc_core::SC_ZERO_TIME);
  return news;
}

// A writer reserves an index, writes its packet, then the header. The doorbell would come after that: a packet without its
// header has not been announced, and no simulated time passes while the host has yet to write it.
std::uint64_t PacketProcessor::written_packets(const QueueSlot& queue, hsa::Queue& aql) const {
  const std::uint64_t end = std::min(acquire_load(aql.write_dispatch_id), queue.retired + queue.size);
  std::uint64_t written = queue.rung;
  for (; written < end; ++written) {
    std::byte* raw = vm_.pointer(queue.place(written), hsa::kPacketBytes, isa::Access::read_write);
    if (raw == nullptr) return end;  // step() says so
    const auto header = std::atomic_ref(*reinterpret_cast<std::uint16_t*>(raw)).load(std::memory_order_acquire);
    if (hsa::PacketHeader{header}.type() == hsa::PacketType::invalid) break;
  }
  return written;
}

// Writers reserve indices before there is room for their packets: what lies beyond the ring is not there yet. A doorbell
// register on the other hand is written when the packets are, and a value beyond the ring is a mistake, which step() reports.
std::uint64_t PacketProcessor::announced(const QueueSlot& queue) {
  return queue.doorbell == DoorbellKind::ring ? queue.rung : std::min(queue.rung, queue.retired + queue.size);
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

}  // namespace lacuna
