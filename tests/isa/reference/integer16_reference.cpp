// Reference results of 16-bit integer instructions ([GCN3], [Vega]: VOP2, VOP3).
#include <algorithm>

#include "tests/isa/reference/reference.h"

namespace lacuna::isa::test {
namespace {

std::int64_t u(std::uint64_t v) { return static_cast<std::int64_t>(u16(v)); }
std::int64_t s(std::uint64_t v) { return s16(v); }
std::uint64_t bits(std::int64_t v) { return u16(static_cast<std::uint64_t>(v)); }
std::int64_t median(std::int64_t a, std::int64_t b, std::int64_t c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

Outcome mad_u16(const Lane& l, const Context& x) { return {saturated_u16(u(l.a) * u(l.b) + u(l.c), x.clamp)}; }
Outcome mad_i16(const Lane& l, const Context& x) { return {saturated_i16(s(l.a) * s(l.b) + s(l.c), x.clamp)}; }

constexpr ReferenceEntry kEntries[] = {
    {"v_add_u16", [](const Lane& l, const Context& x) -> Outcome { return {saturated_u16(u(l.a) + u(l.b), x.clamp)}; }},
    {"v_sub_u16", [](const Lane& l, const Context& x) -> Outcome { return {saturated_u16(u(l.a) - u(l.b), x.clamp)}; }},
    {"v_subrev_u16", [](const Lane& l, const Context& x) -> Outcome { return {saturated_u16(u(l.b) - u(l.a), x.clamp)}; }},
    {"v_add_i16", [](const Lane& l, const Context& x) -> Outcome { return {saturated_i16(s(l.a) + s(l.b), x.clamp)}; }},
    {"v_sub_i16", [](const Lane& l, const Context& x) -> Outcome { return {saturated_i16(s(l.a) - s(l.b), x.clamp)}; }},
    {"v_mul_lo_u16", [](const Lane& l, const Context&) -> Outcome { return {bits(u(l.a) * u(l.b))}; }},
    {"v_lshlrev_b16", [](const Lane& l, const Context&) -> Outcome { return {bits(u(l.b) << (l.a & 15))}; }},
    {"v_lshrrev_b16", [](const Lane& l, const Context&) -> Outcome { return {bits(u(l.b) >> (l.a & 15))}; }},
    {"v_ashrrev_i16", [](const Lane& l, const Context&) -> Outcome { return {bits(s(l.b) >> (l.a & 15))}; }},
    {"v_max_u16", [](const Lane& l, const Context&) -> Outcome { return {bits(std::max(u(l.a), u(l.b)))}; }},
    {"v_max_i16", [](const Lane& l, const Context&) -> Outcome { return {bits(std::max(s(l.a), s(l.b)))}; }},
    {"v_min_u16", [](const Lane& l, const Context&) -> Outcome { return {bits(std::min(u(l.a), u(l.b)))}; }},
    {"v_min_i16", [](const Lane& l, const Context&) -> Outcome { return {bits(std::min(s(l.a), s(l.b)))}; }},
    {"v_min3_i16",
     [](const Lane& l, const Context&) -> Outcome {
       return {bits(std::min({s(l.a), s(l.b), s(l.c)}))};
     }},
    {"v_min3_u16",
     [](const Lane& l, const Context&) -> Outcome {
       return {bits(std::min({u(l.a), u(l.b), u(l.c)}))};
     }},
    {"v_max3_i16",
     [](const Lane& l, const Context&) -> Outcome {
       return {bits(std::max({s(l.a), s(l.b), s(l.c)}))};
     }},
    {"v_max3_u16",
     [](const Lane& l, const Context&) -> Outcome {
       return {bits(std::max({u(l.a), u(l.b), u(l.c)}))};
     }},
    {"v_med3_i16", [](const Lane& l, const Context&) -> Outcome { return {bits(median(s(l.a), s(l.b), s(l.c)))}; }},
    {"v_med3_u16", [](const Lane& l, const Context&) -> Outcome { return {bits(median(u(l.a), u(l.b), u(l.c)))}; }},
    {"v_mad_u16", mad_u16},
    {"v_mad_i16", mad_i16},
    {"v_mad_legacy_u16", mad_u16},
    {"v_mad_legacy_i16", mad_i16},
    {"v_mad_u32_u16",
     [](const Lane& l, const Context& x) -> Outcome {
       return {saturated_u32(u(l.a) * u(l.b) + std::int64_t{u32(l.c)}, x.clamp)};
     }},
    {"v_mad_i32_i16",
     [](const Lane& l, const Context& x) -> Outcome { return {saturated_i32(s(l.a) * s(l.b) + s32(l.c), x.clamp)}; }},
};

}  // namespace

std::span<const ReferenceEntry> integer16_references() { return kEntries; }

}  // namespace lacuna::isa::test
