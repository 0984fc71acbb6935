// A calendar in cycles of one clock, for a link or port of clocked hardware that carries one flit per cycle.
//
// The contract is that of Calendar: gaps are filled, and bookings before the horizon are dropped. Bookings are stored as one
// bit per cycle, because in a loaded network a packet books many single cycles with gaps between them.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace lacuna {

class SlotCalendar {
 public:
  SlotCalendar() : words_(kFirstWords) {}

  /// Books the earliest free cycle at or after `not_before` and returns it.
  std::uint64_t reserve(std::uint64_t not_before) {
    if (is_kept(not_before)) [[likely]] {
      std::uint64_t& word = words_[(not_before & ring_) >> 6];
      const std::uint64_t free = ~word & (kAll << (not_before & 63));
      if (free != 0) [[likely]] {
        word |= free & (~free + 1);
        return (not_before & ~std::uint64_t{63}) + static_cast<unsigned>(std::countr_zero(free));
      }
    }
    return reserve_further(not_before);
  }

  /// Consecutive free cycles in one word of bits, the common case of take().
  struct Run {
    std::uint64_t* word;
    std::uint64_t bits;
    std::uint64_t first;
  };
  /// Finds the cycles that take(not_before, count) would book, if they form a Run, the common case; book(run) then books them.
  /// Returns false if take() must be called instead.
  bool find(std::uint64_t not_before, unsigned count, Run& run) {
    if (!is_kept(not_before)) [[unlikely]]
      return false;
    run.word = &words_[(not_before & ring_) >> 6];
    const std::uint64_t free = ~*run.word & (kAll << (not_before & 63));
    const auto first = static_cast<unsigned>(std::countr_zero(free));
    // Bits that do not fit after the first free bit wrap around to the lowest bits. The test below detects this, as the lowest
    // bits are not free unless the first free bit is one of them, in which case all bits fit.
    run.bits = std::rotl(kAll >> (-count & 63), static_cast<int>(first));
    run.first = (not_before & ~std::uint64_t{63}) + first;
    return (run.bits & ~free) == 0 && count <= 64;
  }
  static void book(const Run& run) { *run.word |= run.bits; }

  /// Books the first `count` free cycles at or after `not_before`, which need not be consecutive, and returns the last of them.
  /// Requests in time order get consecutive cycles. Requests out of order also use gaps that are shorter than `count`, so that
  /// no cycle is lost: the last cycle that they use is the same as in time order.
  std::uint64_t take(std::uint64_t not_before, unsigned count) {
    if (count == 1) return reserve(not_before);
    if (Run run; find(not_before, count, run)) [[likely]] {
      book(run);
      return run.first + count - 1;
    }
    return take_scattered(not_before, count);
  }

  /// The earliest cycle at or after `not_before` at which `count` consecutive free cycles start; books nothing.
  std::uint64_t first_run(std::uint64_t not_before, unsigned count) {
    std::uint64_t cycle = clamp(not_before);
    while (count > 64) {
      cycle = first_run(cycle, 64);
      const std::uint64_t rest = first_run(cycle + 64, count - 64);
      if (rest == cycle + 64) return cycle;
      cycle = rest - 64 > cycle ? rest - 64 : cycle + 1;
    }
    for (;;) {
      // Bit i of `starts` is set if the `count` cycles from cycle + i on are free and within the window of 64 cycles from
      // `cycle` on.
      std::uint64_t starts = ~window_at(cycle);
      for (unsigned have = 1; have < count;) {
        const unsigned more = have < count - have ? have : count - have;
        starts &= starts >> more;
        have += more;
      }
      if (starts != 0) return cycle + static_cast<unsigned>(std::countr_zero(starts));
      cycle += 65 - count;
    }
  }

  /// Books the `count` cycles from `first` on. These cycles must be free.
  void book(std::uint64_t first, unsigned count) {
    for (std::uint64_t cycle = clamp(first); count > 0;) {
      const unsigned shift = cycle & 63;
      const unsigned part = count < 64 - shift ? count : 64 - shift;
      at(cycle) |= (part < 64 ? (std::uint64_t{1} << part) - 1 : kAll) << shift;
      cycle += part;
      count -= part;
    }
  }

  /// Books all free cycles of the `count` cycles from `first`.
  void fill(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t cycle = clamp(first), end = first + count; cycle < end;) {
      const unsigned shift = cycle & 63;
      const std::uint64_t part = end - cycle < 64 - shift ? end - cycle : 64 - shift;
      const std::uint64_t run = (kAll >> (64 - part)) << shift;
      std::uint64_t& word = at(cycle);
      word |= run;
      cycle += part;
    }
  }

  /// Drops bookings before `horizon`; all later calls must be for later cycles.
  void retire(std::uint64_t horizon) {
    if (const std::uint64_t first = horizon & ~std::uint64_t{63}; first > first_) [[unlikely]]
      drop_before(first);
  }
  void reset();

  /// Number of cycles that the ring can store. The ring grows to cover all cycles from the horizon to the latest booking.
  std::size_t window() const { return words_.size() * 64; }
  /// Calls `visit` with each booked cycle, in no particular order.
  template <typename Visit>
  void each_booked(Visit&& visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t begin = first_ + ((i * 64 - first_) & ring_);
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1)
        visit(begin + static_cast<unsigned>(std::countr_zero(word)));
    }
  }
  /// Number of booked cycles. Slow.
  std::size_t booked() const;
  /// The first stored cycle.
  std::uint64_t first_kept() const { return first_; }
  /// Whether a stored cycle is booked.
  bool is_booked(std::uint64_t cycle) const { return (words_[(cycle & ring_) >> 6] >> (cycle & 63) & 1) != 0; }

 private:
  static constexpr std::size_t kFirstWords = 8;
  static constexpr std::size_t kMostWords = 4096;  // maximum number of words that stay allocated while no cycle is booked
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};

  std::uint64_t clamp(std::uint64_t cycle) const { return cycle < first_ ? first_ : cycle; }
  bool is_kept(std::uint64_t cycle) const { return cycle - first_ <= ring_; }
  /// The word that contains a cycle, which must not be before first_.
  std::uint64_t& at(std::uint64_t cycle) {
    if (!is_kept(cycle)) [[unlikely]]
      grow(cycle);
    return words_[(cycle & ring_) >> 6];
  }
  /// The bits of the 64 cycles from `cycle` on. `cycle` need not be aligned.
  std::uint64_t window_at(std::uint64_t cycle) {
    const unsigned shift = cycle & 63;
    const std::uint64_t low = at(cycle) >> shift;
    return shift == 0 ? low : low | at(cycle + 64) << (64 - shift);
  }
  std::uint64_t reserve_further(std::uint64_t not_before);
  std::uint64_t take_scattered(std::uint64_t not_before, unsigned count);
  void grow(std::uint64_t cycle);
  /// Drops cycles before `first`, a multiple of 64.
  void drop_before(std::uint64_t first);
  void clear();

  std::vector<std::uint64_t> words_;           // a ring whose size is a power of two
  std::uint64_t ring_ = kFirstWords * 64 - 1;  // mask for the position of a cycle in the ring
  std::uint64_t first_ = 0;                    // first cycle of the first word; earlier cycles have been dropped
  // Range of cycles that the latest search across words found fully booked, stored so that the many requests that wait for one
  // port do not search the range again.
  std::uint64_t full_from_ = 0;
  std::uint64_t full_to_ = 0;
};

}  // namespace lacuna
