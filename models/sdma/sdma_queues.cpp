// The SDMA engine's queues: made, suspended and told of packets by software.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ostream>

#include "models/common/config/guest_mistake.h"
#include "models/sdma/sdma_engine_state.h"

namespace lacuna {

std::optional<std::uint32_t> SdmaEngine::create_queue(const SdmaQueueDescription& description) {
  constexpr std::uint64_t kAlignment = 256;
  const auto refuse = [&](const std::string& why) {
    guest_error("refused queue commands", "{}: no SDMA queue: {}", name(), why);
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
  auto queue = std::make_shared<Queue>();
  queue->id = made_++ * parameters_.engines + index_ + 1;
  queue->description = description;
  store_read_pointer(*queue);
  const std::uint32_t id = queue->id;
  queues_.emplace(id, std::move(queue));
  return id;
}

bool SdmaEngine::destroy_queue(std::uint32_t queue) {
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return false;
  found->second->alive = false;
  queues_.erase(found);
  return true;
}

bool SdmaEngine::suspend_queue(std::uint32_t queue, bool suspended) {
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return false;
  found->second->suspended = suspended;
  work_.notify(sc_core::SC_ZERO_TIME);
  return true;
}

bool SdmaEngine::ring(std::uint32_t queue, std::uint64_t write_pointer) {
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return false;
  Queue& q = *found->second;
  if (q.stopped) return true;
  const std::uint64_t size = q.description.ring_bytes;
  const std::uint64_t written = format_.pointers_wrap ? q.read + ((write_pointer - q.read) & (size - 1)) : write_pointer;
  if (written < q.read || written - q.read > size || written % 4 != 0) {
    stop(q, fmt::format("write pointer {:#x} with the read pointer at {:#x} and a ring of {:#x} bytes", write_pointer, q.read,
                        size));
    return true;
  }
  q.written = written;
  work_.notify(sc_core::SC_ZERO_TIME);
  return true;
}

void SdmaEngine::reset() {
  for (const auto& [id, queue] : queues_) queue->alive = false;
  queues_.clear();
  served_ = 0;
  at_ = {};
  staged_ = 0;
  in_flight_.reset();
  write_port_.reset();
  windows_epoch_ = ~std::uint64_t{0};
  timestamp_offset_ = 0;
  // What copies cost depends on what was known when they began: a new beginning knows nothing.
  costs_ = {};
  tails_.clear();
  work_.cancel();
  if (server_.valid()) server_.reset();  // it looks for work from the beginning, and finds none
}

void SdmaEngine::retire(Tick horizon) {
  in_flight_.retire(horizon);
  write_port_.retire(horizon);
}

void SdmaEngine::describe_statistics(StatisticsGroup& device) const { statistics_.describe(device.group(basename())); }

bool SdmaEngine::idle() const {
  return std::all_of(queues_.begin(), queues_.end(), [this](const auto& entry) {
    const Queue& q = *entry.second;
    if (q.suspended || q.stopped) return true;
    return q.available_words() == 0 && !q.buffer && q.done <= now();
  });
}

bool SdmaEngine::polling() const {
  return !idle() && std::all_of(queues_.begin(), queues_.end(), [this](const auto& entry) {
    const Queue& q = *entry.second;
    if (q.suspended || q.stopped || q.waits_for_memory) return true;
    return q.available_words() == 0 && !q.buffer && q.done <= now();
  });
}

void SdmaEngine::store_read_pointer(const Queue& queue) {
  std::byte* at = vm_.pointer(queue.description.read_pointer, 8, isa::Access::read_write);
  if (at == nullptr) return;
  if (format_.pointers_wrap) {
    store_shared(at, static_cast<std::uint32_t>(queue.read & (queue.description.ring_bytes - 1)));
  } else {
    store_shared(at, queue.read);
  }
}

void SdmaEngine::diagnose(std::ostream& out) const {
  for (const auto& [id, q] : queues_) {
    const char* state = q->stopped ? "stopped" : q->suspended ? "suspended" : "active";
    out << fmt::format("  SDMA queue {} ({}): {}, read {:#x}, written {:#x}", id, q->description.name, state, q->read,
                       q->written);
    if (*q->waiting_for != 0) out << ", waits for: " << q->waiting_for;
    out << '\n';
  }
}

}  // namespace lacuna
