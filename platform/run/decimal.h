// Fast conversion of numbers to decimal text, for large files.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace lacuna {

class Decimal {
 public:
  explicit Decimal(std::uint64_t number)
      : length_(static_cast<std::size_t>(std::to_chars(digits_.data(), digits_.data() + digits_.size(), number).ptr -
                                         digits_.data())) {}
  std::string_view text() const { return {digits_.data(), length_}; }

 private:
  std::array<char, std::numeric_limits<std::uint64_t>::digits10 + 1> digits_;
  std::size_t length_;
};

inline void append_decimal(std::string& text, std::uint64_t number) {
  if (number < 10) {  // most numbers of a kernel's record are 0
    text += static_cast<char>('0' + number);
  } else {
    text += Decimal(number).text();
  }
}

}  // namespace lacuna
