// Register pairs of a SIMD that several wavefronts read (section IV.C: renaming). Values stay in the wavefronts' registers;
// this map records which registers share a physical pair.
//
// Each logical pair of a wavefront has a physical pair of its SIMD. A hit maps the load's destination to the pair of another
// load; a write to a pair with other readers is mapped to a free pair. A free pair always exists, since no more physical pairs
// are in use than wavefronts have logical pairs.
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna {

inline constexpr unsigned kPairRegisters = 2;  ///< registers of a pair

class SharedRegisters {
 public:
  using Pair = std::uint16_t;

  /// `pairs`: number of register pairs in the SIMD's register file; each is as wide as a wavefront.
  explicit SharedRegisters(unsigned pairs);

  /// Starts a wavefront with `pairs` separate pairs. Returns its number, valid until end().
  unsigned begin(unsigned pairs);
  /// Ends a wavefront. Returns its pairs, valid until the next call; those without readers are free.
  const std::vector<Pair>& end(unsigned wavefront);

  Pair pair(unsigned wavefront, unsigned logical) const { return maps_[wavefront][logical]; }
  unsigned readers(Pair pair) const { return readers_[pair]; }
  /// Number of physical pairs of the SIMD.
  std::size_t size() const { return readers_.size(); }
  /// Number of logical pairs of a wavefront.
  unsigned pairs(unsigned wavefront) const { return static_cast<unsigned>(maps_[wavefront].size()); }

  /// Records a write to a logical pair. If its physical pair has other readers, maps it to another physical pair and returns
  /// true.
  bool write(unsigned wavefront, unsigned logical);
  /// Maps a logical pair to a physical pair that is in use.
  void share(unsigned wavefront, unsigned logical, Pair with);

  unsigned in_use() const { return static_cast<unsigned>(readers_.size() - free_.size()); }
  /// Highest value of in_use(), including before reset().
  unsigned most_in_use() const { return most_in_use_; }
  /// Total number of logical pairs of all wavefronts.
  unsigned allocated() const { return allocated_; }
  /// Whether the counts of readers agree with the maps, and the free pairs are those without readers.
  bool consistent() const;
  /// Throws std::logic_error unless consistent().
  void require_consistent() const;
  void reset();

 private:
  Pair take();
  void drop(Pair pair);

  std::vector<std::uint16_t> readers_;
  std::vector<Pair> free_;
  std::vector<std::vector<Pair>> maps_;  ///< physical pairs by wavefront and logical pair
  std::vector<unsigned> free_maps_;
  std::vector<Pair> ended_;  ///< pairs of the wavefront that ended last
  unsigned allocated_ = 0;
  unsigned most_in_use_ = 0;
};

}  // namespace lacuna
