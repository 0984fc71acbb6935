// The load history buffer (section IV.B): records which registers of a core hold which tiles of a workspace.
//
//   entries    a power of two, or 0: any number (the paper's oracle)
//   ways       ways of a set; the least recently used entry is replaced
//   loads      each entry counts the loads that have not retired: the load that allocated it, and loads that hit ("relays")
//
// Times are those of look-ups, which arrive in order. The retirement of a load may be reported later than its time, but before
// any look-up of a later time: an entry whose loads have all retired by then is no longer found, unless entries outlive their
// loads (HistoryKeep).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "models/common/time/units.h"
#include "models/duplo/history_event.h"
#include "models/duplo/history_index.h"

namespace lacuna {

/// Lifetime of an entry.
enum class HistoryKeep : std::uint8_t {
  until_retired,      ///< an entry is released when the last of its loads retires
  until_overwritten,  ///< an entry is released when its register is overwritten and has no other reader
  always,             ///< entries are never released: an upper bound, since no register keeps their data
};

/// Reason why an entry was released.
enum class HistoryRelease : std::uint8_t {
  retired,      ///< all loads of the entry had retired
  replaced,     ///< another entry took the entry's place
  overwritten,  ///< the entry's register was overwritten
  ended,        ///< the wavefront of the entry's register ended
  stored,       ///< the core stored into the workspace
  invalidated,  ///< all entries were dropped
  kernel_ended,
  count
};
inline constexpr std::size_t kHistoryReleases = static_cast<std::size_t>(HistoryRelease::count);

class LoadHistory {
 public:
  using Handle = std::uint32_t;
  static constexpr Handle kNone = ~Handle{0};

  struct Parameters {
    unsigned entries = 1024;
    unsigned ways = 1;
    HistoryHash hash = HistoryHash::xor_;
    HistoryKeep keep = HistoryKeep::until_retired;
  };
  /// Throws std::invalid_argument for numbers that are not powers of two, and for more ways than entries.
  explicit LoadHistory(const Parameters& parameters);

  /// The entry of a tile at time `at`, not before the time of the previous call; kNone: there is none. `zeros`: as in
  /// HistoryIndex::set().
  Handle find(const LoadTag& tag, unsigned zeros, Tick at);
  /// Allocates an entry for a tile that find() has just not found. The entry that it replaces is released.
  Handle allocate(const LoadTag& tag, unsigned zeros, const TileRegisters& registers);
  /// Reason why the previous look-up found no entry. Call it before allocate().
  HistoryMiss miss(const LoadTag& tag) const;

  /// Counts a load that has hit the entry as one of the entry's loads.
  void relay(Handle entry);
  /// Records that another register holds the entry's data (DuploEntry::row): the entry stays until both are overwritten.
  void hold(Handle entry, std::uint16_t simd, std::uint16_t pair);
  /// Retires one of the entry's loads at `at`, which may release the entry. No effect if `generation` is no longer the entry's.
  void retire(Handle entry, std::uint32_t generation, Tick at);
  /// Number that changes when the handle is reused for another entry.
  std::uint32_t generation(Handle entry) const { return entries_[entry].generation; }
  /// Whether the entry was still valid at the time of the last look-up.
  bool holds(Handle entry, std::uint32_t generation) const {
    return entries_[entry].valid() && entries_[entry].generation == generation && !is_gone(entries_[entry], now_);
  }
  const TileRegisters& registers(Handle entry) const { return entries_[entry].registers; }

  /// Records that a register without other readers is overwritten at `at`, or that its wavefront ends: an entry that no other
  /// register holds is released. Returns whether a valid entry was released.
  bool overwrite(std::uint16_t simd, std::uint16_t pair, Tick at, HistoryRelease why = HistoryRelease::overwritten);
  /// Releases the entries of a convolution, or all entries. Returns the number of entries that a look-up could still have
  /// found.
  unsigned drop(std::uint8_t convolution, Tick at);
  unsigned drop_all(Tick at);
  /// Ends a convolution: releases its entries. The first load of a tile under a reused number is a compulsory miss again.
  void forget(std::uint8_t convolution, Tick at);
  /// Returns to the initial state.
  void reset();

  /// Records events in events() from now on.
  void record_events() { recording_ = true; }
  std::vector<HistoryEvent>& events() { return events_; }

  /// Number of entries released since reset(), by reason. An entry released by retirement is counted when its position, tag or
  /// register is used next, or when it is dropped.
  const std::array<std::uint64_t, kHistoryReleases>& releases() const { return releases_; }

  /// Number of entries that a look-up at `at` could find.
  unsigned used(Tick at) const;

 private:
  struct Entry {
    LoadTag tag;
    TileRegisters registers;
    std::uint32_t generation = 0;
    std::uint32_t loads = 0;        ///< loads that have not retired, as far as is known
    Tick retired{};                 ///< latest retirement of one of its loads
    std::uint64_t used = 0;         ///< sequence number of its last use
    std::uint64_t allocations = 0;  ///< buffer's allocation count at the entry's last use
    std::uint32_t copies = 1;       ///< number of registers that hold its data; the entry is released with the last of them
    std::uint64_t number = 0;       ///< sequence number of its allocation, from 1
    std::uint32_t place = kNone;    ///< index in valid_; kNone: the entry is not valid
    bool valid() const { return place != kNone; }
  };
  struct TagHash {
    std::size_t operator()(const LoadTag& tag) const;
  };
  /// Last known state of a tile.
  struct Past {
    Handle entry = kNone;
    std::uint64_t allocations = 0;  ///< the buffer's allocation count at the last use of the tile's latest released entry
    bool replaced = false;
  };

  bool is_gone(const Entry& entry, Tick at) const;
  void release(Handle entry, HistoryRelease why, Tick at);
  Handle entry_for(unsigned set);
  Handle found(const LoadTag& tag, unsigned zeros, Tick at);
  unsigned drop_of(std::uint8_t convolution, HistoryRelease why, Tick at);
  template <typename Predicate>
  unsigned drop_if(Predicate goes, HistoryRelease why, Tick at);
  void record(const HistoryEvent& event) {
    if (recording_) [[unlikely]]
      events_.push_back(event);
  }
  static std::uint32_t key(std::uint16_t simd, std::uint16_t pair) { return std::uint32_t{simd} << 16 | pair; }

  Parameters parameters_;
  std::optional<HistoryIndex> index_;  ///< nullopt with an unlimited number of entries
  std::vector<Entry> entries_;         ///< entries ordered by set; a growing list if their number is unlimited
  std::vector<Handle> free_;           ///< free entries, if the number of entries is unlimited
  std::vector<Handle> valid_;          ///< valid entries in any order, so that a drop visits only these
  std::unordered_map<LoadTag, Past, TagHash> past_;
  /// Entry whose data a register pair holds. The entry may have been released and its handle reused: then `generation` differs.
  struct Held {
    Handle entry;
    std::uint32_t generation;
  };
  std::unordered_map<std::uint32_t, Held> of_register_;  ///< entries by key(simd, pair)
  std::uint64_t uses_ = 0;
  std::uint64_t allocations_ = 0;
  std::array<std::uint64_t, kHistoryReleases> releases_{};
  bool recording_ = false;
  std::vector<HistoryEvent> events_;
  Tick now_{};
};

}  // namespace lacuna
