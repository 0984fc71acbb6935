// A convolution whose workspace is in memory, and kernels that load all of its tiles.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "tests/duplo/duplo_gpu.h"

namespace lacuna::test {

using Lines = std::vector<std::string>;

/// 256 rows of 144 elements: 16 x 9 tiles.
inline LoweredConvolution convolution() {
  LoweredConvolution c;
  c.height = c.width = 16;
  c.channels = 16;
  c.filter_height = c.filter_width = 3;
  c.pad_top = c.pad_left = c.pad_bottom = c.pad_right = 1;
  c.pitch = c.columns();
  return c;
}

inline constexpr unsigned kTiles = 16 * 9;

/// Assembly lines that set s[8:9] to the address of the workspace, s[10:11] to that of the results, v1 to the lane, v2 to its
/// offset in a tile, and v6 and v7 to 0.
inline Lines begin_tiles(const LoweredConvolution& c, const TileForm& form = {}) {
  const unsigned bytes = form.columns * kElementBytes * form.rows / isa::kLanes;
  return {"s_load_dwordx4 s[8:11], s[0:1], 0x0",
          "v_and_b32 v1, 63, v0",
          "v_and_b32 v2, " + std::to_string(form.rows - 1) + ", v1",
          "v_mul_u32_u24 v2, " + std::to_string(c.pitch * kElementBytes) + ", v2",
          "v_lshrrev_b32 v3, " + std::to_string(std::countr_zero(form.rows)) + ", v1",
          "v_lshlrev_b32 v3, " + std::to_string(std::countr_zero(bytes)) + ", v3",
          "v_add_u32_e32 v2, v2, v3",
          "v_mov_b32 v6, 0",
          "v_mov_b32 v7, 0",
          "s_waitcnt lgkmcnt(0)"};
}

/// Each wavefront loads all tiles, `in_flight` of them at a time, into at most 24 registers, and folds them into two words per
/// lane. `between`: assembly lines after each batch. `unused`: the data of every third tile are unused, and only the first
/// register of every fifth tile is used. Kernel arguments: workspace, results.
inline AssembledKernel load_tiles(const LoweredConvolution& c, unsigned in_flight = 1, const Lines& between = {},
                                  bool unused = false, const TileForm& form = {}) {
  const unsigned pitch = c.pitch * kElementBytes;
  const unsigned words = form.columns * kElementBytes * form.rows / isa::kLanes / 4;
  Lines lines = begin_tiles(c, form);
  unsigned open = 0, folded = 0;
  const auto fold = [&] {
    lines.emplace_back("s_waitcnt vmcnt(0)");
    for (unsigned i = 0; i < open; ++i, ++folded) {
      if (unused && folded % 3 == 2) continue;
      for (unsigned half = 0; half < (unused && folded % 5 == 4 ? 1U : words); ++half) {
        const std::string sum = "v" + std::to_string(6 + half % 2);
        lines.push_back("v_mul_lo_u32 " + sum + ", 17, " + sum);
        lines.push_back("v_add_u32_e32 " + sum + ", " + sum + ", v" + std::to_string(8 + words * i + half));
      }
    }
    open = 0;
    lines.insert(lines.end(), between.begin(), between.end());
  };
  for (unsigned row = 0; row < c.rows(); row += form.rows) {
    for (unsigned column = 0; column < c.columns(); column += form.columns) {
      const std::string offset = std::to_string(row * pitch + column * kElementBytes);
      const std::string pair = "v[" + std::to_string(8 + words * open) + ':' + std::to_string(7 + words * (open + 1)) + ']';
      for (const std::string& line :
           {"s_add_u32 s12, s8, " + offset, std::string("s_addc_u32 s13, s9, 0"), std::string("v_mov_b32 v5, s13"),
            std::string("v_add_co_u32_e32 v4, vcc, s12, v2"), std::string("v_addc_co_u32_e32 v5, vcc, 0, v5, vcc"),
            "global_load_dwordx" + std::to_string(words) + ' ' + pair + ", v[4:5], off"})
        lines.push_back(line);
      if (++open == in_flight) fold();
    }
  }
  if (open > 0) fold();
  for (const char* const line : {"s_lshl_b32 s2, s2, 11", "v_lshlrev_b32 v1, 3, v0", "v_add_u32_e32 v1, s2, v1",
                                 "v_mov_b32 v5, s11", "v_add_co_u32_e32 v4, vcc, s10, v1",
                                 "v_addc_co_u32_e32 v5, vcc, 0, v5, vcc", "global_store_dwordx2 v[4:5], v[6:7], off"})
    lines.emplace_back(line);
  return {isa::Target::gfx90a, lines};
}

/// A kernel of one lane that performs `each` `times` times. Kernel argument: the address of a word, in s[8:9] and v[4:5].
/// Buffer descriptor s[12:15] begins there. v1 and s4 are 1.
inline AssembledKernel repeated(const Lines& each, unsigned times) {
  Lines lines{"s_load_dwordx2 s[8:9], s[0:1], 0x0",
              "s_mov_b64 exec, 1",
              "v_mov_b32 v1, 1",
              "s_mov_b32 s4, 1",
              "s_mov_b32 s14, -1",
              "s_mov_b32 s15, 0x27000",
              "s_waitcnt lgkmcnt(0)",
              "v_mov_b32 v4, s8",
              "v_mov_b32 v5, s9",
              "s_mov_b32 s12, s8",
              "s_and_b32 s13, s9, 0xffff"};
  for (unsigned i = 0; i < times; ++i) {
    lines.insert(lines.end(), each.begin(), each.end());
    lines.emplace_back("s_waitcnt vmcnt(0) lgkmcnt(0)");
  }
  return {isa::Target::gfx90a, lines};
}

/// Each wavefront loads the first tile of the workspace `times` times, one load after the other. Kernel arguments: workspace,
/// results.
inline AssembledKernel reload_tile(const LoweredConvolution& c, unsigned times) {
  Lines lines = begin_tiles(c);
  for (unsigned i = 0; i < times; ++i) {
    for (const char* const line : {"global_load_dwordx2 v[8:9], v2, s[8:9]", "s_waitcnt vmcnt(0)", "v_add_u32_e32 v6, v6, v8"})
      lines.emplace_back(line);
  }
  return {isa::Target::gfx90a, lines};
}

/// `described`: the convolution in the parameter block; `c`: the convolution whose workspace the kernel loads.
inline Outcome run(TestGpu& gpu, const LoweredConvolution& c, const AssembledKernel& kernel, unsigned workgroups, unsigned size,
                   const LoweredConvolution& described) {
  return run_with_block(gpu, c, kernel, workgroups, size, block_of(described, kBase + kWorkspace));
}

inline Outcome run(TestGpu& gpu, const LoweredConvolution& c, const AssembledKernel& kernel, unsigned workgroups,
                   unsigned size) {
  return run(gpu, c, kernel, workgroups, size, c);
}

/// Runs the kernel at the same time as `beside`.
inline Outcome run_beside(TestGpu& gpu, const LoweredConvolution& c, const AssembledKernel& kernel, unsigned workgroups,
                          unsigned size, const KernelBeside& beside) {
  return run_with_block(gpu, c, kernel, workgroups, size, block_of(c, kBase + kWorkspace), 0, &beside);
}

/// Resets the device while the kernel runs. Returns whether any loads had hit on loads in flight before the reset.
inline bool interrupt_by_reset(TestGpu& gpu, const LoweredConvolution& c, const AssembledKernel& kernel, unsigned nanoseconds) {
  gpu.start();
  check_registers(gpu);
  lower(gpu, c);
  load_symbols(gpu, "k", block_of(c, kBase + kWorkspace));
  const std::uint64_t before = sum(gpu, DuploCount::hits_in_flight);
  gpu.dispatch(kernel, {kBase + kWorkspace, kBase + kResults}, 12, 256);
  wait_for(Tick{nanoseconds * 1000});
  EXPECT_FALSE(gpu.done());
  const bool with_hits = sum(gpu, DuploCount::hits_in_flight) > before;
  gpu.reset();
  expect_nothing_left(gpu);
  return with_hits;
}

/// Runs more kernels than there are convolution numbers; one workgroup of each kernel faults, or executes s_trap, while its
/// registers are shared. Then runs load_tiles(c, 12) with 12 workgroups of 256 work-items and expects the results `fresh`.
inline void expect_aborts_leave_nothing(TestGpu& gpu, const LoweredConvolution& c, const std::vector<std::uint32_t>& fresh) {
  const AssembledKernel faults = load_tiles(c, 12,
                                            {"s_cmp_eq_u32 s2, 5", "s_cselect_b32 s14, 0, s8", "s_cselect_b32 s15, 0, s9",
                                             "v_mov_b32 v4, s14", "v_mov_b32 v5, s15", "global_load_dword v1, v[4:5], off"});
  const AssembledKernel traps = load_tiles(c, 12, {"s_cmp_eq_u32 s2, 5", "s_cbranch_scc0 1", "s_trap 2"});
  gpu.start();
  lower(gpu, c);
  for (unsigned i = 0; i < 6; ++i) {
    gpu.reuse_code();
    load_symbols(gpu, "k", block_of(c, kBase + kWorkspace));
    const std::uint64_t before = sum(gpu, DuploCount::hits_in_flight), shared = sum(gpu, DuploCount::hits_simd);
    gpu.dispatch(i % 2 == 0 ? faults : traps, {kBase + kWorkspace, kBase + kResults}, 12, 256);
    wait_for(Tick{200'000'000});
    EXPECT_FALSE(gpu.done());
    EXPECT_GT(sum(gpu, DuploCount::hits_in_flight), before);
    EXPECT_GT(sum(gpu, DuploCount::hits_simd), shared);
    gpu.destroy_queue();
    expect_nothing_left(gpu);
    gpu.create_queue();
  }
  gpu.reuse_code();
  load_symbols(gpu, "k", block_of(c, kBase + kWorkspace));
  const std::uint64_t before = sum(gpu, DuploCount::look_ups);
  gpu.run(load_tiles(c, 12), {kBase + kWorkspace, kBase + kResults}, 12, 256);
  EXPECT_GT(sum(gpu, DuploCount::look_ups), before);
  EXPECT_TRUE(gpu.memory(kResults, 0x800 * 12) == fresh);
  expect_nothing_left(gpu);
}

/// Interrupts kernels by resets at the given times (all but one of which must find hits on loads in flight) and by aborts, and
/// expects the device to behave like a new one afterwards.
inline void expect_interruptions_leave_nothing(TestGpu& gpu, const LoweredConvolution& c,
                                               const std::vector<unsigned>& nanoseconds) {
  SCOPED_TRACE(gpu.name());
  const AssembledKernel kernel = load_tiles(c, 12);
  const Outcome fresh = run(gpu, c, kernel, 12, 256);
  std::size_t with_hits = 0;
  for (const unsigned at : nanoseconds) {
    SCOPED_TRACE(at);
    with_hits += interrupt_by_reset(gpu, c, kernel, at) ? 1 : 0;
    const Outcome again = run(gpu, c, kernel, 12, 256);
    EXPECT_EQ(again.record.cycles, fresh.record.cycles);
    EXPECT_EQ(again.counts, fresh.counts);
    EXPECT_TRUE(again.results == fresh.results);
  }
  EXPECT_GE(with_hits + 1, nanoseconds.size());
  expect_aborts_leave_nothing(gpu, c, fresh.results);
}

}  // namespace lacuna::test
