// Which line of a full set is replaced: the replacement policy of a tag array, which reports every use and requests victims.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/cache/replacement/policy.h"
#include "models/common/host/host_prefetch.h"

namespace lacuna {

/// LRU of up to 16 ways is kept here, inline: nearly every access of a cache touches it. Any other policy, and LRU of more
/// ways, is behind ReplacementState.
class Replacement {
 public:
  /// std::invalid_argument when the policy does not support that many ways.
  Replacement(const ReplacementPolicy& policy, std::uint32_t sets, unsigned ways, std::uint64_t seed);

  [[gnu::always_inline]] void touch(std::uint32_t set, unsigned way) {
    if (state_ == nullptr) [[likely]] {
      to_front(orders_[set], way);
    } else {
      state_->touch(set, way);
    }
  }
  /// Another line is installed in a way, mostly the one that victim() has returned. Includes touch().
  [[gnu::always_inline]] void replace(std::uint32_t set, unsigned way) {
    if (state_ != nullptr) [[unlikely]] {
      state_->replace(set, way);
    } else if (orders_[set] >> last_ == way) [[likely]] {
      orders_[set] = (orders_[set] ^ std::uint64_t{way} << last_) << 4 | way;
    } else {
      to_front(orders_[set], way);
    }
  }
  /// A hint for the host: the set will be used.
  void prefetch(std::uint32_t set) const {
    if (state_ == nullptr) {
      fetch_to_host(&orders_[set]);
    } else {
      state_->prefetch(set);
    }
  }
  /// Of a set in which no way is empty.
  unsigned victim(std::uint32_t set) {
    return state_ == nullptr ? static_cast<unsigned>(orders_[set] >> last_) : state_->victim(set);
  }
  /// Whether victim() costs the host next to nothing, and changes nothing.
  bool is_cheap() const { return state_ == nullptr; }
  /// See TagArray::goes_before().
  bool goes_before(std::uint32_t set, unsigned way, unsigned other) const {
    return state_ == nullptr ? place(orders_[set], way) > place(orders_[set], other) : state_->goes_before(set, way, other);
  }
  void reset();
  /// Of a set; restart() follows once all sets that have been used are reset.
  void reset(std::uint32_t set);
  void restart();

 private:
  static constexpr unsigned kMostInOrder = 16;
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
  std::uint64_t first_order() const;

  unsigned ways_;
  unsigned last_;                            // bit of the way that is replaced first, in an order
  std::vector<std::uint64_t> orders_;        // by set: its ways, four bits each, the last used in the lowest bits
  std::unique_ptr<ReplacementState> state_;  // null: the orders are kept
};

}  // namespace lacuna
