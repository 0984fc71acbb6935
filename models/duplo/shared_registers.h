// Register pairs of a SIMD that several wavefronts read (section IV.C: renaming). Values are in the wavefronts' registers all
// the time; this counts which of them would be one physical pair.
//
// Each logical pair of a wavefront has a physical pair of its SIMD. A hit gives a destination the pair of another load; a write
// to a pair with other readers takes a free one. There always is one: no more pairs are in use than wavefronts have.
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna {

inline constexpr unsigned kPairRegisters = 2;  ///< of each lane

class SharedRegisters {
 public:
  using Pair = std::uint16_t;

  /// `pairs`: of the SIMD's register file, a wavefront's width each.
  explicit SharedRegisters(unsigned pairs);

  /// A wavefront begins with `pairs` pairs of its own. Returns its number, valid until end().
  unsigned begin(unsigned pairs);
  /// Its pairs, of which those without readers are free now; until the next call.
  const std::vector<Pair>& end(unsigned wavefront);

  Pair pair(unsigned wavefront, unsigned logical) const { return maps_[wavefront][logical]; }
  unsigned readers(Pair pair) const { return readers_[pair]; }

  /// A write to a logical pair. Whether it had other readers, so that the wavefront has another physical pair now.
  bool write(unsigned wavefront, unsigned logical);
  /// A logical pair becomes one with a physical pair that is in use.
  void share(unsigned wavefront, unsigned logical, Pair with);

  unsigned in_use() const { return static_cast<unsigned>(readers_.size() - free_.size()); }
  /// Pairs that wavefronts have, each counted as often as it is one of theirs.
  unsigned allocated() const { return allocated_; }
  /// Whether counts of readers are those that the maps say. For tests.
  bool consistent() const;
  void reset();

 private:
  Pair take();
  void drop(Pair pair);

  std::vector<std::uint16_t> readers_;
  std::vector<Pair> free_;
  std::vector<std::vector<Pair>> maps_;  ///< by wavefront and logical pair
  std::vector<unsigned> free_maps_;
  std::vector<Pair> ended_;  ///< pairs of the wavefront that ended last
  unsigned allocated_ = 0;
};

}  // namespace lacuna
