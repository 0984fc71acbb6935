// Replacement order of a tag array: records every use of a line and selects the victim of a full set.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/cache/replacement/policy.h"
#include "models/common/host/host_prefetch.h"

namespace lacuna {

/// LRU of up to 16 ways is implemented here, inline, since nearly every access of a cache updates it. Other policies, and LRU
/// of more ways, are called through ReplacementState.
class Replacement {
 public:
  /// Throws std::invalid_argument if the policy does not support that many ways.
  Replacement(const ReplacementPolicy& policy, std::uint32_t sets, unsigned ways, std::uint64_t seed);

  [[gnu::always_inline]] void touch(std::uint32_t set, unsigned way) {
    if (state_ == nullptr) [[likely]] {
      to_front(orders_[set], way);
    } else {
      state_->touch(set, way);
    }
  }
  /// Records that another line is installed in a way, usually the way that victim() has returned. Includes touch().
  [[gnu::always_inline]] void replace(std::uint32_t set, unsigned way) {
    if (state_ != nullptr) [[unlikely]] {
      state_->replace(set, way);
    } else if (orders_[set] >> last_ == way) [[likely]] {
      orders_[set] = (orders_[set] ^ std::uint64_t{way} << last_) << 4 | way;
    } else {
      to_front(orders_[set], way);
    }
  }
  /// Prefetches the state of a set to the host's caches.
  void prefetch(std::uint32_t set) const {
    if (state_ == nullptr) {
      fetch_to_host(&orders_[set]);
    } else {
      state_->prefetch(set);
    }
  }
  /// The way to replace in a set without an empty way.
  unsigned victim(std::uint32_t set) {
    return state_ == nullptr ? static_cast<unsigned>(orders_[set] >> last_) : state_->victim(set);
  }
  /// Whether victim() has no side effects and is nearly free on the host.
  bool is_cheap() const { return state_ == nullptr; }
  /// See TagArray::goes_before().
  bool goes_before(std::uint32_t set, unsigned way, unsigned other) const {
    return state_ == nullptr ? place(orders_[set], way) > place(orders_[set], other) : state_->goes_before(set, way, other);
  }
  void reset();
  /// Resets a set. Call restart() once all sets that have been used are reset.
  void reset(std::uint32_t set);
  void restart();

 private:
  static constexpr unsigned kMostInOrder = 16;
  static constexpr std::uint64_t kEach = 0x1111'1111'1111'1111;

  /// Bit position of a way's group of four bits in an order. With fewer than 16 ways, the unused groups are 0, like the group
  /// of way 0, but lie above that group.
  static unsigned place(std::uint64_t order, unsigned way) {
    const std::uint64_t other = order ^ (kEach * way);
    // The lowest group of four bits that are all 0; false matches due to borrows lie above it.
    return static_cast<unsigned>(std::countr_zero((other - kEach) & ~other & (kEach << 3))) & ~3U;
  }
  [[gnu::always_inline]] static void to_front(std::uint64_t& order, unsigned way) {
    if ((order & 0xf) == way) return;
    const std::uint64_t before = (std::uint64_t{1} << place(order, way)) - 1;  // groups that move up by four bits
    const std::uint64_t behind = ~(before << 4 | 0xf);
    order = (order & behind) | (order & before) << 4 | way;
  }
  std::uint64_t first_order() const;

  unsigned ways_;
  unsigned last_;                            // bit position, in an order, of the way that is replaced first
  std::vector<std::uint64_t> orders_;        // order of each set's ways: four bits per way, the most recently used way in the
                                             // lowest bits
  std::unique_ptr<ReplacementState> state_;  // null: orders_ is used instead
};

}  // namespace lacuna
