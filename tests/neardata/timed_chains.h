// Kernels in which one core performs a chain of each pattern, for tests of a chain's latency on an idle machine.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/neardata/near_data_gpu.h"

namespace lacuna::test {

using Lines = std::vector<std::string>;

/// A pattern of Table 1 as instructions, and the properties on which its time depends.
struct Pattern {
  unsigned number;
  Lines lines;
  unsigned loads;
  unsigned operations;
  bool stores;
  bool compares;
};

inline const Lines kBoth{"LOAD v10, v[2:3]", "LOAD v11, v[4:5]", "s_waitcnt vmcnt(0)"};
inline const Lines kOne{"LOAD v10, v[2:3]", "s_waitcnt vmcnt(0)"};
inline Lines operator+(Lines a, const Lines& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// Addresses of the operands a, b and c in v[2:3], v[4:5] and v[6:7], from their bases in s[8:13] and the offset in v1.
inline const Lines kOperandAddresses{"ADD_u32 v2, s8, v1", "v_mov_b32 v3, s9",    "ADD_u32 v4, s10, v1",
                                     "v_mov_b32 v5, s11",  "ADD_u32 v6, s12, v1", "v_mov_b32 v7, s13"};
inline const std::string kStore = "STORE v[6:7], v12";

inline std::vector<Pattern> patterns() {
  return {
      {1, kBoth + Lines{"v_add_f32 v12, v10, v11", kStore}, 2, 1, true, false},
      // This kernel loads b first.
      {1, kBoth + Lines{"v_sub_f32 v12, v11, v10", kStore}, 2, 1, true, false},
      {2, kBoth + Lines{"v_mac_f32 v20, v10, v11"}, 2, 1, false, false},
      {3, kOne + Lines{"STORE v[6:7], v10"}, 1, 0, true, false},
      {4, kBoth + Lines{"v_add_f32 v12, v10, v11", "STORE v[4:5], v12"}, 2, 1, true, false},
      {5, kBoth + Lines{"v_cmp_lt_f32 vcc, v10, v11"}, 2, 1, false, true},
      {6, kOne + Lines{"v_cmp_eq_f32 vcc, 0, v10"}, 1, 1, false, true},
      {7, kOne + Lines{"v_mul_f32 v12, 2.0, v10", kStore}, 1, 1, true, false},
      {8, kBoth + Lines{"v_mul_f32 v12, 2.0, v11", "v_add_f32 v20, v10, v12"}, 2, 2, false, false},
      {9, kBoth + Lines{"v_mul_f32 v12, 2.0, v11", "v_add_f32 v12, v10, v12", kStore}, 2, 2, true, false},
      // Both operations in one instruction.
      {9, kBoth + Lines{"v_mad_f32 v12, v11, 2.0, v10", kStore}, 2, 2, true, false},
  };
}

/// Instructions that other cores execute while one core performs a chain.
enum class Meanwhile { nothing, vector_operations, lds_reads };

/// A kernel in which one core performs the pattern. Arguments: addresses of a, b and c, number of the core.
inline AssembledKernel kernel_of(const Pattern& pattern, std::uint64_t line, Meanwhile meanwhile = Meanwhile::nothing) {
  const bool busy = meanwhile != Meanwhile::nothing;
  Lines before = Lines{"s_load_dwordx8 s[8:15], s[0:1], 0x0", "v_lshlrev_b32 v1, 2, v0", "s_waitcnt lgkmcnt(0)"} +
                 kOperandAddresses + Lines{"v_mov_b32 v20, 0", "s_cmp_lg_u32 s2, s14", "s_cbranch_scc1 0"};
  const std::size_t branch = before.size() - 1;
  // The chain's instructions are in one line of the instruction cache, and the wavefront sleeps within that line until all
  // other wavefronts have ended.
  const std::uint64_t size = AssembledKernel(isa::Target::gfx803, before).address(before.size());
  before.insert(before.end(), (line - size % line) % line / 4, "s_nop 0");
  before.emplace_back("s_sleep 127");
  Lines after{"v_xor_b32 v20, v20, v20"};
  if (busy) {
    // Eight words in both cases.
    const Lines work =
        meanwhile == Meanwhile::lds_reads ? Lines(4, "ds_read_b32 v21, v22") : Lines(8, "v_mul_f32 v21, v20, v20");
    after = after + Lines{"s_endpgm", "v_mov_b32 v22, 0", "s_mov_b32 m0, -1", "s_movk_i32 s4, 2000"} + work +
            Lines{"s_sub_u32 s4, s4, 1", "s_cmp_lg_u32 s4, 0", "s_cbranch_scc1 65525"};
  }
  AssembledKernel kernel(isa::Target::gfx803, before + pattern.lines + after);
  // The branch goes to the end, or to the loop of a busy core.
  const std::uint64_t end = kernel.address(before.size() + pattern.lines.size() + (busy ? 2 : 1));
  EXPECT_LE(end - kernel.address(before.size() - 1), line);
  kernel.words()[(kernel.address(branch) - kEntry) / 4] |= static_cast<std::uint32_t>((end - kernel.address(branch) - 4) / 4);
  const FinalizedKernel finalized = kernel.finalize({.move = false});
  EXPECT_EQ(finalized.chains.size(), 1U);
  EXPECT_EQ(finalized.chains.at(0).pattern, pattern.number);
  EXPECT_EQ(finalized.chains.at(0).instructions.size(), pattern.lines.size());
  return kernel;
}

}  // namespace lacuna::test
