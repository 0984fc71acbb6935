#include "models/duplo/shared_registers.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace lacuna {

SharedRegisters::SharedRegisters(unsigned pairs) : readers_(pairs) { reset(); }

void SharedRegisters::reset() {
  std::fill(readers_.begin(), readers_.end(), std::uint16_t{0});
  free_.clear();
  for (std::size_t pair = readers_.size(); pair > 0; --pair) free_.push_back(static_cast<Pair>(pair - 1));
  maps_.clear();
  free_maps_.clear();
  allocated_ = 0;
}

SharedRegisters::Pair SharedRegisters::take() {
  if (free_.empty()) throw std::logic_error("wavefronts have more register pairs than their SIMD");
  const Pair pair = free_.back();
  free_.pop_back();
  readers_[pair] = 1;
  most_in_use_ = std::max(most_in_use_, in_use());
  return pair;
}

void SharedRegisters::drop(Pair pair) {
  if (--readers_[pair] == 0) free_.push_back(pair);
}

unsigned SharedRegisters::begin(unsigned pairs) {
  if (free_maps_.empty()) {
    free_maps_.push_back(static_cast<unsigned>(maps_.size()));
    maps_.emplace_back();
  }
  const unsigned wavefront = free_maps_.back();
  free_maps_.pop_back();
  for (unsigned i = 0; i < pairs; ++i) maps_[wavefront].push_back(take());
  allocated_ += pairs;
  return wavefront;
}

const std::vector<SharedRegisters::Pair>& SharedRegisters::end(unsigned wavefront) {
  ended_ = std::exchange(maps_[wavefront], {});
  for (const Pair pair : ended_) drop(pair);
  allocated_ -= static_cast<unsigned>(ended_.size());
  free_maps_.push_back(wavefront);
  return ended_;
}

bool SharedRegisters::write(unsigned wavefront, unsigned logical) {
  Pair& pair = maps_[wavefront][logical];
  if (readers_[pair] == 1) return false;
  drop(pair);
  pair = take();
  return true;
}

void SharedRegisters::share(unsigned wavefront, unsigned logical, Pair with) {
  ++readers_[with];
  drop(maps_[wavefront][logical]);
  maps_[wavefront][logical] = with;
}

bool SharedRegisters::consistent() const {
  std::vector<std::uint16_t> counted(readers_.size());
  for (const std::vector<Pair>& map : maps_) {
    for (const Pair pair : map) ++counted[pair];
  }
  const auto read = std::count_if(readers_.begin(), readers_.end(), [](std::uint16_t readers) { return readers > 0; });
  return counted == readers_ && read == static_cast<std::ptrdiff_t>(in_use()) && in_use() <= allocated_;
}

void SharedRegisters::require_consistent() const {
  if (!consistent()) throw std::logic_error("register pairs have other readers than the maps of the SIMD's wavefronts say");
}

}  // namespace lacuna
