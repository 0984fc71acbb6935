// Parameters of LazyGPU (ISCA '25): lazy cores, zero caches and the elimination of operands whose partner is zero. Section
// numbers are the paper's.
//
// None of them has any influence on what a program computes.
#pragma once

#include <cstdint>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"
#include "models/isa/analysis/irrelevant_lanes.h"

namespace lacuna {

enum class LazyMode : std::uint8_t {
  eager,             ///< the baseline: none of it is there
  eager_zero,        ///< zero caches are asked beside the load, which goes to memory all the same
  lazy,              ///< section 4.1: loads are held until their data are used
  lazy_zero,         ///< section 4.2: and not made at all when a zero cache knows the data to be zero
  lazy_zero_otimes,  ///< section 4.3: nor when an operand that is zero makes them irrelevant. The whole LazyGPU
};

constexpr bool has_zero_caches(LazyMode mode) { return mode != LazyMode::eager && mode != LazyMode::lazy; }
constexpr bool holds_loads(LazyMode mode) { return mode != LazyMode::eager && mode != LazyMode::eager_zero; }
constexpr bool has_otimes(LazyMode mode) { return mode == LazyMode::lazy_zero_otimes; }

/// Who keeps masks right.
enum class MaskWriters : std::uint8_t {
  all,     ///< whoever writes GPU memory; memory that nobody has written is known to be zero
  stores,  ///< stores of wavefronts alone: what others have written, or nobody, is not known and so is taken for non-zero
};

/// Ports of zero caches at a crossbar. At other networks they are at the node of the cache that they stand beside.
enum class ZeroPorts : std::uint8_t { own, shared };

/// Which held loads leave when an instruction finds a register busy.
enum class FirstUse : std::uint8_t {
  needed,  ///< those that the instruction needs: section 4.1
  all,     ///< those of its wavefront, but for what waits for a zero cache or is suspended
};

/// How often a held load occupies the compute unit's address unit.
enum class AddressUnit : std::uint8_t {
  once,   ///< when it is executed and held: section 4 and Fig. 5, the lazy unit is behind the load-store unit
  twice,  ///< when it is held, together with its zero reads, and again when its requests are sent
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
