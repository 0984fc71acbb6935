// A set of a channel's DRAM banks, one bit each.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lacuna {

class BankSet {
 public:
  explicit BankSet(std::size_t banks) : more_(banks > 64 ? (banks - 1) / 64 : 0) {}

  void insert(std::uint32_t bank) { word(bank) |= std::uint64_t{1} << (bank & 63); }
  void erase(std::uint32_t bank) { word(bank) &= ~(std::uint64_t{1} << (bank & 63)); }
  void clear() {
    first_ = 0;
    std::fill(more_.begin(), more_.end(), 0);
  }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for_each_of(first_, 0, visit);
    for (std::size_t i = 0; i < more_.size(); ++i) for_each_of(more_[i], static_cast<std::uint32_t>(i + 1) << 6, visit);
  }

 private:
  template <typename Visit>
  static void for_each_of(std::uint64_t word, std::uint32_t first, Visit& visit) {
    for (; word != 0; word &= word - 1) visit(first + static_cast<std::uint32_t>(std::countr_zero(word)));
  }
  std::uint64_t& word(std::uint32_t bank) { return bank < 64 ? first_ : more_[(bank >> 6) - 1]; }

  std::uint64_t first_ = 0;          // banks 0 to 63, all banks of most channels
  std::vector<std::uint64_t> more_;  // 64 further banks per word
};

}  // namespace lacuna
