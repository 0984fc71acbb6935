#include "models/cache/replacement.h"

#include <algorithm>
#include <bit>
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

unsigned Replacement::victim(std::uint32_t set) {
  switch (policy_) {
    case ReplacementPolicy::lru: {
      const auto first = used_.begin() + static_cast<std::ptrdiff_t>(std::size_t{set} * ways_);
      return static_cast<unsigned>(std::min_element(first, first + ways_) - first);
    }
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
