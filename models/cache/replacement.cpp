#include "models/cache/replacement.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace lacuna {

std::vector<EnumValue> replacement_policies() {
  return {{"lru", static_cast<int>(ReplacementPolicy::lru)},
          {"plru", static_cast<int>(ReplacementPolicy::plru)},
          {"random", static_cast<int>(ReplacementPolicy::random)}};
}

Replacement::Replacement(ReplacementPolicy policy, std::uint32_t sets, unsigned ways, std::uint64_t seed)
    : kind_(policy == ReplacementPolicy::plru     ? Kind::tree
            : policy == ReplacementPolicy::random ? Kind::random
            : ways <= kMostInOrder                ? Kind::order
                                                  : Kind::uses),
      ways_(ways),
      last_(ways > 0 ? 4 * (ways - 1) : 0),
      seed_(seed),
      orders_(kind_ == Kind::order ? sets : 0),
      used_(kind_ == Kind::uses ? std::size_t{sets} * ways : 0),
      trees_(kind_ == Kind::tree ? sets : 0) {
  if (policy == ReplacementPolicy::plru && (!std::has_single_bit(ways) || ways > 64)) {
    throw std::invalid_argument("tree pseudo-LRU needs a power of two of ways up to 64, not " + std::to_string(ways));
  }
  std::fill(orders_.begin(), orders_.end(), first_order());
}

// As if the ways had been used in turn, way 0 first.
std::uint64_t Replacement::first_order() const {
  std::uint64_t order = 0;
  for (unsigned way = 0; way < ways_; ++way) order = order << 4 | way;
  // The last way is in the lowest bits: used last.
  return order;
}

void Replacement::touch_otherwise(std::uint32_t set, unsigned way) {
  if (kind_ == Kind::uses) {
    used_[std::size_t{set} * ways_ + way] = ++clock_;
  } else if (kind_ == Kind::tree) {
    point_away(trees_[set], way);
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

unsigned Replacement::search_victim(std::uint32_t set) {
  switch (kind_) {
    case Kind::order:
      return victim(set);
    case Kind::uses:
      return oldest(&used_[std::size_t{set} * ways_], ways_);
    case Kind::tree: {
      unsigned node = 1;
      while (node < ways_) node = 2 * node + static_cast<unsigned>(trees_[set] >> node & 1);
      return node - ways_;
    }
    case Kind::random: {
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
  restart();
  std::fill(orders_.begin(), orders_.end(), first_order());
  used_.clear();
  trees_.clear();
}

void Replacement::reset(std::uint32_t set) {
  if (kind_ == Kind::order) orders_[set] = first_order();
  if (kind_ == Kind::uses) std::fill_n(&used_[std::size_t{set} * ways_], ways_, 0);
  if (kind_ == Kind::tree) trees_[set] = 0;
}

}  // namespace lacuna
