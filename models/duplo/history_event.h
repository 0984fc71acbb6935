// Events of a load history buffer, in order, with all arguments and results that another implementation needs to replay them.
#pragma once

#include <cstdint>

#include "models/common/time/units.h"
#include "models/duplo/history_index.h"

namespace lacuna {

/// One or two register pairs of a SIMD: a tile of 8 bytes per lane fills one pair, a tile of 16 bytes per lane fills two. With
/// DuploEntry::row, `first` is the number of a row of a register pair instead of the pair's number.
struct TileRegisters {
  static constexpr std::uint16_t kNone = 0xffff;
  std::uint16_t simd = 0;
  std::uint16_t first = kNone;
  std::uint16_t second = kNone;
  bool operator==(const TileRegisters&) const = default;
};

/// Reason why a look-up found no entry.
enum class HistoryMiss : std::uint8_t {
  compulsory,  ///< no load of this tile before
  released,    ///< the tile's entry was released: retirement, end of its register, store, or invalidation
  conflict,    ///< the tile's entry was replaced; since its last use there were at most as many allocations as entries
  capacity,    ///< the tile's entry was replaced; since its last use there were more allocations than entries
};

/// A call of a function of LoadHistory; the event's kind is the function's name.
struct HistoryEvent {
  enum class Kind : std::uint8_t { find, allocate, relay, hold, retire, overwrite, drop, drop_all, forget, reset };
  Kind kind{};
  Tick at{};                  ///< time of find, retire, overwrite, drop and drop_all
  LoadTag tag{};              ///< tag of find and allocate; for drop and forget only its convolution is valid
  unsigned zeros = 0;         ///< IdGenerator::zeros() of find and allocate
  std::uint64_t entry = 0;    ///< number of the allocation that made the entry, from 1; 0: find found none
  HistoryMiss miss{};         ///< reason why find found no entry
  TileRegisters registers{};  ///< registers of allocate; for hold and overwrite only the first is valid
  unsigned gone = 0;          ///< number of entries that overwrite, drop or drop_all released before their retirement
};

}  // namespace lacuna
