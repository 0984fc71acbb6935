// Conversion between Tick and sc_time, and the time of the SystemC kernel (below: kernel time) as a Tick. SystemC's default
// resolution (1 ps) is part of the contract; the platform checks it.
#pragma once

#include <systemc>
#include <type_traits>

#include "models/common/time/units.h"

namespace lacuna {

/// Sets `time` to t. Like sc_time::from_value(), but without a call into the library: such calls would take a tenth of the host
/// time of a memory request. The store is valid because a standard-layout object and its first (here: only) member have the
/// same address.
inline void assign(sc_core::sc_time& time, Tick t) {
  using Value = sc_core::sc_time::value_type;
  static_assert(std::is_standard_layout_v<sc_core::sc_time> && sizeof(sc_core::sc_time) == sizeof(Value));
  *reinterpret_cast<Value*>(&time) = t.ps;
}
inline sc_core::sc_time to_sc_time(Tick t) {
  sc_core::sc_time time;
  assign(time, t);
  return time;
}
inline Tick to_tick(const sc_core::sc_time& t) { return {t.value()}; }
inline Tick kernel_time() { return to_tick(sc_core::sc_time_stamp()); }
/// Delay from the SystemC kernel time to `at`; zero if `at` has passed.
inline sc_core::sc_time delay_until(Tick at) {
  const Tick now = kernel_time();
  return to_sc_time(later(at, now) - now);
}
/// Suspends the calling SC_THREAD until `at`, or for one delta cycle if `at` is not after the SystemC kernel time.
inline void wait_for_time(Tick at) { sc_core::wait(delay_until(at)); }
/// The local time of an initiator that has run `delay` ahead of the SystemC kernel.
inline Tick local_time(const sc_core::sc_time& delay) { return {sc_core::sc_time_stamp().value() + delay.value()}; }
/// Sets the annotated delay so that local_time() equals t. t must not be before the SystemC kernel time.
inline void set_local_time(sc_core::sc_time& delay, Tick t) { assign(delay, t - Tick{sc_core::sc_time_stamp().value()}); }
/// Adds a duration to an annotated delay.
inline void advance(sc_core::sc_time& delay, Tick duration) { assign(delay, Tick{delay.value()} + duration); }

}  // namespace lacuna
