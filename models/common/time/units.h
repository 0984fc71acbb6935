// Strong types for the quantities that interfaces exchange: simulated time, clock cycles, bytes.
//
// If plain integers are swapped, results are still plausible; swapped arguments of different strong types do not compile.
#pragma once

#include <compare>
#include <cstdint>

namespace lacuna {

/// A point in simulated time, or a duration, in picoseconds. The SystemC kernel has the same resolution, so conversion is a
/// copy.
struct Tick {
  std::uint64_t ps = 0;

  constexpr auto operator<=>(const Tick&) const = default;
  constexpr Tick& operator+=(Tick other) {
    ps += other.ps;
    return *this;
  }
  constexpr Tick& operator-=(Tick other) {
    ps -= other.ps;
    return *this;
  }
};
constexpr Tick operator+(Tick a, Tick b) { return {a.ps + b.ps}; }
constexpr Tick operator-(Tick a, Tick b) { return {a.ps - b.ps}; }
constexpr Tick operator*(Tick a, std::uint64_t n) { return {a.ps * n}; }
constexpr Tick later(Tick a, Tick b) { return a < b ? b : a; }
constexpr Tick earlier(Tick a, Tick b) { return a < b ? a : b; }
inline constexpr Tick kNever{~std::uint64_t{0}};

/// A number of clock cycles, or a cycle number of one clock.
struct Cycles {
  std::uint64_t n = 0;

  constexpr auto operator<=>(const Cycles&) const = default;
  constexpr Cycles& operator+=(Cycles other) {
    n += other.n;
    return *this;
  }
};
constexpr Cycles operator+(Cycles a, Cycles b) { return {a.n + b.n}; }
constexpr Cycles operator-(Cycles a, Cycles b) { return {a.n - b.n}; }
constexpr Cycles later(Cycles a, Cycles b) { return a < b ? b : a; }
constexpr Cycles earlier(Cycles a, Cycles b) { return b < a ? b : a; }

/// A size or an amount of data.
struct Bytes {
  std::uint64_t n = 0;

  constexpr auto operator<=>(const Bytes&) const = default;
};

/// A clock frequency in hertz. Its period is rounded to a whole number of picoseconds, by 0.1 % at most (checked when
/// parameters are parsed): 1.7 GHz has a period of 588 ps.
struct Frequency {
  std::uint64_t hz = 1'000'000'000;

  constexpr auto operator<=>(const Frequency&) const = default;
  constexpr Tick period() const { return {(1'000'000'000'000ULL + hz / 2) / hz}; }
};

/// Converts between cycles of one clock and time.
class Clock {
 public:
  constexpr explicit Clock(Frequency frequency) : period_(frequency.period()), reciprocal_(~std::uint64_t{0} / period_.ps) {}
  constexpr Tick period() const { return period_; }
  constexpr Tick ticks(Cycles cycles) const { return period_ * cycles.n; }
  /// The first cycle that starts at or after t.
  constexpr Cycles ceil(Tick t) const { return floor({t.ps + period_.ps - 1}); }
  /// The cycle that contains t.
  constexpr Cycles floor(Tick t) const {
    // A 64-bit division takes longer than all other work for a memory request at a port. The product with 2^64 / period,
    // rounded down, is the quotient or one less.
    const auto quotient = static_cast<std::uint64_t>(Wide{t.ps} * reciprocal_ >> 64);
    return {quotient + (t.ps - quotient * period_.ps >= period_.ps ? 1 : 0)};
  }
  /// The cycle that starts at t, which must be below 2^62 ps; if no cycle starts at t, one of the cycles next to t. Faster than
  /// floor().
  constexpr Cycles starting_at(Tick t) const {
    // For a time in the middle of a cycle, the product rounded down is the exact quotient.
    return {static_cast<std::uint64_t>(Wide{t.ps + (period_.ps + 1) / 2} * reciprocal_ >> 64)};
  }
  constexpr Tick align_up(Tick t) const { return ticks(ceil(t)); }
  /// The start of the cycle that contains t.
  constexpr Tick align_down(Tick t) const { return ticks(floor(t)); }

 private:
  __extension__ using Wide = unsigned __int128;

  Tick period_;
  std::uint64_t reciprocal_;
};

namespace literals {
constexpr Tick operator""_ps(unsigned long long v) { return {v}; }
constexpr Tick operator""_ns(unsigned long long v) { return {v * 1000}; }
constexpr Tick operator""_us(unsigned long long v) { return {v * 1'000'000}; }
constexpr Cycles operator""_cycles(unsigned long long v) { return {v}; }
constexpr Bytes operator""_B(unsigned long long v) { return {v}; }
constexpr Bytes operator""_KiB(unsigned long long v) { return {v << 10}; }
constexpr Bytes operator""_MiB(unsigned long long v) { return {v << 20}; }
constexpr Bytes operator""_GiB(unsigned long long v) { return {v << 30}; }
constexpr Frequency operator""_MHz(unsigned long long v) { return {v * 1'000'000}; }
}  // namespace literals

}  // namespace lacuna
