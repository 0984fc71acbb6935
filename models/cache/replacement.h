// Which line of a full set gives way. One object per tag array, told of every use and asked for a victim.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/config/parameters.h"
#include "models/common/host/host_prefetch.h"
#include "models/common/host/zeroed_array.h"

namespace lacuna {

enum class ReplacementPolicy : int {
  lru,     ///< the line whose last use is the longest ago
  plru,    ///< tree pseudo-LRU: a bit per node of a binary tree over the ways points away from the last use; ways = 2^n <= 64
  random,  ///< a way by a generator with a fixed seed (splitmix64)
};

/// The policies by name, for parameters.
std::vector<EnumValue> replacement_policies();

class Replacement {
 public:
  /// std::invalid_argument when the policy cannot have so many ways.
  Replacement(ReplacementPolicy policy, std::uint32_t sets, unsigned ways, std::uint64_t seed);

  [[gnu::always_inline]] void touch(std::uint32_t set, unsigned way) {
    if (kind_ == Kind::order) [[likely]] {
      to_front(orders_[set], way);
    } else {
      touch_otherwise(set, way);
    }
  }
  /// touch() of a way that is given to another line: mostly the one that victim() has named.
  [[gnu::always_inline]] void replace(std::uint32_t set, unsigned way) {
    if (kind_ == Kind::order && orders_[set] >> last_ == way) [[likely]] {
      orders_[set] = (orders_[set] ^ std::uint64_t{way} << last_) << 4 | way;
    } else {
      touch(set, way);
    }
  }
  /// A hint for the host: the set will be used.
  void prefetch(std::uint32_t set) const {
    if (kind_ == Kind::order) {
      fetch_to_host(&orders_[set]);
    } else if (kind_ == Kind::uses) {
      for (unsigned way = 0; way < ways_; way += kPerHostLine) fetch_to_host(&used_[std::size_t{set} * ways_ + way]);
    }
  }
  /// Of a set in which no way is empty.
  unsigned victim(std::uint32_t set) {
    return kind_ == Kind::order ? static_cast<unsigned>(orders_[set] >> last_) : search_victim(set);
  }
  /// Whether victim() costs the host next to nothing, and changes nothing.
  bool is_cheap() const { return kind_ == Kind::order; }
  /// See TagArray::goes_before().
  bool goes_before(std::uint32_t set, unsigned way, unsigned other) const {
    if (kind_ == Kind::order) return (place(orders_[set], way) > place(orders_[set], other));
    if (kind_ != Kind::uses) return false;
    return used_[std::size_t{set} * ways_ + way] < used_[std::size_t{set} * ways_ + other];
  }
  void reset();
  /// Of a set; restart() belongs to it once all that have been used are reset.
  void reset(std::uint32_t set);
  void restart() { clock_ = 0; }

 private:
  /// How a set is remembered. LRU of few ways: the ways in the order of their last uses, four bits each; a look or two at one
  /// number say what is asked. Of more: the number of each way's last use.
  enum class Kind : std::uint8_t { order, uses, tree, random };
  static constexpr unsigned kMostInOrder = 16;
  static constexpr unsigned kPerHostLine = 8;  // numbers in 64 bytes
  static constexpr std::uint64_t kEach = 0x1111'1111'1111'1111;

  /// Bit where a way stands in an order. Those behind the last of fewer than 16 ways stand for no way and are 0: behind way 0.
  static unsigned place(std::uint64_t order, unsigned way) {
    const std::uint64_t other = order ^ (kEach * way);
    // The lowest group of four bits that are all 0; what a borrow brings with it lies above.
    return static_cast<unsigned>(std::countr_zero((other - kEach) & ~other & (kEach << 3))) & ~3U;
  }
  [[gnu::always_inline]] static void to_front(std::uint64_t& order, unsigned way) {
    if ((order & 0xf) == way) return;
    const std::uint64_t before = (std::uint64_t{1} << place(order, way)) - 1;  // those that move by one
    const std::uint64_t behind = ~(before << 4 | 0xf);
    order = (order & behind) | (order & before) << 4 | way;
  }
  void touch_otherwise(std::uint32_t set, unsigned way);
  void point_away(std::uint64_t& tree, unsigned way) const;
  unsigned search_victim(std::uint32_t set);
  std::uint64_t first_order() const;

  Kind kind_;
  unsigned ways_;
  unsigned last_;  // order: bit of the way that goes first
  std::uint64_t seed_;
  std::uint64_t clock_ = 0;            // uses: their number; random: victims
  std::vector<std::uint64_t> orders_;  // the last used in the lowest bits
  ZeroedArray<std::uint64_t> used_;
  ZeroedArray<std::uint64_t> trees_;  // bit n = node n, root 1, children 2n and 2n + 1; set = the victim is on the right
};

}  // namespace lacuna
