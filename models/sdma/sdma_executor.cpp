#include "models/sdma/sdma_executor.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <type_traits>
#include <variant>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"
#include "models/sdma/shared_memory.h"

namespace lacuna {

namespace {

/// Whether the packet must wait until earlier data are in memory, because other agents observe the packet.
template <class Packet>
constexpr bool kDrains =
    !std::is_same_v<Packet, sdma::Nop> && !std::is_same_v<Packet, sdma::Copy> && !std::is_same_v<Packet, sdma::CopyWindow> &&
    !std::is_same_v<Packet, sdma::Write> && !std::is_same_v<Packet, sdma::Fill> && !std::is_same_v<Packet, sdma::Invalid>;

/// Executes an atomic operation and returns the previous value. Host threads may change the same memory concurrently.
template <class T>
T perform(std::byte* at, const sdma::Atomic& atomic) {
  std::atomic_ref<T> shared(*reinterpret_cast<T*>(at));
  T old = shared.load(std::memory_order_relaxed);
  while (!shared.compare_exchange_weak(old, static_cast<T>(atomic.result(old)), std::memory_order_acq_rel)) {
  }
  return old;
}

}  // namespace

SdmaStep SdmaExecutor::execute(SdmaQueue& queue, std::span<const std::uint32_t> words) {
  words_ = words;
  const std::uint64_t length = words.size();
  const sdma::Packet packet = sdma::decode(words, context_.format);
  const Result result = std::visit(
      [&]<class Packet>(const Packet& p) {
        if constexpr (kDrains<Packet>) {
          if (!drain(queue)) return Result::aborted;
        }
        return run(queue, p);
      },
      packet);
  if (result == Result::blocked) return SdmaStep::idle;
  if (result == Result::poll) return SdmaStep::poll;
  if (result == Result::aborted || !queue.alive) return SdmaStep::progress;
  queue.waits_for_memory = false;
  queue.failed_polls = 0;
  ++context_.statistics.packets;
  context_.queues.consume(queue, length);
  if (const auto* indirect = std::get_if<sdma::Indirect>(&packet); indirect != nullptr && indirect->words != 0) {
    queue.buffer = SdmaQueue::IndirectBuffer{.address = indirect->address, .words = indirect->words};
  }
  return SdmaStep::progress;
}

bool SdmaExecutor::drain(SdmaQueue& queue) {
  context_.bulk.install_pending(queue);
  context_.timeline.advance_to(queue.done);
  return context_.timeline.wait(queue);
}

SdmaExecutor::Result SdmaExecutor::wait_for_memory(SdmaQueue& queue) const {
  queue.waits_for_memory = true;
  queue.polled = kernel_time();
  queue.waiting_for = "memory that a packet polls";
  return Result::poll;
}

// -- data

bool SdmaExecutor::copy(SdmaQueue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations,
                        std::uint64_t bytes) {
  context_.bulk.work_begins();
  const SdmaTransfer transfer{.source = source, .destination = destinations[0], .bytes = bytes};
  if (destinations.size() == 1 && context_.bulk.accepts(transfer)) return context_.bulk.transfer(queue, transfer);
  return context_.mover.copy(queue, source, destinations, bytes);
}

SdmaExecutor::Result SdmaExecutor::run(SdmaQueue& queue, const sdma::Copy& packet) {
  ++context_.statistics.copies;
  const auto destinations = std::span(packet.destination).first(packet.destinations);
  return copy(queue, packet.source, destinations, packet.bytes) ? Result::done : Result::aborted;
}

SdmaExecutor::Result SdmaExecutor::run(SdmaQueue& queue, const sdma::CopyWindow& box) {
  ++context_.statistics.copies;
  const std::uint64_t row_bytes = std::uint64_t{box.width} * box.element;
  for (std::uint64_t z = 0; z < box.depth; ++z) {
    for (std::uint64_t y = 0; y < box.height; ++y) {
      const std::uint64_t to = box.destination.row(y, z, box.element);
      if (!copy(queue, box.source.row(y, z, box.element), {&to, 1}, row_bytes)) return Result::aborted;
    }
  }
  return Result::done;
}

SdmaExecutor::Result SdmaExecutor::run(SdmaQueue& queue, const sdma::Fill& packet) {
  ++context_.statistics.fills;
  std::array<std::byte, SdmaDataMover::kLargestRequest + sizeof packet.data> pattern{};
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<std::byte>(packet.data >> (i % packet.unit * 8));
  context_.bulk.work_begins();
  const SdmaTransfer transfer{
      .destination = packet.destination, .bytes = packet.bytes, .pattern = pattern, .unit = packet.unit};
  if (context_.bulk.accepts(transfer)) return context_.bulk.transfer(queue, transfer) ? Result::done : Result::aborted;
  context_.bulk.install_pending(queue);
  return context_.mover.transfer(queue, transfer, 0, packet.bytes) ? Result::done : Result::aborted;
}

SdmaExecutor::Result SdmaExecutor::run(SdmaQueue& queue, const sdma::Write& packet) {
  const auto data = std::as_bytes(words_).subspan(sdma::Write::kHeader * 4);
  return context_.mover.write(queue, packet.destination, data) ? Result::done : Result::aborted;
}

// -- control

SdmaExecutor::Result SdmaExecutor::run(SdmaQueue& queue, const sdma::Invalid& packet) {
  context_.notifier.stop(queue, packet.why);
  return Result::aborted;
}

SdmaExecutor::Result SdmaExecutor::run(SdmaQueue& queue, const sdma::Indirect&) {
  if (!queue.buffer) return Result::done;
  context_.notifier.stop(queue, "indirect buffer in an indirect buffer");
  return Result::aborted;
}

SdmaExecutor::Result SdmaExecutor::run(SdmaQueue& queue, const sdma::Conditional& packet) {
  if (queue.available_words() < words_.size() + packet.words) {
    if (!queue.buffer) {
      queue.waiting_for = "the words of a conditional packet";
      return Result::blocked;
    }
    context_.notifier.stop(queue,
                           fmt::format("conditional execution of {} words beyond the indirect buffer's end", packet.words));
    return Result::aborted;
  }
  const std::byte* at = context_.memory.object(queue, packet.address, 4, false, "conditional execution");
  if (at == nullptr) return Result::aborted;
  if (load_shared<std::uint32_t>(at) != packet.reference) context_.queues.consume(queue, packet.words);
  return Result::done;
}

SdmaExecutor::Result SdmaExecutor::run(SdmaQueue& queue, const sdma::Fence& packet) {
  std::byte* at = context_.memory.object(queue, packet.address, 4, true, "fence");
  if (at == nullptr) return Result::aborted;
  store_shared(at, packet.data);
  ++context_.statistics.fences;
  return Result::done;
}

SdmaExecutor::Result SdmaExecutor::run(SdmaQueue& queue, const sdma::Trap& packet) {
  context_.notifier.trap(queue, packet.context);
  return Result::done;
}

SdmaExecutor::Result SdmaExecutor::run(SdmaQueue& queue, const sdma::Timestamp& packet) {
  const std::uint64_t ticks = context_.timestamp.floor(kernel_time()).n;
  if (packet.kind == sdma::Timestamp::Kind::set) {
    timestamp_offset_ = static_cast<std::int64_t>(packet.value - ticks);
    return Result::done;
  }
  const bool local = packet.kind == sdma::Timestamp::Kind::get;
  std::byte* at = context_.memory.object(queue, packet.value & ~std::uint64_t{7}, 8, true, "timestamp");
  if (at == nullptr) return Result::aborted;
  store_shared(at, ticks + (local ? static_cast<std::uint64_t>(timestamp_offset_) : 0));
  return Result::done;
}

// Polls of registers and HDP flushes complete immediately: they concern the host bus, which has no buffers to flush.
SdmaExecutor::Result SdmaExecutor::run(SdmaQueue& queue, const sdma::Poll& packet) {
  if (!packet.memory) return Result::done;
  const std::byte* at = context_.memory.object(queue, packet.address & ~std::uint64_t{3}, 4, false, "poll");
  if (at == nullptr) return Result::aborted;
  ++context_.statistics.polls;
  if (packet.satisfied(load_shared<std::uint32_t>(at))) return Result::done;
  if (packet.retries == sdma::Poll::kForEver || queue.failed_polls++ < packet.retries) return wait_for_memory(queue);
  guest_warning("abandoned SDMA polls", "{}: queue {}: poll of {:#x} gives up after {} retries", context_.notifier.owner(),
                queue.id, packet.address, packet.retries);
  return Result::done;
}

SdmaExecutor::Result SdmaExecutor::run(SdmaQueue& queue, const sdma::Atomic& packet) {
  std::byte* at = context_.memory.object(queue, packet.address, packet.bytes, true, "atomic");
  if (at == nullptr) return Result::aborted;
  const bool equal = packet.bytes == 8 ? perform<std::uint64_t>(at, packet) == packet.comparand
                                       : perform<std::uint32_t>(at, packet) == static_cast<std::uint32_t>(packet.comparand);
  if (packet.loop && packet.operation == sdma::AtomicOperation::compare_exchange && !equal) return wait_for_memory(queue);
  ++context_.statistics.atomics;
  return Result::done;
}

}  // namespace lacuna
