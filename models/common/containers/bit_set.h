// A set of small numbers, stored as one bit per number and searched word by word.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lacuna {

class BitSet {
 public:
  BitSet() = default;
  /// A set for numbers below `size`. `all`: whether it initially contains all of these numbers or none.
  explicit BitSet(unsigned size, bool all = false) { assign(size, all); }
  void assign(unsigned size, bool all) {
    size_ = size;
    words_.assign((std::size_t{size} + kWordBits - 1) / kWordBits, 0);
    if (all) insert(0, size);
  }

  unsigned size() const { return size_; }
  void insert(unsigned number) { words_[number / kWordBits] |= bit(number); }
  void erase(unsigned number) { words_[number / kWordBits] &= ~bit(number); }
  /// Inserts the numbers `first` to `first` + `count` - 1.
  void insert(unsigned first, unsigned count) {
    for_words(first, count, [](std::uint64_t& word, std::uint64_t bits) { word |= bits; });
  }
  /// Erases the numbers `first` to `first` + `count` - 1.
  void erase(unsigned first, unsigned count) {
    for_words(first, count, [](std::uint64_t& word, std::uint64_t bits) { word &= ~bits; });
  }

  /// The first number from `from` on that is in the set; size() if there is none.
  unsigned next(unsigned from) const { return search(from, 0); }
  /// The first number from `from` on that is not in the set; size() if there is none.
  unsigned next_missing(unsigned from) const { return search(from, ~std::uint64_t{0}); }

 private:
  static constexpr unsigned kWordBits = 64;

  static std::uint64_t bit(unsigned number) { return std::uint64_t{1} << number % kWordBits; }
  template <typename Body>
  void for_words(unsigned first, unsigned count, const Body& body) {
    while (count > 0) {
      const unsigned part = std::min(count, kWordBits - first % kWordBits);
      body(words_[first / kWordBits], ~std::uint64_t{0} >> (kWordBits - part) << first % kWordBits);
      first += part;
      count -= part;
    }
  }
  unsigned search(unsigned from, std::uint64_t inverted) const {
    for (; from < size_; from = (from / kWordBits + 1) * kWordBits) {
      const std::uint64_t left = (words_[from / kWordBits] ^ inverted) >> from % kWordBits;
      if (left != 0) return std::min(size_, from + static_cast<unsigned>(std::countr_zero(left)));
    }
    return size_;
  }

  unsigned size_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace lacuna
