#include "models/sida/pipeline/core_cycles.h"

#include <algorithm>
#include <bit>

namespace lacuna::sida {
namespace {

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// Maximum products of a group: a mark has 32 bits, of which at least 8 hold the group's number.
constexpr std::uint64_t kLargestGroup = (std::uint64_t{1} << 24) - 1;

}  // namespace

unsigned tree_stages(std::uint64_t leaves) { return leaves <= 1 ? 0 : static_cast<unsigned>(std::bit_width(leaves - 1)); }

Time os_cycles(std::uint64_t entries, const PassShape& shape, unsigned pes) {
  return divide_up(entries * shape.products_per_entry, std::uint64_t{pes} * shape.products_per_pe);
}

Time ewise_cycles(std::uint64_t elements, const ElementCode& code, unsigned pes) {
  if (elements == 0 || code.instructions == 0) return 0;
  return divide_up(elements * code.instructions, pes) + code.instructions;
}

ScatterGroups::ScatterGroups(const PassShape& shape, unsigned pes, Scatter scatter)
    : group_(
          std::clamp<std::uint64_t>(std::uint64_t{pes} * shape.products_per_pe / shape.products_per_entry, 1, kLargestGroup)),
      cycles_per_group_(divide_up(shape.products_per_entry, std::uint64_t{pes} * shape.products_per_pe)),
      scatter_(scatter),
      count_bits_(static_cast<unsigned>(std::bit_width(group_))),
      mark_(shape.has_is ? shape.z_length : 0) {}

void ScatterGroups::close_group() {
  const Time waits = scatter_ == Scatter::serial ? most_ - 1 : tree_stages(most_);
  cycles_ += cycles_per_group_ * (1 + waits);
  conflict_cycles_ += cycles_per_group_ * waits;
  filled_ = 0;
  most_ = 0;
  if (++number_ >> (32 - count_bits_) != 0) {
    std::fill(mark_.begin(), mark_.end(), 0);
    number_ = 1;
  }
}

inline void ScatterGroups::count(Index sum) {
  std::uint32_t& mark = mark_[sum];
  const std::uint32_t now = number_ << count_bits_;
  const bool again = mark >= now;  // close_group() clears all marks before group numbers wrap
  mark = again ? mark + 1 : now + 1;
  conflicts_ += again ? 1 : 0;
  most_ = std::max(most_, mark - now);
  if (++filled_ == group_) close_group();
}

void ScatterGroups::add(std::span<const Index> sums) {
  for (const Index sum : sums) count(sum);
}

std::uint64_t ScatterGroups::add_below(std::span<const Index> sums, Index limit) {
  std::uint64_t n = 0;
  while (n < sums.size() && sums[n] < limit) count(sums[n++]);
  return n;
}

Time ScatterGroups::end() {
  if (filled_ != 0) close_group();
  const Time cycles = cycles_;
  cycles_ = 0;
  return cycles;
}

}  // namespace lacuna::sida
