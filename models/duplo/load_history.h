// The load history buffer (section IV.B): which registers of a core hold which tiles of a workspace.
//
//   entries    a power of two, or 0: any number (the paper's oracle)
//   ways       of a set; the least recently used entry is replaced
//   loads      each entry counts the loads that have not retired: the one that allocated it, and those that hit ("relays")
//
// Times are those of look-ups, which come in order. That a load has retired may be known only later than when it did, but is
// known before a look-up of a later time: an entry whose loads have all retired until then is not found any more, unless
// entries outlive their loads (Keep).
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

/// How long an entry stays.
enum class HistoryKeep : std::uint8_t {
  until_retired,      ///< until the last of its loads retires
  until_overwritten,  ///< until its register is overwritten and no other reader has it
  always,             ///< a bound: no register keeps what such an entry holds
};

/// Why an entry has gone.
enum class HistoryRelease : std::uint8_t {
  retired,      ///< the last of its loads had retired before
  replaced,     ///< another entry took its place
  overwritten,  ///< its register was overwritten
  ended,        ///< the wavefront of its register ended
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
  /// Throws std::invalid_argument for numbers that are no powers of two, and for more ways than entries.
  explicit LoadHistory(const Parameters& parameters);

  /// The entry of a tile at a time no earlier than that of the call before.
  Handle find(const LoadTag& tag, unsigned zeros, Tick at);
  /// Of a tile that find() has just not found. Returns the entry; the one that it replaces is gone.
  Handle allocate(const LoadTag& tag, unsigned zeros, const TileRegisters& registers);
  /// Why the look-up before found nothing. Before allocate().
  HistoryMiss miss(const LoadTag& tag) const;

  /// One more load has the entry's registers.
  void relay(Handle entry);
  /// Another register holds what the entry's does (DuploEntry::row): the entry stays until both are overwritten.
  void hold(Handle entry, std::uint16_t simd, std::uint16_t pair);
  /// One of the entry's loads retires at `at`. The entry may be gone.
  void retire(Handle entry, std::uint32_t generation, Tick at);
  /// Changes when the entry of a handle becomes another one.
  std::uint32_t generation(Handle entry) const { return entries_[entry].generation; }
  /// Whether the entry is there still, at the time of the last look-up.
  bool holds(Handle entry, std::uint32_t generation) const {
    return entries_[entry].valid() && entries_[entry].generation == generation && !is_gone(entries_[entry], now_);
  }
  const TileRegisters& registers(Handle entry) const { return entries_[entry].registers; }

  /// A register without other readers is overwritten at `at`, or its wavefront ends: an entry that no other register holds is
  /// gone. Returns whether there was one.
  bool overwrite(std::uint16_t simd, std::uint16_t pair, Tick at, HistoryRelease why = HistoryRelease::overwritten);
  /// Entries of a convolution go, or all. Returns how many.
  unsigned drop(std::uint8_t convolution, Tick at);
  unsigned drop_all(Tick at);
  /// A convolution has ended: its entries go, and a load of another one with its number is the first of its tile.
  void forget(std::uint8_t convolution, Tick at);
  /// Forgets what has been seen.
  void reset();

  /// From now on events() has what happens.
  void record_events() { recording_ = true; }
  std::vector<HistoryEvent>& events() { return events_; }

  /// Entries that have gone since reset(), by reason. One whose loads have retired is counted when its place, its tag or its
  /// register is used next, or at the kernel's end.
  const std::array<std::uint64_t, kHistoryReleases>& releases() const { return releases_; }

  /// Entries that a look-up at `at` could find.
  unsigned used(Tick at) const;

 private:
  struct Entry {
    LoadTag tag;
    TileRegisters registers;
    std::uint32_t generation = 0;
    std::uint32_t loads = 0;        ///< that have not retired, as far as is known
    Tick retired{};                 ///< when the last of the others did
    std::uint64_t used = 0;         ///< number of its last use
    std::uint64_t allocations = 0;  ///< of the buffer then
    std::uint32_t copies = 1;       ///< in registers, each of which is enough
    std::uint64_t number = 0;       ///< of its allocation, from 1
    std::uint32_t place = kNone;    ///< in valid_; kNone: it is not there
    bool valid() const { return place != kNone; }
  };
  struct TagHash {
    std::size_t operator()(const LoadTag& tag) const;
  };
  /// How a tile was last known.
  struct Past {
    Handle entry = kNone;
    std::uint64_t allocations = 0;  ///< of the buffer when its last entry was used last
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
  std::optional<HistoryIndex> index_;  ///< not of any number of entries
  std::vector<Entry> entries_;         ///< sets after one another, or as many as were needed
  std::vector<Handle> free_;           ///< of any number
  std::vector<Handle> valid_;          ///< in any order: a drop costs the entries that are there, not all that ever were
  std::unordered_map<LoadTag, Past, TagHash> past_;
  /// Entry of what a pair holds, by key(). It may be gone, and the handle another one's.
  struct Held {
    Handle entry;
    std::uint32_t generation;
  };
  std::unordered_map<std::uint32_t, Held> of_register_;
  std::uint64_t uses_ = 0;
  std::uint64_t allocations_ = 0;
  std::array<std::uint64_t, kHistoryReleases> releases_{};
  bool recording_ = false;
  std::vector<HistoryEvent> events_;
  Tick now_{};
};

}  // namespace lacuna
