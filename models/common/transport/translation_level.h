// Interface of a level of address translation: a TLB, or the page walker below the last TLB.
#pragma once

#include <cstdint>

#include "models/common/time/units.h"

namespace lacuna {

class TranslationClient {
 public:
  virtual ~TranslationClient() = default;
  /// The translation requested with `tag` is known from `at` on.
  virtual void translated(std::uint32_t tag, Tick at) = 0;
};

class TranslationLevel {
 public:
  virtual ~TranslationLevel() = default;
  /// Time from which the translation of the page of `address`, requested at `at`, is known.
  virtual Tick translate(std::uint64_t address, Tick at) = 0;
  /// As translate(), for clients that can wait for the response. True: `known` holds the time. False: it depends on requests of
  /// other clients in the same time window (models/compute/windows.h), and the client receives it later, with `tag`.
  virtual bool translate_or_defer(std::uint64_t address, Tick at, TranslationClient&, std::uint32_t, Tick& known) {
    known = translate(address, at);
    return true;
  }
  /// Declares that no later request is made before `horizon`: drops bookings before it, here and in the levels below.
  virtual void retire(Tick horizon) = 0;
};

}  // namespace lacuna
