#include "models/sdma/sdma_queue_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ostream>
#include <utility>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"
#include "models/sdma/shared_memory.h"

namespace lacuna {

std::optional<std::uint32_t> SdmaQueueTable::create(const SdmaQueueDescription& description) {
  constexpr std::uint64_t kAlignment = 256;
  const auto refuse = [&](const std::string& why) {
    guest_error("refused queue commands", "{}: no SDMA queue: {}", notifier_.owner(), why);
    return std::nullopt;
  };
  if (!std::has_single_bit(description.ring_bytes) || description.ring_bytes < kAlignment) {
    return refuse(fmt::format("a ring of {} bytes is not a power of two from {} on", description.ring_bytes, kAlignment));
  }
  if (format_.pointers_wrap && description.ring_bytes > std::uint64_t{1} << 32) {
    return refuse(fmt::format("a ring of {} bytes is more than 32-bit pointers reach", description.ring_bytes));
  }
  if (description.ring % kAlignment != 0 ||
      vm_.pointer(description.ring, description.ring_bytes, isa::Access::read) == nullptr) {
    return refuse(fmt::format("the ring at {:#x} is not mapped, {}-byte aligned memory of {} bytes; {}", description.ring,
                              kAlignment, description.ring_bytes, vm_.nearest(description.ring)));
  }
  if (description.read_pointer % 8 != 0 || vm_.pointer(description.read_pointer, 8, isa::Access::read_write) == nullptr) {
    return refuse(fmt::format("the read pointer at {:#x} is not mapped, 8-byte aligned memory; {}", description.read_pointer,
                              vm_.nearest(description.read_pointer)));
  }
  auto queue = std::make_shared<SdmaQueue>();
  queue->id = numbering_.first_id + created_++ * numbering_.stride;
  queue->description = description;
  store_read_pointer(*queue);
  const std::uint32_t id = queue->id;
  queues_.emplace(id, std::move(queue));
  return id;
}

bool SdmaQueueTable::destroy(std::uint32_t id) {
  const auto found = queues_.find(id);
  if (found == queues_.end()) return false;
  found->second->alive = false;
  queues_.erase(found);
  return true;
}

bool SdmaQueueTable::suspend(std::uint32_t id, bool suspended) {
  const auto found = queues_.find(id);
  if (found == queues_.end()) return false;
  found->second->suspended = suspended;
  return true;
}

SdmaQueueTable::Doorbell SdmaQueueTable::ring(std::uint32_t id, std::uint64_t write_pointer) {
  const auto found = queues_.find(id);
  if (found == queues_.end()) return Doorbell::unknown_queue;
  SdmaQueue& queue = *found->second;
  if (queue.stopped) return Doorbell::ignored;
  const std::uint64_t size = queue.description.ring_bytes;
  const std::uint64_t written =
      format_.pointers_wrap ? queue.read + ((write_pointer - queue.read) & (size - 1)) : write_pointer;
  if (written < queue.read || written - queue.read > size || written % 4 != 0) {
    notifier_.stop(queue, fmt::format("write pointer {:#x} with the read pointer at {:#x} and a ring of {:#x} bytes",
                                      write_pointer, queue.read, size));
    return Doorbell::ignored;
  }
  queue.written = written;
  return Doorbell::rung;
}

void SdmaQueueTable::clear() {
  for (const auto& [id, queue] : queues_) queue->alive = false;
  queues_.clear();
  served_ = 0;
}

std::shared_ptr<SdmaQueue> SdmaQueueTable::next() {
  auto next = queues_.upper_bound(served_);
  if (next == queues_.end()) next = queues_.begin();
  served_ = next->first;
  return next->second;
}

void SdmaQueueTable::consume(SdmaQueue& queue, std::uint64_t count) const {
  if (!queue.buffer) {
    queue.read += count * 4;
    store_read_pointer(queue);
    return;
  }
  queue.buffer->next += count;
  if (queue.buffer->next == queue.buffer->words) queue.buffer.reset();
}

void SdmaQueueTable::store_read_pointer(const SdmaQueue& queue) const {
  std::byte* at = vm_.pointer(queue.description.read_pointer, 8, isa::Access::read_write);
  if (at == nullptr) return;
  if (format_.pointers_wrap) {
    store_shared(at, static_cast<std::uint32_t>(queue.read & (queue.description.ring_bytes - 1)));
  } else {
    store_shared(at, queue.read);
  }
}

bool SdmaQueueTable::idle() const {
  return std::all_of(queues_.begin(), queues_.end(), [now = kernel_time()](const auto& entry) {
    const SdmaQueue& q = *entry.second;
    return q.suspended || q.stopped || q.drained(now);
  });
}

bool SdmaQueueTable::polling() const {
  return !idle() && std::all_of(queues_.begin(), queues_.end(), [now = kernel_time()](const auto& entry) {
    const SdmaQueue& q = *entry.second;
    return q.suspended || q.stopped || q.waits_for_memory || q.drained(now);
  });
}

bool SdmaQueueTable::polled_after(Tick time) const {
  return std::all_of(queues_.begin(), queues_.end(), [time](const auto& entry) {
    const SdmaQueue& q = *entry.second;
    return q.suspended || q.stopped || !q.waits_for_memory || q.polled > time;
  });
}

void SdmaQueueTable::diagnose(std::ostream& out) const {
  for (const auto& [id, q] : queues_) {
    const char* state = q->stopped ? "stopped" : q->suspended ? "suspended" : "active";
    out << fmt::format("  SDMA queue {} ({}): {}, read {:#x}, written {:#x}", id, q->description.name, state, q->read,
                       q->written);
    if (*q->waiting_for != 0) out << ", waits for: " << q->waiting_for;
    out << '\n';
  }
}

}  // namespace lacuna
