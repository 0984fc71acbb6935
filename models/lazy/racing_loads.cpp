#include "models/lazy/racing_loads.h"

#include "models/common/containers/pooled_records.h"

namespace lacuna {

std::vector<VectorMemory::Race>& RacingLoads::begin() {
  last_ = take_record(loads_, free_);
  loads_[last_].lines.clear();
  loads_[last_].masks_open = 0;
  loads_[last_].masks_at = Tick{};
  return loads_[last_].lines;
}

void RacingLoads::send_zero_reads(ZeroRequests& zeros, unsigned masks, Tick at) {
  loads_[last_].masks_open = masks;
  // The record is free as soon as all masks have responded, which they may do within read().
  races_.assign(loads_[last_].lines.begin(), loads_[last_].lines.end());
  zeros.read(at, *this, last_);
  memory_.resolve_races(races_);
}

void RacingLoads::zeros_known(std::uint32_t tag, Tick at) {
  Load& load = loads_[tag];
  load.masks_at = later(load.masks_at, at);
  if (--load.masks_open > 0) return;
  for (const VectorMemory::Race line : load.lines) memory_.stage_completed(line, load.masks_at);
  free_.push_back(tag);
}

void RacingLoads::reset() {
  loads_.clear();
  free_.clear();
}

}  // namespace lacuna
