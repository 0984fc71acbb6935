// Translations of a memory phase (models/gpu/memory_phase.h): sends the misses of first-level TLBs to the L2 TLB and the page
// walker, in time order over all units, and delivers the results to the units of each group.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/common/time/units.h"
#include "models/tlb/first_level_tlb.h"

namespace lacuna {

class TranslationPhase {
 public:
  /// Adds a TLB of the units of a group (models/compute/windows.h).
  void add(FirstLevelTlb& tlb, unsigned group);

  /// Whether a TLB of the group has requests for translate().
  bool has_requests(unsigned group) const { return group < groups_.size() && groups_[group].has_requests; }
  /// Whether any TLB has requests for translate().
  bool has_requests() const;
  /// Completes all requests, on one thread.
  void translate();
  /// Whether deliver() has results for the group.
  bool has_results(unsigned group) const { return group < groups_.size() && !groups_[group].results.empty(); }
  /// Delivers the results to the units of a group; called on the group's thread. The units' requests to caches may depart in
  /// this window.
  void deliver(unsigned group);
  /// Drops all requests. The caller resets the TLBs.
  void reset();

 private:
  struct Result {
    FirstLevelTlb* tlb;
    std::uint32_t miss;
    FirstLevelTlb::Response response;
  };
  struct Group {
    bool has_requests = false;  ///< set by the TLBs
    std::vector<Result> results;
  };
  struct Translator {
    FirstLevelTlb* tlb;
    unsigned group;
  };
  struct Request {
    Tick at;
    std::uint32_t number;  ///< position in the order of the TLBs, which breaks ties
    std::uint32_t miss;
    Translator from;
    bool operator<(const Request& other) const { return at != other.at ? at < other.at : number < other.number; }
  };

  std::deque<Group> groups_;  ///< stable addresses: TLBs hold references to its elements
  std::vector<Translator> tlbs_;
  // Working storage of translate().
  std::vector<Request> requests_;
  std::vector<Request> sorted_;
  std::vector<FirstLevelTlb::Departure> departures_;
};

}  // namespace lacuna
