// Checks of renaming, in debug builds and tests: the wavefronts' own registers keep their values, so that if the register map
// misses a write, readers of one physical pair hold different data.

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "models/duplo/detection_unit.h"

namespace lacuna {

template <typename Visit>
void DetectionUnit::each_reader(std::uint16_t simd, const Visit& visit) const {
  for (unsigned i = 0; i < slots_; ++i) {
    const Wavefront& w = wavefronts_[simd * slots_ + i];
    if (w.convolution == nullptr) continue;
    const unsigned pairs = registers_[simd].pairs(w.map);
    for (unsigned logical = 0; logical < pairs; ++logical) {
      const isa::RegisterRange range = registers_of(w, logical);
      visit(registers_[simd].pair(w.map, logical), std::array{plane(*w.slot, range, 0), plane(*w.slot, range, 1)});
    }
  }
}

// After a wrong hit the load's registers hold data other than those of the pair that they are mapped to, so nothing can be
// checked.
void DetectionUnit::check_registers(std::uint16_t simd) const {
  registers_[simd].require_consistent();
  if (found_wrong()) return;
  std::vector<const std::uint32_t*> first(registers_[simd].size() * kPairRegisters, nullptr);
  each_reader(simd, [&](SharedRegisters::Pair pair, const auto& planes) {
    if (registers_[simd].readers(pair) == 1) return;
    for (unsigned r = 0; r < kPairRegisters; ++r) {
      const std::uint32_t*& other = first[std::size_t{pair} * kPairRegisters + r];
      if (other == nullptr) {
        other = planes[r].data();
      } else if (!std::equal(planes[r].begin(), planes[r].end(), other)) {
        throw std::logic_error("readers of register pair " + std::to_string(pair) + " of SIMD " + std::to_string(simd) +
                               " hold different data");
      }
    }
  });
}

void DetectionUnit::check_entry(Handle entry) const {
  if (!checks_hits_ || by_row() || parameters_.release == HistoryKeep::always || found_wrong()) return;
  const TileRegisters& held = history_.registers(entry);
  const std::span<const std::uint32_t> words = entry_data_.of(entry);
  unsigned readers = 0;
  each_reader(held.simd, [&](SharedRegisters::Pair pair, const auto& planes) {
    if (pair != held.first && pair != held.second) return;
    ++readers;
    auto word = words.begin() + (pair == held.first ? 0 : kPairRegisters * isa::kLanes);
    for (const std::span<const std::uint32_t>& plane : planes) {
      if (!std::equal(plane.begin(), plane.end(), word))
        throw std::logic_error("register pair " + std::to_string(pair) + " of SIMD " + std::to_string(held.simd) +
                               " was overwritten, and its entry is found");
      word += isa::kLanes;
    }
  });
  if (readers == 0) throw std::logic_error("an entry is found whose registers are free");
}

}  // namespace lacuna
