// Least recently used, for any number of ways: stores the sequence number of each way's last use.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "models/cache/replacement/policy.h"
#include "models/common/host/host_prefetch.h"
#include "models/common/host/zeroed_array.h"

namespace lacuna {
namespace {

// Index of the smallest of `count` numbers, the first if several are equal. Compares four at a time, without branches: the
// branch predictor cannot learn which way is the oldest.
unsigned oldest(const std::uint64_t* used, unsigned count) {
  using Block [[gnu::vector_size(32)]] = std::int64_t;
  constexpr unsigned kBlock = sizeof(Block) / sizeof(std::int64_t);
  constexpr unsigned kWayBits = 16;  // lowest bits of a key, for the way; the bits above are the sequence number, which is less
                                     // than 2^47
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

class Lru final : public ReplacementState {
 public:
  Lru(std::uint32_t sets, unsigned ways) : ways_(ways), used_(std::size_t{sets} * ways) {}
  void touch(std::uint32_t set, unsigned way) override { used_[std::size_t{set} * ways_ + way] = ++clock_; }
  unsigned victim(std::uint32_t set) override { return oldest(&used_[std::size_t{set} * ways_], ways_); }
  bool goes_before(std::uint32_t set, unsigned way, unsigned other) const override {
    return used_[std::size_t{set} * ways_ + way] < used_[std::size_t{set} * ways_ + other];
  }
  void prefetch(std::uint32_t set) const override {
    for (unsigned way = 0; way < ways_; way += kPerHostLine) fetch_to_host(&used_[std::size_t{set} * ways_ + way]);
  }
  void reset() override {
    restart();
    used_.clear();
  }
  void reset(std::uint32_t set) override { std::fill_n(&used_[std::size_t{set} * ways_], ways_, 0); }
  void restart() override { clock_ = 0; }

 private:
  static constexpr unsigned kPerHostLine = 8;  // sequence numbers in 64 bytes

  const unsigned ways_;
  std::uint64_t clock_ = 0;  // number of uses
  ZeroedArray<std::uint64_t> used_;
};

}  // namespace

constinit const ReplacementPolicy ReplacementPolicy::lru{
    "lru", "the line whose last use is the longest ago",
    [](std::uint32_t sets, unsigned ways, std::uint64_t) -> std::unique_ptr<ReplacementState> {
      return std::make_unique<Lru>(sets, ways);
    }};

}  // namespace lacuna
