// A first-level TLB of compute units that advance in windows (models/compute/windows.h): a hit responds within the call,
// a miss when the memory phase (models/gpu/translation_phase.h) has sent it to the next level, which other TLBs share.
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
  /// Moves the requests to the next level to `out`.
  void departures(std::vector<Departure>& out);
  /// Of the next level.
  struct Response {
    Tick requested{};  ///< when an MSHR was free
    Tick ready{};
  };
  /// Sends the request of a miss to the next level. Call in the order of departures over all TLBs.
  Response request_next_level(std::uint32_t miss);
  /// Completes the requests that wait for a miss. Changes nothing but the units of this TLB.
  void complete(std::uint32_t miss, const Response& response);
  /// Whether departures() has any.
  bool busy() const { return !departures_.empty(); }
  /// From now on `any`, which several TLBs may share, is set when departures() has any.
  void announce_departures(bool& any) { announced_ = &any; }

 private:
  struct Waiter {
    TranslationClient* client = nullptr;
    std::uint32_t tag = 0;
    Tick known{};  ///< when it would be known if it were a hit
  };
  struct Miss {
    std::uint64_t address = 0;
    Tick asked{};                                        ///< by the first request
    Tick at{};                                           ///< when it was found missing
    std::uint32_t waiters = WaiterLists<Waiter>::kNone;  ///< a list of waiters_
  };
  bool translate_otherwise(std::uint64_t address, Tick at, TranslationClient& client, std::uint32_t tag, Tick& known);

  std::vector<Miss> misses_;
  std::vector<std::uint32_t> free_misses_;
  WaiterLists<Waiter> waiters_;
  std::vector<Departure> departures_;
  bool* announced_ = nullptr;
};

}  // namespace lacuna
