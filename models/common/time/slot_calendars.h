// Many calendars in cycles (models/common/time/slot_calendar.h) with one horizon, for the ports of a network's switches.
//
// The calendars are adjacent in memory, with one bit per cycle: a packet queries a dozen calendars, and each query costs a
// memory access.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lacuna {

class SlotCalendars {
 public:
  explicit SlotCalendars(std::size_t count) : count_(count), words_(count * kFirstWords) {}

  /// Cycles of a packet's first and last flit in two calendars that are booked together, such as input and output of a switch.
  struct Passage {
    std::uint64_t first;
    std::uint64_t last;  ///< first + flits - 1 if the flits are consecutive
  };

  /// Books the passage of a packet, one of whose flits becomes ready per cycle from `not_before` on. Each flit in turn gets the
  /// earliest cycle that is free in both calendars. Until then, the input bids for the output in each cycle in which the input
  /// is free and the output is not; such a lost bid books the cycle of the input (models/noc/booked_network.h). `cycles`
  /// receives the cycles of the flits, unless they are consecutive.
  Passage reserve_both(std::size_t input, std::size_t output, std::uint64_t not_before, unsigned flits, std::uint64_t* cycles) {
    std::uint64_t cycle = not_before < first_word_ << 6 ? first_word_ << 6 : not_before;
    if (((cycle + flits) >> 6) - first_word_ >= ring_) [[unlikely]]
      grow((cycle + flits) >> 6);
    std::uint64_t* in = &word(input, cycle >> 6);
    std::uint64_t* out = &word(output, cycle >> 6);
    const unsigned shift = cycle & 63;
    if (shift + flits <= 64) {
      const std::uint64_t run = (kAll >> (64 - flits)) << shift;
      if (((*in | *out) & run) == 0) [[likely]] {
        *in |= run;
        *out |= run;
        return {cycle, cycle + flits - 1};
      }
    }
    std::uint64_t first = 0;
    for (unsigned flit = 0;;) {
      const std::uint64_t base = cycle & ~std::uint64_t{63};
      const std::uint64_t from = kAll << (cycle & 63);
      std::uint64_t free = ~(*in | *out) & from;
      std::uint64_t passed = 0;
      if (flit == 0 && free != 0) {
        // Common case after a wait: all flits pass in consecutive cycles.
        const auto at = static_cast<unsigned>(std::countr_zero(free));
        const std::uint64_t run = at + flits <= 64 ? (kAll >> (64 - flits)) << at : 0;
        if (run != 0 && (free & run) == run) {
          *in |= run | (*out & from & ~(kAll << at));
          *out |= run;
          return {base + at, base + at + flits - 1};
        }
      }
      for (; free != 0 && flit < flits; ++flit) {
        const std::uint64_t at = base + static_cast<unsigned>(std::countr_zero(free));
        if (flit == 0) first = at;
        cycles[flit] = at;
        passed |= free & (~free + 1);
        free &= free - 1;
      }
      const std::uint64_t lost = *out & from;
      *out |= passed;
      if (flit == flits) {
        const std::uint64_t upto = kAll >> (63 - (cycles[flits - 1] & 63));
        *in |= passed | (lost & upto);
        return {first, cycles[flits - 1]};
      }
      *in |= passed | lost;
      cycle = base + 64;
      if ((cycle >> 6) - first_word_ >= ring_) [[unlikely]]
        grow(cycle >> 6);
      in = &word(input, cycle >> 6);
      out = &word(output, cycle >> 6);
    }
  }

  /// The first of `count` consecutive cycles, at or after `not_before`, that are free in both calendars; books nothing.
  std::uint64_t first_run(std::size_t a, std::size_t b, std::uint64_t not_before, unsigned count);
  /// Books all free cycles of the `count` cycles from `first`.
  void fill(std::size_t calendar, std::uint64_t first, std::uint64_t count);

  /// Drops bookings before `horizon`; all later calls must be for later cycles. Returns whether any word was dropped.
  bool retire(std::uint64_t horizon);
  void reset();
  /// Number of cycles that the ring of a calendar can store. The rings grow to cover all cycles from the horizon to the latest
  /// booking.
  std::size_t window() const { return ring_ * 64; }

 private:
  static constexpr std::size_t kFirstWords = 4;
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};

  std::uint64_t& word(std::size_t calendar, std::uint64_t w) { return words_[calendar * ring_ + (w & (ring_ - 1))]; }
  void grow(std::uint64_t word);

  std::size_t count_;
  std::size_t ring_ = kFirstWords;    // number of words of a calendar, a power of two
  std::vector<std::uint64_t> words_;  // rings of the calendars, one after the other
  std::uint64_t first_word_ = 0;      // first stored word; earlier words have been dropped
};

}  // namespace lacuna
