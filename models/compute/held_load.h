#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include "models/isa/instruction.h"
#include "models/isa/memory_interface.h"
namespace lacuna {
enum class Refusal : std::uint8_t { form, upper_bits, partly_held, count };
inline constexpr std::size_t kRefusals = 3;
struct RefusalText { std::string_view name, meaning; };
constexpr std::array<RefusalText, kRefusals> kRefusalTexts{{{"form","a"},{"upper_bits","b"},{"partly_held","c"}}};
inline std::optional<Refusal> why_not_held(const isa::Instruction& i, const isa::MemoryAccess& a) {
  if (a.deferred || i.destinations == 0 || a.glc || a.slc || a.lds_lanes || i.mem.lds || i.dst[0].words > 4 || i.dst[0].words == 3 || (a.bytes_per_lane < 4) || i.mem.tfe) return Refusal::form;
  return {};
}
inline bool encode(const std::array<std::uint64_t, 64>& a, std::uint64_t lanes, unsigned bytes, std::array<std::uint32_t, 64>& words, std::uint64_t& upper) {
  bool first = true;
  for (unsigned l = 0; l < 64; ++l) if (lanes >> l & 1) { if (first) { upper = a[l] >> 29; first = false; } else if (upper != a[l] >> 29) return false; words[l] = static_cast<std::uint32_t>(a[l] & 0x1fffffff); }
  (void)bytes; return true;
}
inline void decode(const std::array<std::uint32_t, 64>& words, std::uint64_t upper, std::uint64_t lanes, std::array<std::uint64_t, 64>& a) {
  for (unsigned l = 0; l < 64; ++l) if (lanes >> l & 1) a[l] = upper << 29 | words[l];
}
}
