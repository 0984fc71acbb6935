// HSA events: threads of the program sleep on them, and GPUs signal them.
//
// A GPU identifies an event by its id, which it also stores to the event's mailbox: 8 bytes of GPU-visible memory per event. An
// interrupt message sent by a kernel carries only 8 bits of the id, so in that case all mailboxes are checked.
#pragma once

#include <hsakmttypes.h>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "drivers/rocm/host_waits.h"

namespace lacuna::rocm {

class Events {
 public:
  static constexpr std::uint32_t kMost = 8192;

  /// Threads that wait for events sleep in `waits`, which outlives the events.
  explicit Events(HostWaits& waits);
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  /// Memory of the mailboxes, which the caller maps for all GPUs.
  std::span<std::uint64_t> mailboxes() const { return mailboxes_; }

  HSAKMT_STATUS create(const HsaEventDescriptor& descriptor, bool manual_reset, bool signalled, HsaEvent*& event);
  HSAKMT_STATUS destroy(HsaEvent* event);
  HSAKMT_STATUS set(HsaEvent* event);
  HSAKMT_STATUS reset(HsaEvent* event);
  /// Returns SUCCESS if the event is set, else WAIT_TIMEOUT.
  HSAKMT_STATUS query(HsaEvent* event);
  HSAKMT_STATUS wait(std::span<HsaEvent* const> events, bool all, std::uint32_t milliseconds);

  /// Number of threads that wait for events.
  std::size_t waiting();

  // Sets the event with this id. Called on the simulation thread.
  void set_by_id(std::uint32_t id);
  /// Sets every event whose mailbox a GPU has written to.
  void look_at_mailboxes();
  /// Fills in and sets every memory-fault event; false if there is none.
  bool memory_fault(const HsaMemoryAccessFault& fault);

 private:
  struct Event {
    HsaEvent event{};  // the program's handle is the address of this member
    bool manual = false;
    bool set = false;
  };

  /// The wait of one thread.
  struct Wait {
    std::span<HsaEvent* const> events;
    bool all;
    std::vector<bool> activated;  // whether each of `events` was consumed at the start of the wait or set since

    bool over() const;
  };

  Event* find(const HsaEvent* event);
  void take(Wait& wait);
  void give_back(const Wait& wait);
  void set(Event& event);
  /// Marks the event as activated in all waits that include it; false if there are none.
  bool activate(const HsaEvent* event);

  HostWaits& host_waits_;
  std::mutex mutex_;  // locked by conditions that `host_waits_` evaluates: never call `host_waits_` while holding it
  std::vector<Wait*> waits_;
  std::map<std::uint32_t, std::unique_ptr<Event>> events_;  // events by id
  std::map<const HsaEvent*, Event*> by_address_;  // valid handles: the program may pass the handle of a destroyed event
  std::span<std::uint64_t> mailboxes_;
};

}  // namespace lacuna::rocm
