// Which line of a full set gives way. One object per tag array, told of every use and asked for a victim.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lacuna {

enum class ReplacementPolicy : int {
  lru,     ///< the line whose last use is the longest ago
  plru,    ///< tree pseudo-LRU: a bit per node of a binary tree over the ways points away from the last use; ways = 2^n <= 64
  random,  ///< a way by a generator with a fixed seed (splitmix64)
};

class Replacement {
 public:
  /// std::invalid_argument when the policy cannot have so many ways.
  Replacement(ReplacementPolicy policy, std::uint32_t sets, unsigned ways, std::uint64_t seed);

  void touch(std::uint32_t set, unsigned way) {
    if (policy_ == ReplacementPolicy::lru) {
      used_[std::size_t{set} * ways_ + way] = ++clock_;
    } else if (policy_ == ReplacementPolicy::plru) {
      point_away(trees_[set], way);
    }
  }
  /// A hint for the host: the set will be used.
  void prefetch(std::uint32_t set) const {
    if (policy_ != ReplacementPolicy::lru) return;
    for (unsigned way = 0; way < ways_; way += kPerHostLine) __builtin_prefetch(&used_[std::size_t{set} * ways_ + way], 1);
  }
  /// Of a set in which no way is empty.
  unsigned victim(std::uint32_t set);
  /// See TagArray::goes_before().
  bool goes_before(std::uint32_t set, unsigned way, unsigned other) const {
    if (policy_ != ReplacementPolicy::lru) return false;
    return used_[std::size_t{set} * ways_ + way] < used_[std::size_t{set} * ways_ + other];
  }
  void reset();

 private:
  static constexpr unsigned kPerHostLine = 8;  // numbers in 64 bytes
  void point_away(std::uint64_t& tree, unsigned way) const;

  ReplacementPolicy policy_;
  unsigned ways_;
  std::uint64_t seed_;
  std::uint64_t clock_ = 0;           // lru: uses; random: victims
  std::vector<std::uint64_t> used_;   // lru
  std::vector<std::uint64_t> trees_;  // plru: bit n = node n, root 1, children 2n and 2n + 1; set = the victim is on the right
};

}  // namespace lacuna
