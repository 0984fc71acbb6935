#include "drivers/rocm/events.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <optional>

#include "drivers/rocm/address_space.h"
#include "drivers/rocm/memory.h"

namespace lacuna::rocm {
namespace {

/// Content of a mailbox to which no GPU has written.
constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

}  // namespace

Events::Events(HostWaits& waits) : host_waits_(waits) {
  waits_.reserve(kExpectedThreads);
  const std::optional<Reservation> memory = allocate_pages(kMost * sizeof(std::uint64_t), Memory::kPage);
  if (!memory) throw std::bad_alloc();
  mailboxes_ = {reinterpret_cast<std::uint64_t*>(memory->start), kMost};
}

Events::Event* Events::find(const HsaEvent* event) {
  const auto found = by_address_.find(event);
  return found == by_address_.end() ? nullptr : found->second;
}

std::size_t Events::waiting() {
  const std::lock_guard lock(mutex_);
  return waits_.size();
}

HSAKMT_STATUS Events::create(const HsaEventDescriptor& descriptor, bool manual_reset, bool signalled, HsaEvent*& event) {
  const std::lock_guard lock(mutex_);
  // An id is the index of the event's mailbox and starts from 1: in a signal, id 0 means that it has no event.
  std::uint32_t id = 1;
  for (const auto& [used, unused] : events_) {
    if (used != id) break;
    ++id;
  }
  if (id >= kMost) return HSAKMT_STATUS_OUT_OF_RESOURCES;
  auto made = std::make_unique<Event>();
  made->manual = manual_reset;
  made->set = signalled;
  made->event.EventId = id;
  made->event.EventData.EventType = descriptor.EventType;
  made->event.EventData.HWData1 = id;
  if (descriptor.EventType == HSA_EVENTTYPE_SIGNAL) {
    made->event.EventData.EventData.SyncVar = descriptor.SyncVar;
    made->event.EventData.HWData2 = reinterpret_cast<std::uint64_t>(&mailboxes_[id]);
    made->event.EventData.HWData3 = id;
  }
  std::atomic_ref(mailboxes_[id]).store(kEmpty);
  event = &made->event;
  by_address_.emplace(event, made.get());
  events_.emplace(id, std::move(made));
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Events::destroy(HsaEvent* event) {
  {
    const std::lock_guard lock(mutex_);
    const Event* found = find(event);
    if (found == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
    const std::uint32_t id = found->event.EventId;
    by_address_.erase(event);
    events_.erase(id);
    activate(event);  // a destroyed event ends its waits
  }
  host_waits_.give_way();
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Events::set(HsaEvent* event) {
  {
    const std::lock_guard lock(mutex_);
    Event* found = find(event);
    if (found == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
    set(*found);
  }
  host_waits_.give_way();
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Events::reset(HsaEvent* event) {
  const std::lock_guard lock(mutex_);
  Event* found = find(event);
  if (found == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  found->set = false;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Events::query(HsaEvent* event) {
  const std::lock_guard lock(mutex_);
  const Event* found = find(event);
  if (found == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  return found->set ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
}

bool Events::Wait::over() const {
  const auto set = static_cast<std::size_t>(std::count(activated.begin(), activated.end(), true));
  return all ? set == activated.size() : set != 0;
}

/// Consumes the events that are already set when a wait begins: all of them if the wait is for all, otherwise only the first.
void Events::take(Wait& wait) {
  for (std::size_t i = 0; i < wait.events.size(); ++i) {
    wait.activated[i] = find(wait.events[i])->set;
    if (wait.activated[i] && !wait.all) break;
  }
  // Reset in a second pass: an event may be listed twice.
  for (std::size_t i = 0; i < wait.events.size(); ++i) {
    if (!wait.activated[i]) continue;
    Event* event = find(wait.events[i]);
    event->set = event->manual;
  }
}

/// Sets again the auto-reset events that a wait has consumed: a wait that times out consumes none. Manual-reset events were not
/// changed.
void Events::give_back(const Wait& wait) {
  for (std::size_t i = 0; i < wait.events.size(); ++i) {
    if (!wait.activated[i]) continue;
    Event* event = find(wait.events[i]);
    if (event != nullptr && !event->manual) event->set = true;
  }
}

HSAKMT_STATUS Events::wait(std::span<HsaEvent* const> events, bool all, std::uint32_t milliseconds) {
  std::unique_lock lock(mutex_);
  for (HsaEvent* event : events)
    if (find(event) == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  Wait wait{events, all, std::vector<bool>(events.size())};
  take(wait);
  waits_.push_back(&wait);
  lock.unlock();
  const HostWaits::Condition over = [&] {
    const std::lock_guard guard(mutex_);
    return wait.over();
  };
  HostWaits::Limits limits;
  // Value that the runtime passes for "no timeout" if it limits the wait itself.
  constexpr std::uint32_t kWithoutEnd = HSA_EVENTTIMEOUT_INFINITE - 1;
  if (milliseconds < kWithoutEnd) limits.host = std::chrono::milliseconds(milliseconds);
  while (!host_waits_.wait(over, limits) && milliseconds == HSA_EVENTTIMEOUT_INFINITE) {
  }
  lock.lock();
  std::erase(waits_, &wait);
  if (!wait.over()) give_back(wait);
  return wait.over() ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
}

bool Events::activate(const HsaEvent* event) {
  bool waited_for = false;
  for (Wait* wait : waits_) {
    for (std::size_t i = 0; i < wait->events.size(); ++i) {
      if (wait->events[i] != event) continue;
      wait->activated[i] = waited_for = true;
    }
  }
  return waited_for;
}

/// As in the kernel driver (Linux, kfd_events.c): all waiting threads wake, and an auto-reset event stays set only if no thread
/// waits for it. If only the first thread woke, ROCm's runtime would lose wake-ups: two of its threads wait for the event of a
/// queue that is being destroyed.
void Events::set(Event& event) {
  const bool waited_for = activate(&event.event);
  event.set = event.manual || !waited_for;
}

void Events::set_by_id(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(id);
  if (found == events_.end()) return;
  std::atomic_ref(mailboxes_[id]).store(kEmpty);
  set(*found->second);
}

void Events::look_at_mailboxes() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, event] : events_) {
    if (std::atomic_ref(mailboxes_[id]).exchange(kEmpty) == kEmpty) continue;
    set(*event);
  }
}

bool Events::memory_fault(const HsaMemoryAccessFault& fault) {
  const std::lock_guard lock(mutex_);
  bool told = false;
  for (const auto& [id, event] : events_) {
    if (event->event.EventData.EventType != HSA_EVENTTYPE_MEMORY) continue;
    event->event.EventData.EventData.MemoryAccessFault = fault;
    set(*event);
    told = true;
  }
  return told;
}

}  // namespace lacuna::rocm
