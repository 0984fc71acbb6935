// When the refreshes of a DRAM channel are due: one every tREFI, all banks at once.
//
// Channels of a device are independent and need not be refreshed together (JESD235: each channel of a stack has its own command
// interface and clock). Of n channels, channel i is refreshed i / n of tREFI after the first, as DRAMsim3 does with ranks
// (refresh policy RANK_LEVEL_STAGGERED): a kernel that waits for all channels would otherwise lose every refresh whole.
#pragma once

#include <cstdint>

namespace lacuna {

/// Which of a device's channels one is.
struct DramChannelPlace {
  unsigned index = 0;
  unsigned count = 1;
};

class RefreshTimes {
 public:
  using Cycle = std::uint64_t;
  static constexpr Cycle kNever = ~Cycle{0};

  /// `interval` 0: no refresh. The channel that is alone, or the first, is refreshed at multiples of the interval.
  RefreshTimes(Cycle interval, DramChannelPlace place, bool stagger)
      : length_(interval != 0 ? interval : kNever),
        first_(interval == 0                               ? kNever
               : stagger && place.index % place.count != 0 ? interval * (place.index % place.count) / place.count
                                                           : interval) {
    reset();
  }

  Cycle first() const { return first_; }
  /// From when a refresh is due to when the next one is.
  struct Interval {
    Cycle begin;     ///< 0 before the first refresh
    Cycle end;       ///< kNever when there is none
    bool refreshes;  ///< at its begin
  };
  Interval at(Cycle cycle) {
    if (cycle - begin_ >= length_) [[unlikely]]
      find(cycle);
    const bool refreshes = cycle >= first_;
    return {refreshes ? begin_ : 0, begin_ + length_, refreshes};
  }
  void reset() { begin_ = length_ != kNever ? first_ - length_ : 0; }

 private:
  // Before the first one the interval begins before cycle 0: unsigned numbers wrap, differences are right.
  void find(Cycle cycle) {
    const Cycle origin = first_ - length_;
    begin_ = origin + (cycle - origin) / length_ * length_;
  }

  Cycle length_;
  Cycle first_;
  Cycle begin_ = 0;  // of the interval that was asked for last
};

}  // namespace lacuna
