#include "models/command/signals.h"

#include <fmt/format.h>

#include <atomic>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/common/config/guest_mistake.h"

namespace lacuna {

hsa::Signal* Signals::find(std::uint64_t handle) const {
  if (handle % 64 != 0) return nullptr;
  return reinterpret_cast<hsa::Signal*>(vm_.pointer(handle, sizeof(hsa::Signal), isa::Access::read_write));
}

std::optional<PacketRefusal> Signals::check(std::uint64_t handle) const {
  if (handle == 0 || valid(handle)) return std::nullopt;
  return PacketRefusal{
      .error = LACUNA_QUEUE_ERROR_SIGNAL,
      .why = fmt::format("signal handle {:#x} is not a 64-byte aligned, mapped address; {}", handle, vm_.nearest(handle))};
}

std::int64_t Signals::value(std::uint64_t handle) const {
  return std::atomic_ref(find(handle)->value).load(std::memory_order_acquire);
}

std::optional<SignalEvent> Signals::complete(std::uint64_t handle, std::uint64_t start, std::uint64_t end) const {
  hsa::Signal* found = find(handle);
  if (found == nullptr) return std::nullopt;
  hsa::Signal& signal = *found;
  signal.start_timestamp = start;
  signal.end_timestamp = end;
  // Read before the decrement: a thread that waits for the new value may reuse the signal immediately.
  const SignalEvent event{signal.event_id, signal.event_mailbox};
  std::atomic_ref(signal.value).fetch_sub(1, std::memory_order_acq_rel);
  return post(event);
}

std::optional<SignalEvent> Signals::store(std::uint64_t handle, std::int64_t value) const {
  hsa::Signal* found = find(handle);
  if (found == nullptr) return std::nullopt;
  hsa::Signal& signal = *found;
  std::atomic_ref(signal.value).store(value, std::memory_order_release);
  return post({signal.event_id, signal.event_mailbox});
}

std::optional<SignalEvent> Signals::post(const SignalEvent& event) const {
  if (event.mailbox == 0) return std::nullopt;
  std::byte* mailbox = event.mailbox % sizeof(std::uint64_t) == 0
                           ? vm_.pointer(event.mailbox, sizeof(std::uint64_t), isa::Access::read_write)
                           : nullptr;
  if (mailbox == nullptr) {
    guest_error("unusable event mailboxes", "event mailbox {:#x} of a signal is not an aligned, mapped address; {}",
                event.mailbox, vm_.nearest(event.mailbox));
  } else {
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(mailbox)).store(event.id, std::memory_order_release);
  }
  return event;
}

}  // namespace lacuna
