#include "models/duplo/load_history.h"

#include <bit>
#include <functional>
#include <stdexcept>

namespace lacuna {

std::size_t LoadHistory::TagHash::operator()(const LoadTag& tag) const {
  const std::uint64_t place = std::uint64_t{tag.tile.first.image} << 32 | tag.tile.first.element;
  const std::uint64_t form = std::uint64_t{tag.tile.form.rows} << 8 | tag.tile.form.columns;
  const std::uint64_t rest = std::uint64_t{tag.tile.filter_x} << 48 | std::uint64_t{tag.tile.filter_y} << 32 | form << 16 |
                             std::uint64_t{tag.simd} << 8 | tag.convolution;
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  return std::hash<std::uint64_t>{}((place * kOdd) ^ (rest * kOdd << 1));
}

LoadHistory::LoadHistory(const Parameters& parameters) : parameters_(parameters) {
  if (parameters.entries == 0) return;
  if (!std::has_single_bit(parameters.entries)) throw std::invalid_argument("entries are a power of two, or 0 for any number");
  if (!std::has_single_bit(parameters.ways)) throw std::invalid_argument("ways are a power of two");
  if (parameters.ways > parameters.entries) throw std::invalid_argument("ways must not exceed entries");
  index_.emplace(parameters.hash, parameters.entries / parameters.ways);
  entries_.resize(parameters.entries);
}

bool LoadHistory::is_gone(const Entry& entry, Tick at) const {
  return parameters_.keep == HistoryKeep::until_retired && entry.loads == 0 && entry.retired <= at;
}

LoadHistory::Handle LoadHistory::find(const LoadTag& tag, unsigned zeros, Tick at) {
  const Handle entry = found(tag, zeros, at);
  if (recording_) [[unlikely]] {
    events_.push_back({.kind = HistoryEvent::Kind::find, .at = at, .tag = tag, .zeros = zeros});
    if (entry == kNone) {
      events_.back().miss = miss(tag);
    } else {
      events_.back().entry = entries_[entry].number;
    }
  }
  return entry;
}

LoadHistory::Handle LoadHistory::found(const LoadTag& tag, unsigned zeros, Tick at) {
  now_ = at;
  Handle found = kNone;
  if (!index_) {
    const auto known = past_.find(tag);
    if (known != past_.end() && known->second.entry != kNone) found = known->second.entry;
  } else {
    const Handle first = index_->set(tag, zeros) * parameters_.ways;
    for (Handle entry = first; entry < first + parameters_.ways; ++entry) {
      if (entries_[entry].valid() && entries_[entry].tag == tag) found = entry;
    }
  }
  if (found == kNone) return kNone;
  if (is_gone(entries_[found], at)) {
    release(found, HistoryRelease::retired, at);
    return kNone;
  }
  entries_[found].used = ++uses_;
  entries_[found].allocations = allocations_;
  return found;
}

HistoryMiss LoadHistory::miss(const LoadTag& tag) const {
  const auto known = past_.find(tag);
  if (known == past_.end()) return HistoryMiss::compulsory;
  if (!known->second.replaced) return HistoryMiss::released;
  return allocations_ - known->second.allocations <= parameters_.entries ? HistoryMiss::conflict : HistoryMiss::capacity;
}

// Returns an empty or released entry of the set, or else the least recently used entry, which it releases.
LoadHistory::Handle LoadHistory::entry_for(unsigned set) {
  if (!index_) {
    if (free_.empty()) {
      free_.push_back(static_cast<Handle>(entries_.size()));
      entries_.emplace_back();
    }
    const Handle entry = free_.back();
    free_.pop_back();
    return entry;
  }
  const Handle first = set * parameters_.ways;
  Handle chosen = first;
  for (Handle entry = first; entry < first + parameters_.ways; ++entry) {
    if (entries_[entry].valid() && is_gone(entries_[entry], now_)) release(entry, HistoryRelease::retired, now_);
    if (!entries_[entry].valid()) return entry;
    if (entries_[entry].used < entries_[chosen].used) chosen = entry;
  }
  release(chosen, HistoryRelease::replaced, now_);
  return chosen;
}

LoadHistory::Handle LoadHistory::allocate(const LoadTag& tag, unsigned zeros, const TileRegisters& registers) {
  ++allocations_;
  const Handle number = entry_for(index_ ? index_->set(tag, zeros) : 0);
  Entry& entry = entries_[number];
  entry = {.tag = tag,
           .registers = registers,
           .generation = entry.generation + 1,
           .loads = 1,
           .retired = {},
           .used = ++uses_,
           .allocations = allocations_,
           .copies = 1,
           .number = allocations_,
           .place = static_cast<std::uint32_t>(valid_.size())};
  valid_.push_back(number);
  record({.kind = HistoryEvent::Kind::allocate, .tag = tag, .zeros = zeros, .entry = entry.number, .registers = registers});
  past_[tag] = {.entry = number, .allocations = 0, .replaced = false};
  if (parameters_.keep != HistoryKeep::always) {
    for (const std::uint16_t pair : {registers.first, registers.second}) {
      if (pair != TileRegisters::kNone) of_register_[key(registers.simd, pair)] = {number, entry.generation};
    }
  }
  return number;
}

void LoadHistory::relay(Handle entry) {
  ++entries_[entry].loads;
  record({.kind = HistoryEvent::Kind::relay, .entry = entries_[entry].number});
}

void LoadHistory::hold(Handle entry, std::uint16_t simd, std::uint16_t pair) {
  record({.kind = HistoryEvent::Kind::hold, .entry = entries_[entry].number, .registers = {.simd = simd, .first = pair}});
  if (parameters_.keep == HistoryKeep::always) return;
  of_register_[key(simd, pair)] = {entry, entries_[entry].generation};
  ++entries_[entry].copies;
}

void LoadHistory::retire(Handle number, std::uint32_t generation, Tick at) {
  Entry& entry = entries_[number];
  if (!entry.valid() || entry.generation != generation) return;
  --entry.loads;
  entry.retired = later(entry.retired, at);
  record({.kind = HistoryEvent::Kind::retire, .at = at, .entry = entry.number});
}

void LoadHistory::release(Handle number, HistoryRelease why, Tick at) {
  Entry& entry = entries_[number];
  ++releases_.at(static_cast<std::size_t>(is_gone(entry, at) ? HistoryRelease::retired : why));
  Past& past = past_[entry.tag];
  past.entry = kNone;
  past.allocations = entry.allocations;
  past.replaced = why == HistoryRelease::replaced;
  entries_[valid_.back()].place = entry.place;
  valid_[entry.place] = valid_.back();
  valid_.pop_back();
  entry.place = kNone;
  if (!index_) free_.push_back(number);
}

bool LoadHistory::overwrite(std::uint16_t simd, std::uint16_t pair, Tick at, HistoryRelease why) {
  const auto known = of_register_.find(key(simd, pair));
  if (known == of_register_.end()) return false;
  const Held held = known->second;
  of_register_.erase(known);
  Entry& entry = entries_[held.entry];
  if (!entry.valid() || entry.generation != held.generation) return false;
  const bool goes = --entry.copies == 0;
  const bool was_there = goes && !is_gone(entry, at);
  if (goes) release(held.entry, why, at);
  record({.kind = HistoryEvent::Kind::overwrite,
          .at = at,
          .registers = {.simd = simd, .first = pair},
          .gone = was_there ? 1U : 0U});
  return was_there;
}

template <typename Predicate>
unsigned LoadHistory::drop_if(Predicate goes, HistoryRelease why, Tick at) {
  unsigned dropped = 0;
  // Iterates backwards, since the last entry moves to the position of a released entry.
  for (std::size_t place = valid_.size(); place-- > 0;) {
    const Handle entry = valid_[place];
    if (!goes(entries_[entry])) continue;
    dropped += is_gone(entries_[entry], at) ? 0 : 1;
    release(entry, why, at);
  }
  return dropped;
}

unsigned LoadHistory::drop_of(std::uint8_t convolution, HistoryRelease why, Tick at) {
  return drop_if([convolution](const Entry& entry) { return entry.tag.convolution == convolution; }, why, at);
}

unsigned LoadHistory::drop(std::uint8_t convolution, Tick at) {
  const unsigned dropped = drop_of(convolution, HistoryRelease::stored, at);
  record({.kind = HistoryEvent::Kind::drop, .at = at, .tag = {.convolution = convolution, .tile = {}}, .gone = dropped});
  return dropped;
}

unsigned LoadHistory::drop_all(Tick at) {
  const unsigned dropped = drop_if([](const Entry&) { return true; }, HistoryRelease::invalidated, at);
  record({.kind = HistoryEvent::Kind::drop_all, .at = at, .gone = dropped});
  return dropped;
}

void LoadHistory::forget(std::uint8_t convolution, Tick at) {
  drop_of(convolution, HistoryRelease::kernel_ended, at);
  std::erase_if(past_, [convolution](const auto& tile) { return tile.first.convolution == convolution; });
  record({.kind = HistoryEvent::Kind::forget, .tag = {.convolution = convolution, .tile = {}}});
}

void LoadHistory::reset() {
  drop_if([](const Entry&) { return true; }, HistoryRelease::invalidated, now_);
  releases_ = {};
  past_.clear();
  of_register_.clear();
  uses_ = allocations_ = 0;
  now_ = {};
  record({.kind = HistoryEvent::Kind::reset});
}

unsigned LoadHistory::used(Tick at) const {
  unsigned used = 0;
  for (const Handle entry : valid_) used += is_gone(entries_[entry], at) ? 0 : 1;
  return used;
}

}  // namespace lacuna
