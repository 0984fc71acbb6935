// Who knows when the translation of an address is there: a TLB or the page walker behind the last one.
#pragma once

#include <cstdint>

#include "models/common/time/units.h"

namespace lacuna {

class TranslationClient {
 public:
  virtual ~TranslationClient() = default;
  /// The translation that was asked for with `tag` is known at `at`.
  virtual void translated(std::uint32_t tag, Tick at) = 0;
};

class TranslationLevel {
 public:
  virtual ~TranslationLevel() = default;
  /// When the translation of the page that holds `address` is known to whoever asks at `at`.
  virtual Tick translate(std::uint64_t address, Tick at) = 0;
  /// As translate() for clients that can wait for the answer. True: `known` holds it. False: the client gets it later, under
  /// `tag`, because it depends on what others ask for in the same window of time (models/compute/windows.h).
  virtual bool translate_or_defer(std::uint64_t address, Tick at, TranslationClient&, std::uint32_t, Tick& known) {
    known = translate(address, at);
    return true;
  }
  /// No later request comes before `horizon`: bookings until then are forgotten, here and in the levels behind.
  virtual void retire(Tick horizon) = 0;
};

}  // namespace lacuna
