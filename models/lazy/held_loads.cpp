#include "models/lazy/held_loads.h"

#include <algorithm>

namespace lacuna {

HeldLoad& HeldLoads::take() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint16_t>(all_.size()));
    all_.push_back(std::make_unique<HeldLoad>());
    all_.back()->number = free_.back();
  }
  HeldLoad& load = *all_[free_.back()];
  free_.pop_back();
  return load;
}

bool HeldLoads::is_any_held(const OfWavefront& w, const isa::RegisterRange& registers) {
  const auto first = w.owner.begin() + index_of(registers);
  return std::any_of(first, first + registers.count, [](std::uint16_t owner) { return owner != kNone; });
}

void HeldLoads::enter(OfWavefront& w, HeldLoad& load) {
  load.zero = load.served = load.suspended = load.need = load.busy = {};
  for (unsigned r = 0; r < load.registers.count; ++r) {
    load.busy[r] = load.lanes;
    w.owner[index_of(load.registers) + r] = load.number;
  }
  load.has_zeros = load.waited_for = load.touched = false;
  load.masks_open = load.zero_blocks = load.zero_parts = 0;
  load.masks_at = Cycles{};
  w.busy.add(load.registers);
  w.loads.push_back(load.number);
}

bool HeldLoads::free_lanes(OfWavefront& w, HeldLoad& load, unsigned r, Lanes lanes) {
  if ((load.busy[r] & lanes) == 0) return false;
  load.busy[r] &= ~lanes;
  if (load.busy[r] != 0) return false;
  w.owner[index_of(load.registers) + r] = kNone;
  w.busy.remove({load.registers.file, static_cast<std::uint16_t>(load.registers.first + r), 1});
  if (std::any_of(load.busy.begin(), load.busy.end(), [](Lanes busy) { return busy != 0; })) return false;
  w.loads.erase(std::find(w.loads.begin(), w.loads.end(), load.number));
  return true;
}

}  // namespace lacuna
