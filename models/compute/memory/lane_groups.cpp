#include "models/compute/memory/lane_groups.h"

#include <algorithm>

namespace lacuna {
namespace {

constexpr unsigned kBanks = 4;
constexpr unsigned kLineShift = 6;
constexpr unsigned kWordShift = 4;
constexpr unsigned kRow = 16;
constexpr unsigned kDwordBytes = 4;

/// Number of different values in the bank that has most of them; a value's bank is its lowest bits.
unsigned busiest_bank(const std::array<std::uint64_t, kGroupLanes>& values, unsigned count) {
  std::array<unsigned, kBanks> length{};
  for (unsigned i = 0; i < count; ++i) {
    bool known = false;
    for (unsigned j = 0; j < i; ++j) known |= values[j] == values[i];
    length[values[i] % kBanks] += known ? 0 : 1;
  }
  return *std::max_element(length.begin(), length.end());
}

/// The lanes of one group.
class Group {
 public:
  void add(std::uint64_t address) {
    lines_[count_] = address >> kLineShift;
    words_[count_++] = address >> kWordShift;
  }
  unsigned cycles() const { return std::max(busiest_bank(lines_, count_), busiest_bank(words_, count_)); }

 private:
  std::array<std::uint64_t, kGroupLanes> lines_{};
  std::array<std::uint64_t, kGroupLanes> words_{};
  unsigned count_ = 0;
};

bool is_active(std::uint64_t lanes, unsigned lane) { return (lanes >> lane & 1) != 0; }

/// The group of some lanes, `step` apart.
unsigned cycles_of(std::uint64_t lanes, const std::uint64_t* addresses, unsigned first, unsigned step) {
  Group group;
  for (unsigned i = 0; i < kGroupLanes; ++i) {
    if (const unsigned lane = first + i * step; is_active(lanes, lane)) group.add(addresses[lane]);
  }
  return group.cycles();
}

/// Whether the active lanes of four neighbours access neighbouring dwords or the same word.
bool is_one_access(std::uint64_t lanes, const std::uint64_t* addresses, unsigned first) {
  unsigned leader = first;
  while (leader < first + kGroupLanes && !is_active(lanes, leader)) ++leader;
  bool neighbours = true;
  bool one_word = true;
  for (unsigned lane = leader; lane < first + kGroupLanes; ++lane) {
    if (!is_active(lanes, lane)) continue;
    neighbours &= addresses[lane] == addresses[leader] + std::uint64_t{lane - leader} * kDwordBytes;
    one_word &= addresses[lane] >> kWordShift == addresses[leader] >> kWordShift;
  }
  return neighbours || one_word;
}

/// Cycles of 16 neighbouring lanes that access up to a dword each.
unsigned cycles_of_row(std::uint64_t lanes, const std::uint64_t* addresses, unsigned row) {
  bool joined = true;
  for (unsigned first = row; first < row + kRow; first += kGroupLanes) joined &= is_one_access(lanes, addresses, first);
  if (joined) {
    Group group;
    for (unsigned first = row; first < row + kRow; first += kGroupLanes) {
      unsigned lane = first;
      while (lane < first + kGroupLanes && !is_active(lanes, lane)) ++lane;
      if (lane < first + kGroupLanes) group.add(addresses[lane]);
    }
    return group.cycles();
  }
  unsigned cycles = 0;
  for (unsigned i = 0; i < kGroupLanes; ++i) cycles += cycles_of(lanes, addresses, row + i, kGroupLanes);
  return cycles;
}

}  // namespace

unsigned group_cycles(const isa::MemoryAccess& access, const std::array<std::uint64_t, isa::kLanes>& addresses) {
  unsigned cycles = 0;
  if (access.bytes_per_lane <= kDwordBytes) {
    for (unsigned row = 0; row < isa::kLanes; row += kRow) cycles += cycles_of_row(access.lanes, addresses.data(), row);
  } else {
    for (unsigned first = 0; first < isa::kLanes; first += kGroupLanes) {
      cycles += cycles_of(access.lanes, addresses.data(), first, 1);
    }
  }
  return cycles;
}

}  // namespace lacuna
