// When a DRAM bank's rows are open: its openings in the order of time, and where another fits in.
//
// Requests are booked when they are made, which is not the order of their arrival in simulated time. A bank therefore keeps all
// openings that are not yet past. A new one goes
//   - before one that a later arrival asked for: first come, first served;
//   - into a gap that it fits into;
//   - behind all others.
// What lies behind it moves back by what it takes. The data that were promised from there stay where they are: of two requests
// that change places one is told too early and the other too late by the same, and the bank works as long as it does in truth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lacuna {

class BankTimeline {
 public:
  using Cycle = std::uint64_t;
  static constexpr Cycle kOpen = ~Cycle{0};
  static constexpr std::size_t kNone = ~std::size_t{0};

  struct Opening {
    std::uint64_t row;
    Cycle arrived;   ///< the request that asked for it
    Cycle activate;  ///< counted at the command's last cycle
    Cycle free;      ///< earliest precharge
    Cycle work;      ///< from the activate to the precharge, when its columns follow each other
    Cycle closed;    ///< the precharge that is booked, or kOpen
    Cycle limit;     ///< the refresh that closes it
  };
  struct Timing {
    Cycle precharge;  ///< tRP
    Cycle cycle;      ///< tRC
    Cycle active;     ///< tRAS
  };

  BankTimeline() { openings_.reserve(kUsualOpenings); }

  /// The opening that serves a request of the row at `at`: one that is there, or that an earlier arrival asked for.
  std::size_t find(std::uint64_t row, Cycle at) const {
    for (std::size_t i = openings_.size(); i-- > 0;) {
      const Opening& opening = openings_[i];
      if (opening.closed <= at) break;
      if (opening.row == row && at < opening.limit && (opening.activate <= at || opening.arrived <= at)) return i;
    }
    return kNone;
  }
  /// Where a request of another row is served: before the opening of this index, which may be that behind the last.
  std::size_t place(Cycle at, const Timing& timing) const;
  /// The same for one that goes before all that have not begun.
  std::size_t place_now(Cycle at) const {
    std::size_t next = openings_.size();
    while (next > 0 && openings_[next - 1].activate > at) --next;
    return next;
  }
  /// The one before that place, or nullptr.
  const Opening* before(std::size_t place) const { return place > 0 ? &openings_[place - 1] : nullptr; }

  /// Puts an opening in front of the one at `place`; the one before closes at `precharge`. Returns its index, which is lower
  /// when past ones were dropped.
  std::size_t insert(std::size_t place, const Opening& opening, Cycle precharge, const Timing& timing, Cycle horizon);
  /// Closes the row at `precharge`, for a request that does not open its own yet.
  void close(std::size_t index, Cycle precharge) { openings_[index].closed = precharge; }
  /// A column command keeps the row open until `until`. When a precharge before that is booked, it and all behind it move back,
  /// by `work` at most, which is what the command adds to the row's work.
  void use(std::size_t index, Cycle until, Cycle work, const Timing& timing);

  const Opening& operator[](std::size_t index) const { return openings_[index]; }
  std::size_t size() const { return openings_.size(); }
  void clear() { openings_.clear(); }

 private:
  static constexpr std::size_t kUsualOpenings = 64;  // with less there is no allocation

  void settle(std::size_t index, const Timing& timing);

  std::vector<Opening> openings_;
};

}  // namespace lacuna
