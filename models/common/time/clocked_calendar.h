// A Calendar (models/common/time/calendar.h) for a resource that is booked in whole multiples of one duration, such as the
// cycle of a bank or port. ClockedCalendar returns the same results in a fraction of the host time, because each cycle is
// stored as one bit (models/common/time/slot_calendar.h).
//
// Requests that are not aligned to cycles, for example from an initiator with another clock, or that are far after the horizon
// are also supported: bookings are then stored as intervals instead of bits, until all intervals have ended.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/common/time/calendar.h"
#include "models/common/time/slot_calendar.h"
#include "models/common/time/units.h"

namespace lacuna {

class ClockedCalendar {
 public:
  /// `grain`: duration of a cycle; must not be 0.
  explicit ClockedCalendar(Tick grain) : clock_(Frequency{(kPicoseconds + grain.ps / 2) / grain.ps}), grain_(grain) {
    on_grid_ = clock_.period() == grain;
  }

  /// Like Calendar::reserve().
  [[gnu::always_inline]] Tick reserve(Tick not_before, Tick duration) {
    if (on_grid_) [[likely]] {
      const std::uint64_t cycle = clock_.starting_at(not_before).n;
      if (cycle * grain_.ps == not_before.ps && cycle < slots_.first_kept() + kMostCycles) [[likely]] {
        if (duration == grain_) [[likely]]
          return {slots_.reserve(cycle) * grain_.ps};
        const std::uint64_t count = clock_.floor(duration).n;
        if (count > 0 && count * grain_.ps == duration.ps) {
          const std::uint64_t first = slots_.first_run(cycle, static_cast<unsigned>(count));
          slots_.book(first, static_cast<unsigned>(count));
          return {first * grain_.ps};
        }
      }
      leave_grid();
    }
    return intervals_.reserve(not_before, duration);
  }
  /// Like Calendar::block().
  void block(Tick begin, Tick end) {
    if (on_grid_) {
      const std::uint64_t first = clock_.floor(begin).n;
      const std::uint64_t last = clock_.floor(end).n;
      if (first * grain_.ps == begin.ps && last * grain_.ps == end.ps && last < slots_.first_kept() + kMostCycles) {
        slots_.fill(first, last - first);
        return;
      }
      leave_grid();
    }
    intervals_.block(begin, end);
  }
  /// Drops bookings before `horizon`; all later calls must be for later times.
  void retire(Tick horizon) {
    if (on_grid_) {
      slots_.retire(clock_.floor(horizon).n);
    } else {
      intervals_.retire(horizon);
      if (intervals_.intervals() == 0) return_to_grid(horizon);
    }
  }
  void reset() {
    slots_.reset();
    intervals_.reset();
    on_grid_ = clock_.period() == grain_;
  }
  bool on_grid() const { return on_grid_; }
  /// Number of booked cycles or intervals, which is bounded by the time from the horizon to the latest booking. Slow.
  std::size_t bookings() const { return on_grid_ ? slots_.booked() : intervals_.intervals(); }

 private:
  static constexpr std::uint64_t kPicoseconds = 1'000'000'000'000;
  static constexpr std::uint64_t kMostCycles = std::uint64_t{1} << 20;  // maximum cycles after the horizon, for storage as bits

  void leave_grid();
  void return_to_grid(Tick horizon);

  Clock clock_;  // clock with period grain_
  Tick grain_;
  bool on_grid_;
  SlotCalendar slots_;
  Calendar intervals_;
};

}  // namespace lacuna
