// An instruction that no target has (docs/guide/extending.md): v_count_zero_bytes_u32 counts the bytes of a word that are zero.
#pragma once

#include <array>
#include <cstdint>

#include "models/isa/vector/valu_rows.h"

namespace lacuna::isa {

/// Opcode 0x60 of VOP1 is free on gfx803. The row also defines the VOP3, SDWA and DPP forms, and the timing, which is that
/// of a 32-bit multiplication.
inline constexpr std::array kCountZeroBytes{
    VectorRows<Format::vop1>::of<u32(b32)>(
        "v_count_zero_bytes_u32", gfx8_only(0x60),
        [](std::uint32_t a) {
          std::uint32_t zeros = 0;
          for (unsigned bit = 0; bit < 32; bit += 8) zeros += (a >> bit & 0xff) == 0 ? 1 : 0;
          return zeros;
        },
        kNoFlags, LatencyClass::valu_mul32),
};

}  // namespace lacuna::isa
