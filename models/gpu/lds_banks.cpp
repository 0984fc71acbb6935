#include "models/gpu/lds_banks.h"

#include <algorithm>
#include <array>
#include <bit>

namespace lacuna {
namespace {

constexpr unsigned kDword = 4;

// The dwords that one pass asks each bank for.
class Pass {
 public:
  void add(std::uint64_t dword, bool shared) {
    const auto bank = static_cast<unsigned>(dword % kLdsBanks);
    const auto first = asked_[bank].begin();
    const auto last = first + count_[bank];
    if (shared && std::find(first, last, dword) != last) return;
    asked_[bank][count_[bank]++] = dword;
    cycles_ = std::max(cycles_, count_[bank]);
  }
  unsigned finish() {
    const unsigned cycles = cycles_;
    count_.fill(0);
    cycles_ = 0;
    return cycles;
  }

 private:
  std::array<std::array<std::uint64_t, kLdsBanks>, kLdsBanks> asked_;
  std::array<unsigned, kLdsBanks> count_{};
  unsigned cycles_ = 0;
};

}  // namespace

LdsCycles lds_cycles(const isa::MemoryAccess& access, std::uint64_t lanes) {
  const unsigned dwords = std::max(1U, (access.bytes_per_lane + kDword - 1U) / kDword);
  const unsigned per_lane = dwords * (access.dual ? 2 : 1);
  const unsigned lanes_per_pass = std::max(1U, kLdsBanks / per_lane);
  const bool shared = access.operation != isa::MemoryAccess::Operation::atomic;
  Pass pass;
  LdsCycles result;
  unsigned in_pass = 0;
  unsigned passes = 0;
  const auto finish = [&] {
    result.busy += pass.finish();
    ++passes;
    in_pass = 0;
  };
  for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    for (unsigned d = 0; d < dwords; ++d) {
      pass.add(access.address[lane] / kDword + d, shared);
      if (access.dual) pass.add(access.address2[lane] / kDword + d, shared);
    }
    if (++in_pass == lanes_per_pass) finish();
  }
  if (in_pass != 0) finish();
  result.busy = std::max(result.busy, 1U);
  result.conflicts = result.busy - std::max(passes, 1U);
  return result;
}

}  // namespace lacuna
