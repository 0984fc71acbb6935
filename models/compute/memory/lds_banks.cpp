#include "models/compute/memory/lds_banks.h"

#include <algorithm>
#include <array>
#include <bit>

namespace lacuna {
namespace {

constexpr unsigned kDword = 4;

// The dwords that one pass accesses.
class Pass {
 public:
  void add(std::uint32_t offset) { dwords_[count_++] = offset / kDword; }

  unsigned finish(bool shared) {
    const unsigned cycles = shared && is_free_of_conflicts() ? 1 : longest_queue(shared);
    count_ = 0;
    return cycles;
  }

 private:
  // Common case: no bank is accessed at two different dwords. Tested without a branch per lane.
  bool is_free_of_conflicts() const {
    std::array<std::uint32_t, kLdsBanks> accessed;
    for (unsigned i = 0; i < count_; ++i) accessed[dwords_[i] % kLdsBanks] = dwords_[i];
    std::uint32_t differs = 0;
    for (unsigned i = 0; i < count_; ++i) differs |= accessed[dwords_[i] % kLdsBanks] ^ dwords_[i];
    return differs == 0;
  }

  unsigned longest_queue(bool shared) const {
    std::array<std::array<std::uint32_t, kLdsBanks>, kLdsBanks> accessed;
    std::array<unsigned, kLdsBanks> length{};
    unsigned longest = 0;
    for (unsigned i = 0; i < count_; ++i) {
      const unsigned bank = dwords_[i] % kLdsBanks;
      const auto first = accessed[bank].begin();
      const auto last = first + length[bank];
      if (shared && std::find(first, last, dwords_[i]) != last) continue;
      accessed[bank][length[bank]++] = dwords_[i];
      longest = std::max(longest, length[bank]);
    }
    return longest;
  }

  std::array<std::uint32_t, kLdsBanks> dwords_;
  unsigned count_ = 0;
};

}  // namespace

namespace {

LdsCycles count_cycles(const isa::MemoryAccess& access, const LdsBanks::Offsets& offsets, std::uint64_t lanes) {
  const unsigned dwords = std::max(1U, (access.bytes_per_lane + kDword - 1U) / kDword);
  const unsigned per_lane = dwords * (access.dual ? 2 : 1);
  const unsigned lanes_per_pass = std::max(1U, kLdsBanks / per_lane);
  const bool shared = access.operation != isa::MemoryAccess::Operation::atomic;
  Pass pass;
  unsigned busy = 0;
  unsigned in_pass = 0;
  unsigned passes = 0;
  const auto finish = [&] {
    busy += pass.finish(shared);
    ++passes;
    in_pass = 0;
  };
  for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    for (unsigned d = 0; d < dwords; ++d) {
      pass.add(offsets[lane] + d * kDword);
      if (access.dual) pass.add(offsets[lane] + access.dual_distance + d * kDword);
    }
    if (++in_pass == lanes_per_pass) finish();
  }
  if (in_pass != 0) finish();
  busy = std::max(busy, 1U);
  return {static_cast<std::uint16_t>(busy), static_cast<std::uint16_t>(busy - std::max(passes, 1U))};
}

}  // namespace

LdsCycles LdsBanks::cycles(const isa::MemoryAccess& access, const Offsets& offsets, std::uint64_t lanes,
                           std::uint64_t instruction) {
  Pattern& known = patterns_[instruction / 8 % patterns_.size()];
  const std::uint32_t base = offsets[0];
  const std::uint32_t dual_distance = access.dual ? access.dual_distance : 0;
  std::uint32_t differs = (base % kDword ^ known.misalignment) | (dual_distance ^ known.dual_distance);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) differs |= (offsets[lane] - base) ^ known.distances[lane];
  if (differs == 0 && known.lanes == lanes && known.bytes_per_lane == access.bytes_per_lane && known.dual == access.dual &&
      known.operation == access.operation) {
    return known.result;
  }
  known.lanes = lanes;
  known.misalignment = base % kDword;
  known.bytes_per_lane = access.bytes_per_lane;
  known.dual = access.dual;
  known.dual_distance = dual_distance;
  known.operation = access.operation;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) known.distances[lane] = offsets[lane] - base;
  known.result = count_cycles(access, offsets, lanes);
  return known.result;
}

}  // namespace lacuna
