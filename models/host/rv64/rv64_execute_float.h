// Access to floating-point registers and rounding modes for handlers. Private to rv64_execute_float*.
#pragma once

#include <optional>

#include "models/host/rv64/rv64_context.h"

namespace lacuna::rv64 {

/// Value of f[index] in the format; a single that is not NaN-boxed reads as the canonical NaN (volume I, section 12.2).
template <FloatBits Bits>
inline Bits get_float(const ExecutionContext& c, unsigned index) {
  const std::uint64_t raw = c.registers.f[index];
  if constexpr (sizeof(Bits) == 8) {
    return raw;
  } else {
    return raw >> 32 == 0xffff'ffff ? static_cast<Bits>(raw) : kCanonicalNan<Bits>;
  }
}

template <FloatBits Bits>
inline void put_float(ExecutionContext& c, unsigned index, Bits value) {
  c.registers.f[index] = sizeof(Bits) == 8 ? std::uint64_t{value} : 0xffff'ffff'0000'0000 | value;
  c.csrs.mstatus |= mstatus::fs;
}

inline bool float_enabled(const ExecutionContext& c) { return (c.csrs.mstatus & mstatus::fs) != 0; }

/// Static or dynamic rounding mode; nullopt if frm has a reserved value. The decoder rejects reserved static modes.
inline std::optional<Rounding> rounding_of(const ExecutionContext& c, const Instruction* i) {
  constexpr unsigned kDynamic = 7;
  const std::uint64_t mode = i->rounding == kDynamic ? c.csrs.frm : i->rounding;
  if (mode > 4) return std::nullopt;
  return static_cast<Rounding>(mode);
}

/// Adds exceptions to fflags; mstatus.FS becomes dirty even if no register was written.
inline void raise_flags(ExecutionContext& c, std::uint64_t flags) {
  c.csrs.fflags |= flags;
  c.csrs.mstatus |= mstatus::fs;
}

}  // namespace lacuna::rv64
