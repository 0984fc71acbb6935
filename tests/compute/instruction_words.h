// Machine code shared by tests of the compute unit.
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna::test {

using Words = std::vector<std::uint32_t>;

inline constexpr std::uint32_t kEnd = 0xbf810000;         // s_endpgm
inline constexpr std::uint32_t kNop = 0xbf800000;         // s_nop 0
inline constexpr std::uint32_t kBarrier = 0xbf8a0000;     // s_barrier
inline constexpr std::uint32_t kWaitAll = 0xbf8c0070;     // s_waitcnt vmcnt(0) lgkmcnt(0)
inline constexpr std::uint32_t kMove = 0x7e0202f2;        // v_mov_b32 v1, 1.0
inline constexpr std::uint32_t kScalarMove = 0xbe800085;  // s_mov_b32 s0, 5

inline const Words kFlatLoad = {0xdc500000, 0x02000000};    // flat_load_dword v2, v[0:1]
inline const Words kFlatStore = {0xdc700000, 0x00000200};   // flat_store_dword v[0:1], v2
inline const Words kScalarLoad = {0xc0060100, 0x00000000};  // s_load_dwordx2 s[4:5], s[0:1], 0x0
inline const Words kLdsWrite = {0xd81a0000, 0x00000100};    // ds_write_b32 v0, v1
inline const Words kMultiply64 = {0xd2810002, 0x00020502};  // v_mul_f64 v[2:3], v[2:3], v[2:3]

}  // namespace lacuna::test
