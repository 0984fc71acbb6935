// Parameters of Duplo (Kim et al., MICRO '20). Section numbers are the paper's.
//
// No parameter affects the results of a program.
#pragma once

#include <cstdint>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"
#include "models/duplo/id_generator.h"
#include "models/duplo/load_history.h"

namespace lacuna {

enum class DuploMode : std::uint8_t { off, on };
/// Part of a load that an entry of the history covers.
enum class DuploEntry : std::uint8_t {
  tile,  ///< the whole load
  row,   ///< one row of the load's tile, 16 elements in four lanes: an upper bound, as renaming cannot move data between lanes
};
/// Loads that an entry of the history serves.
enum class DuploScope : std::uint8_t {
  core,  ///< loads of all SIMDs: other SIMDs get a copy
  simd,  ///< loads of the SIMD whose register holds the data
};
/// Time of a load's look-up in the L1 cache.
enum class DuploL1 : std::uint8_t {
  parallel,  ///< in the same cycle as in the load history buffer; a hit in the buffer cancels the look-up
  after,     ///< after the load history buffer has missed
};

struct DuploParameters {
  DuploMode mode = DuploMode::off;
  DatumIds ids = DatumIds::exact;
  DuploEntry entry = DuploEntry::tile;
  unsigned entries = 1024;
  unsigned ways = 1;
  HistoryHash hash = HistoryHash::xor_;
  Cycles latency{2};
  HistoryKeep release = HistoryKeep::until_retired;
  DuploScope scope = DuploScope::core;
  Cycles copy_cycles{0};  ///< 0: not set, copies() returns the default
  unsigned convolutions = 4;
  DuploL1 l1 = DuploL1::parallel;
  bool check = true;
  bool trace = false;

  static constexpr Cycles kCopyCycles{4};
  /// Cycles of a copy from the register file of another SIMD (DuploScope::core): copy_cycles, or kCopyCycles if it is 0.
  Cycles copies() const { return copy_cycles == Cycles{0} ? kCopyCycles : copy_cycles; }

  void describe(ParameterSection& s);
};

}  // namespace lacuna
