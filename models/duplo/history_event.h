// What happens to a load history buffer, in order: enough for another implementation to replay it.
#pragma once

#include <cstdint>

#include "models/common/time/units.h"
#include "models/duplo/history_index.h"

namespace lacuna {

/// A register pair of a SIMD, or two: those that a tile of 8 or 16 bytes a lane fills. With DuploEntry::row, places of rows in
/// pairs have numbers of their own.
struct TileRegisters {
  static constexpr std::uint16_t kNone = 0xffff;
  std::uint16_t simd = 0;
  std::uint16_t first = kNone;
  std::uint16_t second = kNone;
  bool operator==(const TileRegisters&) const = default;
};

/// Why a look-up found nothing.
enum class HistoryMiss : std::uint8_t {
  compulsory,  ///< no load of this tile before
  released,    ///< its entry has gone with its loads, its register, a store, or an invalidation
  conflict,    ///< its entry was replaced after fewer allocations than there are entries
  capacity,    ///< its entry was replaced after more
};

/// A call of LoadHistory's function of that name.
struct HistoryEvent {
  enum class Kind : std::uint8_t { find, allocate, relay, hold, retire, overwrite, drop, drop_all, forget, reset };
  Kind kind{};
  Tick at{};                  ///< of find, retire, overwrite, drop and drop_all
  LoadTag tag{};              ///< of find and allocate; its convolution alone of drop and forget
  unsigned zeros = 0;         ///< of find and allocate: IdGenerator::zeros()
  std::uint64_t entry = 0;    ///< number of the allocation that made the entry, from 1; 0: find has not found it
  HistoryMiss miss{};         ///< of find without entry
  TileRegisters registers{};  ///< of allocate; the first alone of hold and overwrite
  unsigned gone = 0;          ///< entries that overwrite, drop or drop_all has released
};

}  // namespace lacuna
