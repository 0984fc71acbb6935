// Due times of a DRAM channel's refreshes: one every tREFI, for all banks together.
//
// Channels of a device are independent and need not be refreshed together (JESD235: each channel of a stack has a separate
// command interface and clock). Of n channels, channel i is refreshed i / n of tREFI after the first, as DRAMsim3 does with
// ranks (refresh policy RANK_LEVEL_STAGGERED). If all channels were refreshed together, a GPU kernel that waits for all
// channels would lose the whole time of every refresh.
#pragma once

#include <cstdint>

namespace lacuna {

/// Position of a channel among those of its device.
struct DramChannelPlace {
  unsigned index = 0;
  unsigned count = 1;
};

class RefreshTimes {
 public:
  using Cycle = std::uint64_t;
  static constexpr Cycle kNever = ~Cycle{0};

  /// `interval`: cycles between refreshes; 0: no refresh. The first channel is refreshed at multiples of the interval.
  RefreshTimes(Cycle interval, DramChannelPlace place, bool stagger)
      : length_(interval != 0 ? interval : kNever),
        first_(interval == 0                               ? kNever
               : stagger && place.index % place.count != 0 ? interval * (place.index % place.count) / place.count
                                                           : interval) {
    reset();
  }

  Cycle first() const { return first_; }
  /// Time between the due times of two consecutive refreshes.
  struct Interval {
    Cycle begin;     ///< due time of the earlier refresh; 0 before the first
    Cycle end;       ///< due time of the later refresh, or kNever
    bool refreshes;  ///< whether a refresh is due at `begin`
  };
  Interval at(Cycle cycle) {
    if (cycle - begin_ >= length_) [[unlikely]]
      find(cycle);
    const bool refreshes = cycle >= first_;
    return {refreshes ? begin_ : 0, begin_ + length_, refreshes};
  }
  void reset() { begin_ = length_ != kNever ? first_ - length_ : 0; }

 private:
  // The interval before the first refresh begins before cycle 0: unsigned numbers wrap, but differences are correct.
  void find(Cycle cycle) {
    const Cycle origin = first_ - length_;
    begin_ = origin + (cycle - origin) / length_ * length_;
  }

  Cycle length_;
  Cycle first_;
  Cycle begin_ = 0;  // beginning of the interval that at() returned last
};

}  // namespace lacuna
