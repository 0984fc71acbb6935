#include "models/command/queue_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <ostream>
#include <utility>

#include "models/common/config/guest_mistake.h"

namespace lacuna {

namespace {

/// Reads a word that host threads write with release order.
std::uint64_t load_index(std::uint64_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }

}  // namespace

QueueTable::QueueTable(std::string owner, unsigned slots, const GpuVm& vm, MaskCheck mask_selects_any)
    : owner_(std::move(owner)), vm_(vm), mask_selects_any_(std::move(mask_selects_any)), slots_(slots) {}

hsa::Queue* QueueTable::memory(const QueueSlot& queue) const {
  return reinterpret_cast<hsa::Queue*>(vm_.pointer(queue.address, sizeof(hsa::Queue), isa::Access::read_write));
}

std::byte* QueueTable::packet(const QueueSlot& queue, std::uint64_t index) const {
  return vm_.pointer(queue.packet_address(index), hsa::kPacketBytes, isa::Access::read_write);
}

// -- slots

void QueueTable::sort() {
  order_.clear();
  for (unsigned i = 0; i < slots_.size(); ++i) {
    if (slots_[i].state != QueueSlot::State::inactive) order_.push_back(i);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [this](unsigned a, unsigned b) { return slots_[a].priority > slots_[b].priority; });
}

unsigned QueueTable::free_slot() {
  const auto unused =
      std::find_if(slots_.begin(), slots_.end(), [](const QueueSlot& q) { return q.state == QueueSlot::State::inactive; });
  const auto slot = static_cast<unsigned>(unused - slots_.begin());
  if (unused == slots_.end()) slots_.emplace_back();
  return slot;
}

bool QueueTable::check_mask(unsigned slot, std::span<const std::uint32_t> mask) const {
  if (mask_selects_any_(mask)) return true;
  guest_error("refused queue commands", "{}: queue slot {}: the CU mask enables no compute unit", owner_, slot);
  return false;
}

std::uint32_t QueueTable::create(unsigned slot, std::uint64_t aql_queue, const QueueSetup& setup) {
  if (slot >= slots_.size() || slots_[slot].state != QueueSlot::State::inactive) {
    guest_error("refused queue commands", "{}: queue slot {} {}", owner_, slot,
                slot >= slots_.size() ? "does not exist" : "is in use");
    return LACUNA_QUEUE_ERROR_SLOT;
  }
  QueueSlot queue;
  queue.address = aql_queue;
  hsa::Queue* aql = aql_queue % 64 == 0 ? memory(queue) : nullptr;
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
        owner_, slot, aql_queue);
    return LACUNA_QUEUE_ERROR_DESCRIPTOR;
  }
  if (!check_mask(slot, setup.cu_mask)) return LACUNA_QUEUE_ERROR_DESCRIPTOR;
  queue.state = QueueSlot::State::active;
  queue.doorbell = setup.doorbell;
  queue.priority = setup.priority;
  queue.cu_mask = setup.cu_mask;
  queue.generation = ++generations_;
  queue.next = queue.retired = queue.announced = load_index(aql->read_dispatch_id);
  slots_[slot] = std::move(queue);
  sort();
  return LACUNA_QUEUE_ERROR_NONE;
}

void QueueTable::remove(unsigned slot) {
  slots_[slot] = QueueSlot{};
  if (gws_ == slot) gws_.reset();
  sort();
}

void QueueTable::clear() {
  for (QueueSlot& queue : slots_) queue = QueueSlot{};
  gws_.reset();
  order_.clear();
}

bool QueueTable::fail(unsigned slot, std::uint32_t error, std::uint64_t packet) {
  QueueSlot& queue = slots_[slot];
  if (queue.state != QueueSlot::State::active) return false;
  queue.state = QueueSlot::State::failed;
  queue.error = error;
  queue.error_packet = packet;
  return true;
}

