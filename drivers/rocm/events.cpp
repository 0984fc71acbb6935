#include "drivers/rocm/events.h"

#include <atomic>
#include <chrono>
#include <new>
#include <optional>

#include "drivers/rocm/address_space.h"
#include "drivers/rocm/memory.h"

namespace lacuna::rocm {
namespace {

/// What a mailbox holds that no GPU has written to.
constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

}  // namespace

Events::Events() {
  const std::optional<Reservation> memory = allocate_pages(kMost * sizeof(std::uint64_t), Memory::kPage);
  if (!memory) throw std::bad_alloc();
  mailboxes_ = {reinterpret_cast<std::uint64_t*>(memory->start), kMost};
}

Events::Event* Events::find(const HsaEvent* event) {
  const auto found = by_address_.find(event);
  return found == by_address_.end() ? nullptr : found->second;
}

HSAKMT_STATUS Events::create(const HsaEventDescriptor& descriptor, bool manual_reset, bool signalled, HsaEvent*& event) {
  const std::lock_guard lock(mutex_);
  // Ids are the numbers of mailboxes, from 1 on: 0 means that a signal has no event.
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
  const std::lock_guard lock(mutex_);
  const Event* found = find(event);
  if (found == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  const std::uint32_t id = found->event.EventId;
  by_address_.erase(event);
  events_.erase(id);
  changed_.notify_all();
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Events::set(HsaEvent* event) {
  const std::lock_guard lock(mutex_);
  Event* found = find(event);
  if (found == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  found->set = true;
  changed_.notify_all();
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

/// The wait that is over takes the events that reset themselves.
bool Events::satisfied(std::span<HsaEvent* const> events, bool all) {
  std::size_t set = 0;
  for (HsaEvent* event : events) {
    const Event* found = find(event);
    set += found == nullptr || found->set ? 1 : 0;  // one that has been destroyed keeps nobody waiting
  }
  if (all ? set < events.size() : set == 0) return false;
  for (HsaEvent* event : events) {
    Event* found = find(event);
    if (found == nullptr || !found->set) continue;
    if (!found->manual) found->set = false;
    if (!all) break;
  }
  return true;
}

HSAKMT_STATUS Events::wait(std::span<HsaEvent* const> events, bool all, std::uint32_t milliseconds) {
  std::unique_lock lock(mutex_);
  for (HsaEvent* event : events)
    if (find(event) == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  const auto over = [&] { return satisfied(events, all); };
  if (milliseconds == HSA_EVENTTIMEOUT_INFINITE) {
    changed_.wait(lock, over);
    return HSAKMT_STATUS_SUCCESS;
  }
  return changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), over) ? HSAKMT_STATUS_SUCCESS
                                                                                : HSAKMT_STATUS_WAIT_TIMEOUT;
}

void Events::set_by_id(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(id);
  if (found == events_.end()) return;
  std::atomic_ref(mailboxes_[id]).store(kEmpty);
  found->second->set = true;
  changed_.notify_all();
}

void Events::look_at_mailboxes() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, event] : events_) {
    if (std::atomic_ref(mailboxes_[id]).exchange(kEmpty) == kEmpty) continue;
    event->set = true;
    changed_.notify_all();
  }
}

bool Events::memory_fault(const HsaMemoryAccessFault& fault) {
  const std::lock_guard lock(mutex_);
  bool told = false;
  for (const auto& [id, event] : events_) {
    if (event->event.EventData.EventType != HSA_EVENTTYPE_MEMORY) continue;
    event->event.EventData.EventData.MemoryAccessFault = fault;
    event->set = true;
    told = true;
  }
  if (told) changed_.notify_all();
  return told;
}

}  // namespace lacuna::rocm
