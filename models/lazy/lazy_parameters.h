// Parameters of LazyGPU (ISCA '25): lazy cores, zero caches and the elimination of loads that a zero operand makes irrelevant.
// Section numbers are the paper's.
//
// No parameter affects the results of a program.
#pragma once

#include <cstdint>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"
#include "models/isa/analysis/irrelevant_lanes.h"

namespace lacuna {

enum class LazyMode : std::uint8_t {
  eager,             ///< baseline without LazyGPU
  eager_zero,        ///< zero caches are read in parallel with the load, which goes to memory in all cases
  lazy,              ///< section 4.1: loads are held until their data are used
  lazy_zero,         ///< section 4.2: in addition, loads are eliminated if a zero cache shows that their data are zero
  lazy_zero_otimes,  ///< section 4.3: in addition, loads are eliminated if a zero operand makes them irrelevant. Complete
                     ///< LazyGPU
};

constexpr bool has_zero_caches(LazyMode mode) { return mode != LazyMode::eager && mode != LazyMode::lazy; }
constexpr bool holds_loads(LazyMode mode) { return mode != LazyMode::eager && mode != LazyMode::eager_zero; }
constexpr bool has_otimes(LazyMode mode) { return mode == LazyMode::lazy_zero_otimes; }

/// Writers of GPU memory that update masks.
enum class MaskWriters : std::uint8_t {
  all,     ///< all writers; memory that was never written is known to be zero
  stores,  ///< stores of wavefronts only: memory that other agents have written, or that was never written, is unknown and is
           ///< treated as non-zero
};

/// Ports of zero caches at a crossbar. In other networks, zero caches share the node of the L1V or L2 bank.
enum class ZeroPorts : std::uint8_t { own, shared };

/// Held loads that are issued when an instruction finds a register busy.
enum class FirstUse : std::uint8_t {
  needed,  ///< loads that the instruction needs: section 4.1
  all,     ///< all loads of the wavefront, except those that wait for a zero cache, and suspended lanes
};

/// Number of times that a held load occupies the compute unit's address unit.
enum class AddressUnit : std::uint8_t {
  once,   ///< when the load is executed and held: section 4 and Fig. 5, where the lazy unit is downstream of the load-store
          ///< unit
  twice,  ///< when the load is held, together with its zero reads, and again when its requests are sent
};

struct LazyParameters {
  LazyMode mode = LazyMode::eager;
  FirstUse first_use = FirstUse::needed;
  AddressUnit address_unit = AddressUnit::once;
  Cycles issue_latency{5};
  isa::OtimesIeee otimes_ieee = isa::OtimesIeee::paper;
  unsigned mask_bits = 32;
  MaskWriters masks = MaskWriters::all;
  ZeroPorts ports = ZeroPorts::own;
  bool check = false;

  void describe(ParameterSection& s);
};

}  // namespace lacuna
