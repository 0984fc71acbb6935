// Translation timing: TLBs and page walker. GpuVm (models/tlb/gpuvm.h) translates; these models determine the time at which a
// translation is known.
//
//   L1 TLB of a compute unit or shader array --> L2 TLB --> page walker
//
// Time of a translation requested at t, in cycles of `clock`:
//   hit             t + hit_latency
//   miss            N + hit_latency, where N = response time of the next level to a request at t + hit_latency
//   secondary miss  (the page's miss is in flight) the later of t + hit_latency and the response to that miss
// A TLB accepts `ports` requests per cycle and has up to `mshrs` primary misses in flight; a walker makes up to `walks` walks
// concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/cache/tag_array.h"
#include "models/common/config/parameters.h"
#include "models/common/config/statistics.h"
#include "models/common/time/calendar.h"
#include "models/common/time/clocked_calendar.h"
#include "models/common/time/units.h"
#include "models/common/transport/translation_level.h"
#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"

namespace lacuna {

struct TlbParameters {
  Frequency clock{1'000'000'000};
  unsigned entries = 64;
  unsigned ways = 64;
  Bytes page{4096};
  unsigned ports = 4;
  unsigned mshrs = 4;
  Cycles hit_latency{1};
  Choice<ReplacementPolicy> replacement = ReplacementPolicy::lru;

  void describe(ParameterSection& section);
};

struct TlbStatistics {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t secondary_misses = 0;
  std::uint64_t invalidations = 0;
  Tick waiting{};  ///< time that requests waited for ports and MSHRs
  Tick miss_latency{};

  void describe(StatisticsGroup& group) const;
};

class Tlb : public TranslationLevel {
 public:
  /// Throws std::invalid_argument if the parameters describe no valid TLB.
  Tlb(const TlbParameters& parameters, TranslationLevel& next);

  Tick translate(std::uint64_t address, Tick at) override;
  /// Installs the translation of an address as if it had been requested long ago, without counting statistics.
  void install_page(std::uint64_t address);
  /// Drops all translations, because a mapping has changed.
  void invalidate();
  void reset();
  void retire(Tick horizon) override;
  const TlbStatistics& statistics() const { return statistics_; }
  void describe_energy(EnergyMeter& meter, std::string_view block, const TlbEnergy& energy) const;
  /// Number of stored bookings of ports and stored times of MSHRs, which are after the last horizon. For tests.
  std::size_t bookings() const { return ports_.bookings() + mshrs_.changes(); }

 protected:
  /// Books a port for a request made at `at`. Returns the time of the lookup.
  Tick admit(Tick at) {
    const Tick slot_time = ports_.reserve(at, port_time_);
    // Several ports share a cycle: the booked slot identifies the port; the lookup happens in the cycle that contains it.
    const Tick start = slot_time == at ? at : later(at, clock_.align_down(slot_time));
    statistics_.waiting += start - at;
    return start;
  }
  /// Whether last_ is the entry of a page.
  bool is_last(std::uint64_t page) const { return last_ != TagArray::kNone && tags_.tag(last_) == page; }
  /// The entry of a page, or kNone.
  TagArray::Slot find(std::uint64_t page) {
    if (is_last(page)) return last_;
    const TagArray::Slot slot = tags_.find(static_cast<std::uint32_t>(page & (tags_.sets() - 1)), page);
    if (slot == TagArray::kNone) return slot;
    tags_.touch(slot);
    return last_ = slot;
  }
  /// Requests from the next level a page that a lookup found missing at `at`. Returns the time at which the translation is
  /// known. `requested`: receives the time at which an MSHR was free and the request was made.
  Tick fetch(std::uint64_t address, Tick at, Tick& requested);
  /// Allocates an entry for a page that is not in the TLB.
  TagArray::Slot install(std::uint64_t page);

  TranslationLevel& next_;
  Clock clock_;
  Tick port_time_;
  Tick hit_;
  unsigned page_shift_;
  TagArray tags_;
  TagArray::Slot last_ = TagArray::kNone;  // entry found last: most requests are for the same page as the previous request
  ClockedCalendar ports_;
  PoolCalendar mshrs_;
  Tick retired_{};
  TlbStatistics statistics_;
};

struct PageWalkerParameters {
  Frequency clock{1'000'000'000};
  unsigned walks = 16;
  Cycles latency{100};

  void describe(ParameterSection& section);
};

class PageWalker : public TranslationLevel {
 public:
  explicit PageWalker(const PageWalkerParameters& parameters);
  Tick translate(std::uint64_t address, Tick at) override;
  void reset();
  void retire(Tick horizon) override;
  std::uint64_t walks() const { return walks_; }
  std::size_t bookings() const { return walkers_.changes(); }
  void describe(StatisticsGroup& group) const;
  void describe_energy(EnergyMeter& meter, double walk) const { meter.add("page_walker", "walk", walks_, walk); }

 private:
  Tick latency_;
  PoolCalendar walkers_;
  std::uint64_t walks_ = 0;
  Tick waiting_{};
};

}  // namespace lacuna
