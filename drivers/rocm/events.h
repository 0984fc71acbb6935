// HSA events: what threads of the program sleep on, and GPUs wake.
//
// A GPU names an event by its id, which it also stores to the event's mailbox: 8 bytes of GPU-visible memory, of which each
// event has its own. A kernel's own interrupt message carries 8 bits of the id only, so that then all mailboxes are looked at.
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

  /// Threads sleep in `waits`, which outlives the events.
  explicit Events(HostWaits& waits);
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  /// The mailboxes: to be mapped for all GPUs.
  std::span<std::uint64_t> mailboxes() const { return mailboxes_; }

  HSAKMT_STATUS create(const HsaEventDescriptor& descriptor, bool manual_reset, bool signalled, HsaEvent*& event);
  HSAKMT_STATUS destroy(HsaEvent* event);
  HSAKMT_STATUS set(HsaEvent* event);
  HSAKMT_STATUS reset(HsaEvent* event);
  /// SUCCESS when it is set, WAIT_TIMEOUT when not.
  HSAKMT_STATUS query(HsaEvent* event);
  HSAKMT_STATUS wait(std::span<HsaEvent* const> events, bool all, std::uint32_t milliseconds);

  /// Threads that wait for events.
  std::size_t waiting();

  // From the simulation thread.
  void set_by_id(std::uint32_t id);
  /// Sets every event whose mailbox a GPU has written to.
  void look_at_mailboxes();
  /// Fills in and sets every event that waits for memory faults; false when there is none.
  bool memory_fault(const HsaMemoryAccessFault& fault);

 private:
  struct Event {
    HsaEvent event{};  // the program's: it has this one's address
    bool manual = false;
    bool set = false;
  };

  /// A thread that waits.
  struct Wait {
    std::span<HsaEvent* const> events;
    bool all;
    std::vector<bool> activated;  // which of `events` have been set since it began

    bool over() const;
  };

  Event* find(const HsaEvent* event);
  void take(Wait& wait);
  void give_back(const Wait& wait);
  void set(Event& event);
  /// Wakes those that wait for it; false when there are none.
  bool activate(const HsaEvent* event);

  HostWaits& host_waits_;
  std::mutex mutex_;  // taken by conditions of waits: nothing of `host_waits_` may be called with it
  std::vector<Wait*> waits_;
  std::map<std::uint32_t, std::unique_ptr<Event>> events_;  // by id
  std::map<const HsaEvent*, Event*> by_address_;            // the program's may be gone: its address says which it was
  std::span<std::uint64_t> mailboxes_;
};

}  // namespace lacuna::rocm
