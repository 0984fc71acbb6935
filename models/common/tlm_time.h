// Conversion between Tick and sc_time. SystemC's default resolution (1 ps) is part of the contract; the platform checks it.
#pragma once

#include <systemc>

#include "models/common/units.h"

namespace lacuna {

inline sc_core::sc_time to_sc_time(Tick t) { return sc_core::sc_time::from_value(t.ps); }
inline Tick to_tick(const sc_core::sc_time& t) { return {t.value()}; }
/// The local time of an initiator that has run `delay` ahead of the kernel.
inline Tick local_time(const sc_core::sc_time& delay) { return {sc_core::sc_time_stamp().value() + delay.value()}; }
/// The annotated delay that makes local_time() equal t. t must not lie before the kernel's time.
inline void set_local_time(sc_core::sc_time& delay, Tick t) {
  delay = sc_core::sc_time::from_value(t.ps - sc_core::sc_time_stamp().value());
}

/// Adds a duration to an annotated delay.
inline void advance(sc_core::sc_time& delay, Tick duration) {
  delay = sc_core::sc_time::from_value(delay.value() + duration.ps);
}

}  // namespace lacuna
