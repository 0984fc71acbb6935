// A first-level TLB of compute units that advance in windows (models/compute/windows.h): a hit is answered at once, a miss when
// the window's edge asks the next level, which others share.
#pragma once

#include <cstdint>
#include <vector>

#include "models/tlb/tlb.h"

namespace lacuna {

class FirstLevelTlb : public Tlb {
 public:
  /// A translation to ask the next level for.
  struct Departure {
    Tick at;
    std::uint32_t miss;
  };

  using Tlb::Tlb;

  bool translate_or_defer(std::uint64_t address, Tick at, TranslationClient& client, std::uint32_t tag, Tick& known) override;
  /// Moves to `out` what is to be asked for.
  void departures(std::vector<Departure>& out);
  /// What the next level has answered.
  struct Answer {
    Tick asked{};  ///< it, when an MSHR was free
    Tick ready{};
  };
  /// Asks the next level. Called in the order of departures over all TLBs.
  Answer ask(std::uint32_t miss);
  /// Tells those who wait. Concerns nobody but the units of this TLB.
  void resolve(std::uint32_t miss, const Answer& answer);
  /// Something is to be asked for.
  bool busy() const { return !departures_.empty(); }
  /// From now on `asks`, which several TLBs may share, is set when something is to be asked for.
  void announce_departures(bool& asks) { announced_ = &asks; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Miss {
    std::uint64_t address = 0;
    Tick asked{};  ///< by the first request
    Tick at{};     ///< when it was found missing
    std::uint32_t first_waiter = kNone;
    std::uint32_t last_waiter = kNone;
  };
  struct Waiter {
    TranslationClient* client = nullptr;
    std::uint32_t tag = 0;
    Tick known{};  ///< when it would be if it were there
    std::uint32_t next = kNone;
  };
  bool translate_otherwise(std::uint64_t address, Tick at, TranslationClient& client, std::uint32_t tag, Tick& known);
  void wait(std::uint32_t miss, const Waiter& waiter);

  std::vector<Miss> misses_;
  std::vector<std::uint32_t> free_misses_;
  std::vector<Waiter> waiters_;
  std::vector<std::uint32_t> free_waiters_;
  std::vector<Departure> departures_;
  bool* announced_ = nullptr;
};

}  // namespace lacuna
