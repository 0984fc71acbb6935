// Who knows when the translation of an address is there: a TLB or the page walker behind the last one.
#pragma once

#include <cstdint>

#include "models/common/units.h"

namespace lacuna {

class TranslationLevel {
 public:
  virtual ~TranslationLevel() = default;
  /// When the translation of the page that holds `address` is known to whoever asks at `at`.
  virtual Tick translate(std::uint64_t address, Tick at) = 0;
  /// No later question comes before `horizon`: bookings until then are forgotten, here and in the levels behind.
  virtual void retire(Tick horizon) = 0;
};

}  // namespace lacuna