bool QueueTable::in_use(unsigned slot, const char* what) const {
  if (slot < slots_.size() && slots_[slot].state != QueueSlot::State::inactive) return true;
  guest_error("refused queue commands", "{}: {} of queue slot {}, which is not in use", owner_, what, slot);
  return false;
}

std::uint32_t QueueTable::suspend(unsigned slot, bool suspended) {
  if (!in_use(slot, suspended ? "suspension" : "resumption")) return LACUNA_QUEUE_ERROR_SLOT;
  QueueSlot& queue = slots_[slot];
  queue.suspended = suspended;
  for (const InFlightPacket& packet : queue.in_flight) {
    if (packet.dispatch != nullptr) packet.dispatch->held = suspended;
  }
  return LACUNA_QUEUE_ERROR_NONE;
}

std::uint32_t QueueTable::set_priority(unsigned slot, int priority) {
  if (!in_use(slot, "priority")) return LACUNA_QUEUE_ERROR_SLOT;
  slots_[slot].priority = priority;
  sort();
  return LACUNA_QUEUE_ERROR_NONE;
}

std::uint32_t QueueTable::set_cu_mask(unsigned slot, std::vector<std::uint32_t> mask) {
  if (!in_use(slot, "CU mask")) return LACUNA_QUEUE_ERROR_SLOT;
  if (!check_mask(slot, mask)) return LACUNA_QUEUE_ERROR_DESCRIPTOR;
  slots_[slot].cu_mask = std::move(mask);
  return LACUNA_QUEUE_ERROR_NONE;
}

std::uint32_t QueueTable::allocate_gws(unsigned slot) {
  if (!in_use(slot, "global wave sync")) return LACUNA_QUEUE_ERROR_SLOT;
  if (gws_ && *gws_ != slot) {
    guest_warning("refused queue commands", "{}: queue slot {} has global wave sync, slot {} cannot have it", owner_, *gws_,
                  slot);
    return LACUNA_QUEUE_ERROR_SLOT;
  }
  gws_ = slot;
  return LACUNA_QUEUE_ERROR_NONE;
}

// -- doorbells

bool QueueTable::ring(unsigned slot, std::uint64_t last) {
  QueueSlot& queue = slots_[slot];
  if (queue.state != QueueSlot::State::active) {
    guest_warning("doorbells of inactive queues", "{}: doorbell of queue slot {}, which is {}", owner_, slot,
                  queue.state == QueueSlot::State::failed ? "failed" : "not in use");
    return false;
  }
  queue.announced = std::max(queue.announced, last + 1);
  return true;
}

std::uint64_t QueueTable::doorbell(const QueueSlot& queue) const {
  if (queue.doorbell == DoorbellKind::ring || queue.state != QueueSlot::State::active) return 0;
  hsa::Queue* aql = memory(queue);
  if (aql == nullptr) return 0;  // not mapped: the packet processor reports the error at its next visit
  return queue.doorbell == DoorbellKind::write_index ? written_packets(queue, *aql)
                                                     : load_index(aql->max_legacy_doorbell_dispatch_id_plus_1);
}

// A writer reserves an index, writes the packet, and stores its header last. A packet without a header is therefore not
// announced yet. No simulated time passes until the host has written the header.
std::uint64_t QueueTable::written_packets(const QueueSlot& queue, hsa::Queue& aql) const {
  const std::uint64_t end = std::min(load_index(aql.write_dispatch_id), queue.retired + queue.size);
  std::uint64_t written = queue.announced;
  for (; written < end; ++written) {
    std::byte* raw = packet(queue, written);
    if (raw == nullptr) return end;  // not mapped: the packet processor reports the error at its next visit
    const auto header = std::atomic_ref(*reinterpret_cast<std::uint16_t*>(raw)).load(std::memory_order_acquire);
    if (hsa::PacketHeader{header}.type() == hsa::PacketType::invalid) break;
  }
  return written;
}

