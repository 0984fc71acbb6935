// Set of bytes of a memory transaction or a cache sector of up to 128 bytes; bit i represents byte i.
#pragma once

#include <cstdint>

namespace lacuna {

class ByteMask {
 public:
  static constexpr unsigned kBytes = 128;

  /// Uninitialised, so that a ByteMask can be a member of a union. ByteMask{} contains no bytes.
  constexpr ByteMask() = default;
  /// `low`: bytes 0 to 63; `high`: bytes 64 to 127.
  constexpr explicit ByteMask(std::uint64_t low, std::uint64_t high = 0) : low_(low), high_(high) {}
  static constexpr ByteMask all() { return ByteMask(~std::uint64_t{0}, ~std::uint64_t{0}); }
  /// The set of bytes 0 to `count` - 1.
  static constexpr ByteMask first(unsigned count) {
    if (count <= 64) return ByteMask(ones(count));
    return ByteMask(~std::uint64_t{0}, ones(count - 64));
  }

  constexpr bool any() const { return (low_ | high_) != 0; }
  constexpr std::uint64_t low() const { return low_; }
  constexpr std::uint64_t high() const { return high_; }

  constexpr ByteMask operator&(ByteMask other) const { return ByteMask(low_ & other.low_, high_ & other.high_); }
  constexpr ByteMask operator|(ByteMask other) const { return ByteMask(low_ | other.low_, high_ | other.high_); }
  constexpr ByteMask operator~() const { return ByteMask(~low_, ~high_); }
  constexpr ByteMask& operator|=(ByteMask other) {
    low_ |= other.low_;
    high_ |= other.high_;
    return *this;
  }
  constexpr ByteMask& operator&=(ByteMask other) {
    low_ &= other.low_;
    high_ &= other.high_;
    return *this;
  }
  /// Shifts by fewer than 128 bytes.
  constexpr ByteMask operator<<(unsigned bytes) const { return from(wide() << bytes); }
  constexpr ByteMask operator>>(unsigned bytes) const { return from(wide() >> bytes); }
  friend constexpr bool operator==(const ByteMask&, const ByteMask&) = default;

 private:
  __extension__ using Wide = unsigned __int128;

  static constexpr ByteMask from(Wide mask) {
    return ByteMask(static_cast<std::uint64_t>(mask), static_cast<std::uint64_t>(mask >> 64));
  }
  constexpr Wide wide() const { return Wide{high_} << 64 | low_; }
  static constexpr std::uint64_t ones(unsigned count) {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }

  std::uint64_t low_;
  std::uint64_t high_;
};

}  // namespace lacuna
