// Tree pseudo-LRU: one bit per node of a binary tree over the ways; each bit points away from the half used last.
#include <bit>
#include <stdexcept>
#include <string>

#include "models/cache/replacement/policy.h"
#include "models/common/host/zeroed_array.h"

namespace lacuna {
namespace {

class TreePlru final : public ReplacementState {
 public:
  TreePlru(std::uint32_t sets, unsigned ways) : ways_(ways), trees_(sets) {
    if (!std::has_single_bit(ways) || ways > 64)
      throw std::invalid_argument("tree pseudo-LRU needs a power of two of ways up to 64, not " + std::to_string(ways));
  }
  void touch(std::uint32_t set, unsigned way) override {
    std::uint64_t& tree = trees_[set];
    unsigned node = 1;
    for (unsigned half = ways_ / 2; half > 0; half /= 2) {
      const bool right = (way & half) != 0;
      const std::uint64_t bit = std::uint64_t{1} << node;
      tree = right ? tree & ~bit : tree | bit;
      node = 2 * node + (right ? 1 : 0);
    }
  }
  unsigned victim(std::uint32_t set) override {
    unsigned node = 1;
    while (node < ways_) node = 2 * node + static_cast<unsigned>(trees_[set] >> node & 1);
    return node - ways_;
  }
  void reset() override { trees_.clear(); }
  void reset(std::uint32_t set) override { trees_[set] = 0; }

 private:
  const unsigned ways_;
  ZeroedArray<std::uint64_t> trees_;  // bit n: node n (root 1, children 2n and 2n + 1); set: the victim is on the right
};

}  // namespace

constinit const ReplacementPolicy ReplacementPolicy::plru{
    "plru", "tree pseudo-LRU, of a power of two of ways up to 64",
    [](std::uint32_t sets, unsigned ways, std::uint64_t) -> std::unique_ptr<ReplacementState> {
      return std::make_unique<TreePlru>(sets, ways);
    }};

}  // namespace lacuna
