#include "models/cache/replacement.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace lacuna {

Replacement::Replacement(ReplacementPolicy policy, std::uint32_t sets, unsigned ways, std::uint64_t seed)
    : policy_(policy),
      ways_(ways),
      seed_(seed),
      used_(policy == ReplacementPolicy::lru ? std::size_t{sets} * ways : 0),
      trees_(policy == ReplacementPolicy::plru ? sets : 0) {
  if (policy == ReplacementPolicy::plru && (!std::has_single_bit(ways) || ways > 64)) {
    throw std::invalid_argument("tree pseudo-LRU needs a power of two of ways up to 64, not " + std::to_string(ways));
  }
}

void Replacement::point_away(std::uint64_t& tree, unsigned way) const {
  unsigned node = 1;
  for (unsigned half = ways_ / 2; half > 0; half /= 2) {
    const bool right = (way & half) != 0;
    const std::uint64_t bit = std::uint64_t{1} << node;
    tree = right ? tree & ~bit : tree | bit;
    node = 2 * node + (right ? 1 : 0);
  }
}

namespace {

// Index of the least of `count` numbers, the first of equal ones. Four at a time and without branches: the host could not
// predict which way is the oldest.
unsigned oldest(const std::uint64_t* used, unsigned count) {
  using Block [[gnu::vector_size(32)]] = std::int64_t;
  constexpr unsigned kBlock = sizeof(Block) / sizeof(std::int64_t);
  constexpr unsigned kWayBits = 16;  // below the number of uses, of which there are less than 2^47
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  Block least = Block{} + kNone;
  Block ways = {0, 1, 2, 3};
  unsigned way = 0;
  for (; way + kBlock <= count; way += kBlock, ways += kBlock) {
    Block uses;
    std::memcpy(&uses, used + way, sizeof uses);
    const Block keys = (uses << kWayBits) | ways;
    least = keys < least ? keys : least;
  }
  std::int64_t key = std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
  for (; way < count; ++way) key = std::min(key, static_cast<std::int64_t>(used[way] << kWayBits | way));
  return static_cast<unsigned>(key & ((1 << kWayBits) - 1));
}

}  // namespace

unsigned Replacement::victim(std::uint32_t set) {
  switch (policy_) {
    case ReplacementPolicy::lru:
      return oldest(&used_[std::size_t{set} * ways_], ways_);
    case ReplacementPolicy::plru: {
      unsigned node = 1;
      while (node < ways_) node = 2 * node + static_cast<unsigned>(trees_[set] >> node & 1);
      return node - ways_;
    }
    case ReplacementPolicy::random: {
      // Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
      std::uint64_t z = seed_ + ++clock_ * 0x9e3779b97f4a7c15ULL;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      return static_cast<unsigned>((z ^ (z >> 31)) % ways_);
    }
  }
  return 0;
}

void Replacement::reset() {
  clock_ = 0;
  std::fill(used_.begin(), used_.end(), 0);
  std::fill(trees_.begin(), trees_.end(), 0);
}

}  // namespace lacuna