unsigned QueueTable::poll_doorbells() {
  unsigned rung = 0;
  for (const unsigned slot : order_) {
    QueueSlot& queue = slots_[slot];
    const std::uint64_t written = doorbell(queue);
    if (written <= queue.announced) continue;
    queue.announced = written;
    ++rung;
  }
  return rung;
}

bool QueueTable::has_doorbells() const {
  return std::any_of(order_.begin(), order_.end(),
                     [this](unsigned slot) { return doorbell(slots_[slot]) > slots_[slot].announced; });
}

// Writers may reserve indices before the ring has room for their packets: packets beyond the ring have not been written yet. A
// doorbell register, in contrast, is written after the packets.
std::uint64_t QueueTable::end_of_packets(const QueueSlot& queue) {
  return queue.doorbell == DoorbellKind::ring ? queue.announced : std::min(queue.announced, queue.retired + queue.size);
}

void QueueTable::visit_packets(const std::function<void(const std::byte*)>& visit) const {
  for (const unsigned slot : order_) {
    const QueueSlot& queue = slots_[slot];
    if (queue.doorbell == DoorbellKind::ring) continue;
    const std::uint64_t end = std::min(std::max(doorbell(queue), queue.announced), queue.retired + queue.size);
    const std::byte* const ring = vm_.pointer(queue.ring, std::uint64_t{queue.size} * hsa::kPacketBytes, isa::Access::read);
    if (ring == nullptr) continue;
    for (std::uint64_t index = queue.retired; index < end; ++index) visit(ring + (queue.packet_address(index) - queue.ring));
  }
}

bool QueueTable::retire(QueueSlot& queue) const {
  hsa::Queue* aql = memory(queue);
  if (aql == nullptr) return false;  // not mapped: the packet processor reports the error at its next visit
  const std::uint64_t before = queue.retired;
  while (!queue.in_flight.empty() && queue.in_flight.front().done) {
    const std::uint64_t index = queue.in_flight.front().index;
    if (std::byte* raw = packet(queue, index)) {
      std::atomic_ref(*reinterpret_cast<std::uint16_t*>(raw))
          .store(static_cast<std::uint16_t>(hsa::PacketType::invalid), std::memory_order_relaxed);
    }
    queue.in_flight.pop_front();
    queue.retired = index + 1;
    // Release order: a writer that reads the new index may overwrite the slot.
    std::atomic_ref(aql->read_dispatch_id).store(queue.retired, std::memory_order_release);
  }
  return queue.retired != before;
}

// -- state

bool QueueTable::idle() const {
  return std::all_of(slots_.begin(), slots_.end(), [](const QueueSlot& q) {
    return q.state != QueueSlot::State::active || (q.in_flight.empty() && q.next >= q.announced);
  });
}

QueueActivity QueueTable::activity() const {
  bool waits = false;
  for (const unsigned slot : order_) {
    const QueueSlot& queue = slots_[slot];
    if (queue.state != QueueSlot::State::active || queue.suspended) continue;
    if (!queue.in_flight.empty()) return QueueActivity::busy;
    if (queue.polls) {
      waits = true;
    } else if (queue.next < queue.announced) {
      return QueueActivity::busy;
    }
  }
  return waits ? QueueActivity::waits_for_memory : QueueActivity::idle;
}

void QueueTable::diagnose(std::ostream& out) const {
  for (unsigned i = 0; i < slots_.size(); ++i) {
    const QueueSlot& queue = slots_[i];
    if (queue.state == QueueSlot::State::inactive) continue;
    const char* state = queue.state == QueueSlot::State::failed ? "failed" : queue.suspended ? "suspended" : "active";
    out << fmt::format("  queue {}: {}, next packet {}, announced {}, retired {}", i, state, queue.next, queue.announced,
                       queue.retired);
    if (queue.state == QueueSlot::State::active && queue.next < queue.announced) out << ", waits for: " << queue.waiting_for;
    out << '\n';
  }
}

}  // namespace lacuna
