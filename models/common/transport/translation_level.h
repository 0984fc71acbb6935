// Interface of a level of address translation: a TLB, or the page walker below the last TLB.
#pragma once

#include <cstdint>

#include "models/common/time/units.h"

namespace lacuna {

class TranslationClient {
 public:
  virtual ~TranslationClient() = default;
  /// Reports that the translation requested with `tag` is known from `at` on.
  virtual void translated(std::uint32_t tag, Tick at) = 0;
};

class TranslationLevel {
 public:
  virtual ~TranslationLevel() = default;
  /// Requests the translation of the page of `address` at `at`. Returns the time from which the translation is known.
  virtual Tick translate(std::uint64_t address, Tick at) = 0;
  /// Like translate(), for clients that can wait for the response. Returns true if `known` holds the time. Otherwise the time
  /// depends on requests of other clients in the same window (models/compute/windows.h), and the client receives the time
  /// later, with `tag`.
  virtual bool translate_or_defer(std::uint64_t address, Tick at, TranslationClient&, std::uint32_t, Tick& known) {
    known = translate(address, at);
    return true;
  }
  /// Declares that no further request is made for a time before `horizon`. Drops earlier bookings of this level and of the
  /// levels below.
  virtual void retire(Tick horizon) = 0;
};

}  // namespace lacuna
