// Reference results of sums of absolute differences ([GCN3], [Vega]: VOP3).
#include <algorithm>
#include <cstdlib>

#include "tests/isa/reference/reference.h"

namespace lacuna::isa::test {
namespace {

std::int64_t difference(std::uint64_t a, std::uint64_t b, unsigned shift, std::uint64_t mask) {
  return std::abs(static_cast<std::int64_t>(a >> shift & mask) - static_cast<std::int64_t>(b >> shift & mask));
}
/// Sum over four bytes; `masked`: bytes whose reference byte (in b) is zero do not count.
std::int64_t sad4(std::uint64_t a, std::uint64_t b, bool masked) {
  std::int64_t sum = 0;
  for (unsigned i = 0; i < 32; i += 8) {
    if (!masked || (b >> i & 0xff) != 0) sum += difference(a, b, i, 0xff);
  }
  return sum;
}
std::int64_t accumulator(std::uint64_t v) { return static_cast<std::int64_t>(u32(v)); }

/// Four sums in 16 bits, each starting one byte further along a.
Outcome quad(const Lane& l, const Context& x, bool masked) {
  std::uint64_t r = 0;
  for (unsigned i = 0; i < 4; ++i) {
    r |= saturated_u16(sad4(l.a >> (8 * i), l.b, masked) + u16(l.c >> (16 * i)), x.clamp) << (16 * i);
  }
  return {r};
}
Outcome mqsad_u32(const Lane& l, const Context& x) {
  std::uint64_t word[4];
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint64_t half = i < 2 ? l.c : l.c_high;
    word[i] = saturated_u32(sad4(l.a >> (8 * i), l.b, true) + accumulator(half >> (32 * (i & 1))), x.clamp);
  }
  return {word[0] | word[1] << 32, word[2] | word[3] << 32};
}

constexpr ReferenceEntry kEntries[] = {
    {"v_sad_u8",
     [](const Lane& l, const Context& x) -> Outcome {
       return {saturated_u32(sad4(l.a, l.b, false) + accumulator(l.c), x.clamp)};
     }},
    {"v_sad_hi_u8",
     [](const Lane& l, const Context& x) -> Outcome {
       return {saturated_u32((sad4(l.a, l.b, false) << 16) + accumulator(l.c), x.clamp)};
     }},
    {"v_sad_u16",
     [](const Lane& l, const Context& x) -> Outcome {
       return {saturated_u32(difference(l.a, l.b, 0, 0xffff) + difference(l.a, l.b, 16, 0xffff) + accumulator(l.c), x.clamp)};
     }},
    {"v_sad_u32",
     [](const Lane& l, const Context& x) -> Outcome {
       return {saturated_u32(difference(l.a, l.b, 0, 0xffffffff) + accumulator(l.c), x.clamp)};
     }},
    {"v_msad_u8",
     [](const Lane& l, const Context& x) -> Outcome {
       return {saturated_u32(sad4(l.a, l.b, true) + accumulator(l.c), x.clamp)};
     }},
    {"v_qsad_pk_u16_u8", [](const Lane& l, const Context& x) { return quad(l, x, false); }},
    {"v_mqsad_pk_u16_u8", [](const Lane& l, const Context& x) { return quad(l, x, true); }},
    {"v_mqsad_u32_u8", mqsad_u32},
};

}  // namespace

std::span<const ReferenceEntry> sad_references() { return kEntries; }

}  // namespace lacuna::isa::test
