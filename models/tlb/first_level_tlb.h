// First-level TLB of compute units that advance in windows (models/compute/windows.h). A hit responds within the call. A miss
// responds after the memory phase (models/gpu/translation_phase.h) has sent the request to the next level, which several TLBs
// share.
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/containers/waiter_lists.h"
#include "models/tlb/tlb.h"

namespace lacuna {

class FirstLevelTlb : public Tlb {
 public:
  /// A request to the next level.
  struct Departure {
    Tick at;
    std::uint32_t miss;
  };

  using Tlb::Tlb;

  bool translate_or_defer(std::uint64_t address, Tick at, TranslationClient& client, std::uint32_t tag, Tick& known) override;
  /// Moves the pending requests to the next level to `out`.
  void departures(std::vector<Departure>& out);
  /// Response of the next level.
  struct Response {
    Tick requested{};  ///< time at which an MSHR was free and the request was made
    Tick ready{};      ///< arrival time of the translation at this TLB
  };
  /// Sends the request of a miss to the next level. Must be called in time order over the departures of all TLBs.
  Response request_next_level(std::uint32_t miss);
  /// Completes the requests that wait for a miss. Accesses only this TLB and the units that it serves.
  void complete(std::uint32_t miss, const Response& response);
  /// Whether requests to the next level are pending.
  bool busy() const { return !departures_.empty(); }
  /// Registers a flag that is set whenever a request to the next level becomes pending. Several TLBs may share a flag.
  void announce_departures(bool& any) { announced_ = &any; }

 private:
  struct Waiter {
    TranslationClient* client = nullptr;
    std::uint32_t tag = 0;
    Tick known{};  ///< time at which a hit would return the translation; 0 for the request that started the miss
  };
  struct Miss {
    std::uint64_t address = 0;
    Tick made{};                                         ///< time of the first request
    Tick at{};                                           ///< time at which the lookup found the page missing
    std::uint32_t waiters = WaiterLists<Waiter>::kNone;  ///< list in waiters_
  };
  bool translate_slowly(std::uint64_t address, Tick at, TranslationClient& client, std::uint32_t tag, Tick& known);

  std::vector<Miss> misses_;
  std::vector<std::uint32_t> free_misses_;
  WaiterLists<Waiter> waiters_;
  std::vector<Departure> departures_;
  bool* announced_ = nullptr;
};

}  // namespace lacuna
