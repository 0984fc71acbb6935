// LazyGPU's columns in the records of kernels: causes of stalls, and counts. No SystemC.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/common/config/extension_texts.h"

namespace lacuna {

/// Stall causes of wavefronts that LazyGPU adds to StallCause.
enum class LazyCause : std::uint8_t { registers, zero_mask, count };
inline constexpr std::size_t kLazyCauses = static_cast<std::size_t>(LazyCause::count);
constexpr std::array<StallText, kLazyCauses> kLazyCauseTexts{{
    {"registers",
     "waits for registers whose load was held until its next instruction (lazy cores), less what other causes account for",
     "latency of loads that are issued when their data are needed",
     "more wavefronts for each SIMD; `lazy.mode = eager` if few loads are eliminated"},
    {"zero_mask", "waits for a zero cache to report whether the registers of its next instruction are zero", "zero caches",
     "`l1z.size`, `l2z.size`; `lazy.mode = lazy` if few data are zero"},
}};

/// Outcomes of the vector loads and stores of lazy cores and zero caches (models/lazy/lazy_unit.h), in transactions unless
/// kLazyCountTexts says otherwise.
enum class LazyCount : std::uint8_t {
  loads_held,
  loads_eager,
  issued,
  suspended_issued,
  zero_block,
  zero_part,
  otimes,
  dead,
  lanes_differ,
  lanes_changed,
  zero_sent,
  zero_reads,
  zero_writes,
  writes_eliminated,
  count
};
inline constexpr std::size_t kLazyCounts = static_cast<std::size_t>(LazyCount::count);
using LazyCounts = std::array<std::uint64_t, kLazyCounts>;
constexpr std::array<ExtensionCountText, kLazyCounts> kLazyCountTexts{{
    {"loads_held", "instructions", "loads that were held in their registers"},
    {"loads_eager", "instructions", "loads issued immediately, because their form or addresses do not fit into registers"},
    {"issued", "transactions", "sent for held loads when an instruction needed them"},
    {"suspended_issued", "transactions", "of these, had been suspended by an instruction whose other operand was zero"},
    {"zero_block", "transactions", "eliminated: all of their words are zero"},
    {"zero_part", "transactions", "eliminated: the words that the wavefront loads are zero, other words are not"},
    {"otimes", "transactions", "eliminated: their data would have been multiplied by zero, or ANDed with it, and nothing else"},
    {"dead", "transactions", "eliminated: their data were never used"},
    {"lanes_differ", "lanes", "whose result would differ without the eliminated operand, by NaN, infinity or the sign of zero"},
    {"lanes_changed", "lanes", "of held loads for which memory had changed when they were sent (`lazy.check`)"},
    {"zero_sent", "transactions", "of loads issued immediately whose data a zero cache supplied (`eager_zero`)"},
    {"zero_reads", "transactions", "read requests to the L1 zero cache"},
    {"zero_writes", "transactions", "of masks that stores and atomics wrote"},
    {"writes_eliminated", "transactions",
     "of stores that were not sent: all that they store is zero, which their masks record"},
}};

constexpr ExtensionTexts kLazyTexts{"lazy", kLazyCauseTexts, kLazyCountTexts};
/// Registers the texts at the first call. Returns their slots.
inline const ExtensionSlots& lazy_slots() {
  static const ExtensionSlots slots = register_extension(kLazyTexts);
  return slots;
}

}  // namespace lacuna
