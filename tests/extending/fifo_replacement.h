// A replacement policy (docs/guide/extending.md): first in, first out. The line that was installed first is replaced, however
// often it has been used since.
#pragma once

#include <algorithm>
#include <vector>

#include "models/cache/replacement/policy.h"

namespace lacuna {

class FifoReplacement final : public ReplacementState {
 public:
  FifoReplacement(std::uint32_t sets, unsigned ways) : ways_(ways), installed_(std::size_t{sets} * ways) {}
  void touch(std::uint32_t /*set*/, unsigned /*way*/) override {}
  void replace(std::uint32_t set, unsigned way) override { installed_[std::size_t{set} * ways_ + way] = ++lines_; }
  unsigned victim(std::uint32_t set) override {
    const auto first = installed_.begin() + std::size_t{set} * ways_;
    return static_cast<unsigned>(std::min_element(first, first + ways_) - first);
  }
  bool goes_before(std::uint32_t set, unsigned way, unsigned other) const override {
    return installed_[std::size_t{set} * ways_ + way] < installed_[std::size_t{set} * ways_ + other];
  }
  void reset() override {
    std::fill(installed_.begin(), installed_.end(), 0);
    restart();
  }
  void reset(std::uint32_t set) override { std::fill_n(installed_.begin() + std::size_t{set} * ways_, ways_, 0); }
  void restart() override { lines_ = 0; }

 private:
  const unsigned ways_;
  std::uint64_t lines_ = 0;               // number of lines installed so far
  std::vector<std::uint64_t> installed_;  // for each set and way: value of `lines_` when its line was installed
};

inline constexpr ReplacementPolicy kFifo{
    "fifo", "the line that was installed first",
    [](std::uint32_t sets, unsigned ways, std::uint64_t /*seed*/) -> std::unique_ptr<ReplacementState> {
      return std::make_unique<FifoReplacement>(sets, ways);
    }};

}  // namespace lacuna
