// Tests devices with Duplo and a workspace whose slabs are in LDS (implicit lowering): LDS reads of tiles are looked up while
// M0 names a slab, hits are correct and take no cycles of the LDS, and everything else is as without Duplo.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "models/common/config/guest_mistake.h"
#include "models/duplo/duplo.h"
#include "tests/duplo/duplo_gpu.h"

namespace lacuna::test {
namespace {

using Lines = std::vector<std::string>;

/// 256 rows of 192 elements: 4 x 3 slabs of 64 rows, with 4 x 4 tiles each.
LoweredConvolution lds_convolution() {
  LoweredConvolution c;
  c.height = c.width = 16;
  c.channels = 16;
  c.filter_height = 4;
  c.filter_width = 3;
  c.pad_top = 2;
  c.pad_left = c.pad_bottom = c.pad_right = 1;
  c.pitch = c.columns();
  return c;
}
constexpr unsigned kLdsTiles = 16 * 12;
constexpr unsigned kSlabRows = 64;
constexpr unsigned kBuffers = 2;
constexpr unsigned kLdsBase = 512;  ///< offset of the first buffer

/// Parameters of a kernel that reads slabs.
struct Reads {
  unsigned in_flight = 1;  ///< number of reads before their data are used: at most 8, or 4 if `bytes` is 16
  unsigned bytes = 8;      ///< bytes per lane
  bool names_slabs = true;
  bool pairs = false;         ///< ds_read2_b64 of two tiles
  unsigned repeats = 1;       ///< times that each tile is read
  unsigned row_stride = 144;  ///< bytes from one row to the next
  Lines at_end = {};          ///< executed before the results are stored, while the last slab is in LDS
};

unsigned buffer_stride(const Reads& reads) { return kSlabRows * reads.row_stride; }
unsigned lds_bytes(const Reads& reads) { return kLdsBase + kBuffers * buffer_stride(reads); }

DuploBlock lds_block(const LoweredConvolution& c, const Reads& reads) {
  DuploBlock block = block_of(c, 0);
  const auto put = [&](std::size_t at, std::uint16_t value) { std::memcpy(&block.at(at), &value, sizeof value); };
  put(0, kLdsBase / 8);
  put(2, static_cast<std::uint16_t>(reads.row_stride / 8));
  put(4, static_cast<std::uint16_t>(buffer_stride(reads) / 8));
  block[6] = kSlabRows;
  block[7] = kBuffers;
  block[28] = 1;
  return block;
}

std::string number(std::uint64_t value) { return std::to_string(value); }
std::string registers(unsigned first, unsigned count) { return "v[" + number(first) + ':' + number(first + count - 1) + ']'; }

/// Assembly lines that copy the slab at index s16 into the buffer at s17: each wavefront copies all of it.
Lines bring_slab() {
  Lines lines{"s_lshl_b32 s18, s16, 1",
              "s_add_u32 s12, s8, s18",
              "s_addc_u32 s13, s9, 0",
              "v_mov_b32 v9, s13",
              "v_mov_b32 v8, s12",
              "v_add_co_u32_e32 v8, vcc, v8, v2",
              "v_addc_co_u32_e32 v9, vcc, 0, v9, vcc",
              "v_add_u32_e32 v10, s17, v3"};
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned i = 0; i < 4; ++i)
      lines.push_back("global_load_dwordx4 " + registers(16 + 4 * i, 4) + ", v[8:9], off offset:" + number(64 * half + 16 * i));
    lines.emplace_back("s_waitcnt vmcnt(0)");
    for (unsigned i = 0; i < 8; ++i)
      lines.push_back("ds_write_b64 v10, " + registers(16 + 2 * i, 2) + " offset:" + number(64 * half + 8 * i));
    lines.emplace_back("s_waitcnt lgkmcnt(0)");
  }
  lines.emplace_back("s_barrier");
  return lines;
}

/// Assembly lines that read the tiles of the buffer, from the lane's LDS address v11 on, and fold them into v6 and v7.
Lines read_slab(const Reads& reads) {
  Lines lines;
  const unsigned words = reads.bytes / 4 * (reads.pairs ? 2 : 1);
  unsigned open = 0;
  const auto fold = [&] {
    lines.emplace_back("s_waitcnt lgkmcnt(0)");
    for (unsigned word = 0; word < open * words; ++word) {
      const std::string sum = "v" + number(6 + word % 2);
      lines.push_back("v_mul_lo_u32 " + sum + ", 17, " + sum);
      lines.push_back("v_add_u32_e32 " + sum + ", " + sum + ", v" + number(16 + word));
    }
    open = 0;
  };
  const unsigned tile_bytes = reads.bytes * 4;  // bytes of a row of a tile
  for (unsigned repeat = 0; repeat < reads.repeats; ++repeat) {
    for (unsigned row = 0; row < kSlabRows; row += 16) {
      for (unsigned byte = 0; byte < 128; byte += tile_bytes * (reads.pairs ? 2 : 1)) {
        const unsigned at = row * reads.row_stride + byte;
        const std::string to = registers(16 + words * open, words);
        if (reads.pairs) {
          lines.push_back("v_add_u32_e32 v12, " + number(at) + ", v11");
          lines.push_back("ds_read2_b64 " + to + ", v12 offset0:0 offset1:" + number(tile_bytes / 8));
        } else {
          lines.push_back("ds_read_b" + number(8 * reads.bytes) + ' ' + to + ", v11 offset:" + number(at));
        }
        if (++open == reads.in_flight) fold();
      }
    }
  }
  if (open > 0) fold();
  return lines;
}

/// Appends a branch to line `to` of `lines`, taken while SCC is set.
void loop_back(Lines& lines, std::size_t to) {
  lines.emplace_back("s_nop 0");
  const AssembledKernel so_far(isa::Target::gfx90a, lines);
  const auto words = static_cast<std::int64_t>((so_far.address(lines.size() - 1) - so_far.address(to)) / 4);
  lines.back() = "s_cbranch_scc1 " + number(static_cast<std::uint16_t>(-words - 1));
}

/// Each wavefront copies all slabs into LDS, one after the other, reads their tiles of 16 rows, and folds the tiles into two
/// words per lane. Arguments: workspace, results.
AssembledKernel read_tiles(const LoweredConvolution& c, const Reads& reads) {
  const unsigned pitch = c.pitch * kElementBytes;
  Lines lines{"s_load_dwordx4 s[8:11], s[0:1], 0x0",
              "v_and_b32 v1, 63, v0",
              "v_mul_u32_u24 v2, " + number(pitch) + ", v1",
              "v_mul_u32_u24 v3, " + number(reads.row_stride) + ", v1",
              "v_and_b32 v4, 15, v1",
              "v_mul_u32_u24 v4, " + number(reads.row_stride) + ", v4",
              "v_lshrrev_b32 v5, 4, v1",
              "v_mul_u32_u24 v5, " + number(reads.bytes) + ", v5",
              "v_add_u32_e32 v4, v4, v5",
              "v_mov_b32 v6, 0",
              "v_mov_b32 v7, 0",
              "s_mov_b32 s16, 0",
              "s_mov_b32 s17, " + number(kLdsBase),
              "s_mov_b32 s14, " + number(c.rows() / kSlabRows),
              "s_waitcnt lgkmcnt(0)"};
  const auto add = [&](const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); };
  const std::size_t rows = lines.size();
  lines.push_back("s_mov_b32 s15, " + number(c.columns() / 64));
  const std::size_t columns = lines.size();
  add(bring_slab());
  lines.emplace_back("v_add_u32_e32 v11, s17, v4");
  if (reads.names_slabs) lines.emplace_back("s_mov_b32 m0, s16");
  add(read_slab(reads));
  add({"s_sub_u32 s17, " + number(2 * kLdsBase + buffer_stride(reads)) + ", s17", "s_add_u32 s16, s16, 64",
       "s_sub_u32 s15, s15, 1", "s_cmp_lg_u32 s15, 0"});
  loop_back(lines, columns);
  add({"s_add_u32 s16, s16, " + number((kSlabRows - 1) * c.pitch), "s_sub_u32 s14, s14, 1", "s_cmp_lg_u32 s14, 0"});
  loop_back(lines, rows);
  add(reads.at_end);
  add({"s_lshl_b32 s2, s2, 11", "v_lshlrev_b32 v1, 3, v0", "v_add_u32_e32 v1, s2, v1", "v_mov_b32 v5, s11",
       "v_add_co_u32_e32 v4, vcc, s10, v1", "v_addc_co_u32_e32 v5, vcc, 0, v5, vcc",
       "global_store_dwordx2 v[4:5], v[6:7], off"});
  return {isa::Target::gfx90a, lines};
}

LACUNA_TEST_BENCH(RuleBench)

class DuploLds : public testing::Test {
 protected:
  RuleBench& b_ = bench<RuleBench>();
};

Outcome run_reads(TestGpu& gpu, const LoweredConvolution& c, const Reads& reads, unsigned workgroups = 1, unsigned size = 64) {
  return run_with_block(gpu, c, read_tiles(c, reads), workgroups, size, lds_block(c, reads), lds_bytes(reads));
}

// With unlimited entries that are never released, every read hits except the first read of each tile.
TEST_F(DuploLds, HitsAreLookUpsLessDifferentTiles) {
  const LoweredConvolution c = lds_convolution();
  for (const Reads& reads : {Reads{.in_flight = 1}, Reads{.in_flight = 8}, Reads{.in_flight = 4, .bytes = 16}}) {
    const Outcome off = run_reads(b_.off, c, reads);
    const std::uint64_t unread = sum(b_.bound, &DuploStatistics::unread);
    const Outcome on = run_reads(b_.bound, c, reads);
    EXPECT_EQ(sum(b_.bound, &DuploStatistics::unread) - unread, on[DuploCount::hits] * reads.bytes / 4 * isa::kLanes);
    EXPECT_TRUE(on.results == off.results);
    const unsigned tiles = kLdsTiles * 8 / reads.bytes;
    EXPECT_EQ(on[DuploCount::look_ups], tiles);
    EXPECT_EQ(on[DuploCount::compulsory], different_tiles(c, 2 * reads.bytes));
    EXPECT_EQ(on[DuploCount::hits], tiles - different_tiles(c, 2 * reads.bytes));
    EXPECT_GT(on[DuploCount::hits], 0U);
    EXPECT_EQ(on[DuploCount::hits_address], 0U);
    EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
    EXPECT_GE(on[DuploCount::lds_cycles], on[DuploCount::hits] * reads.bytes * isa::kLanes / 4 / kLdsBanks);
    EXPECT_EQ(on[DuploCount::lines], 0U);
    EXPECT_EQ(on[DuploCount::form] + on[DuploCount::exec] + on[DuploCount::registers] + on[DuploCount::no_slab], 0U);
    EXPECT_LT(on.record.cycles, off.record.cycles);
    EXPECT_EQ(on.record.wavefront_instructions, off.record.wavefront_instructions);
  }
}

TEST_F(DuploLds, ResultsAreTheSameInAllConfigurations) {
  for (const LoweredConvolution& c : with_both_orders(lds_convolution())) {
    for (const unsigned size : {64U, 256U}) {
      for (const Reads& reads : {Reads{.in_flight = 2}, Reads{.in_flight = 4, .bytes = 16}}) {
        // The kernel is assembled once, because assembling takes longer than a run.
        const AssembledKernel kernel = read_tiles(c, reads);
        const auto run_on = [&](TestGpu& gpu) {
          return run_with_block(gpu, c, kernel, 8, size, lds_block(c, reads), lds_bytes(reads));
        };
        expect_results_with_all_rules(b_, run_on(b_.off), std::uint64_t{kLdsTiles} * 8 / reads.bytes * 8 * (size / 64), run_on);
      }
    }
  }
}

TEST_F(DuploLds, OnlyNamedSlabsAreLookedUp) {
  const LoweredConvolution c = lds_convolution();
  const Reads reads{.in_flight = 4, .names_slabs = false};
  const Outcome off = run_reads(b_.off, c, reads, 6, 256);
  const Outcome on = run_reads(b_.retire, c, reads, 6, 256);
  EXPECT_EQ(on[DuploCount::look_ups], 0U);
  EXPECT_EQ(on[DuploCount::no_slab], std::uint64_t{kLdsTiles} * 6 * 4);
  EXPECT_TRUE(on.results == off.results);
  EXPECT_EQ(on.record.cycles, off.record.cycles);
}

TEST_F(DuploLds, PairedReadsAreNotLookedUp) {
  const LoweredConvolution c = lds_convolution();
  const Reads reads{.in_flight = 2, .pairs = true};
  const Outcome off = run_reads(b_.off, c, reads, 6, 256);
  const Outcome on = run_reads(b_.retire, c, reads, 6, 256);
  EXPECT_EQ(on[DuploCount::look_ups], 0U);
  EXPECT_EQ(on[DuploCount::dual], std::uint64_t{kLdsTiles} / 2 * 6 * 4);
  EXPECT_TRUE(on.results == off.results);
  EXPECT_EQ(on.record.cycles, off.record.cycles);
}

TEST_F(DuploLds, KernelsWithoutABlockTakeTheSameCycles) {
  const LoweredConvolution c = lds_convolution();
  const Reads reads{.in_flight = 4};
  std::vector<std::uint64_t> cycles;
  for (TestGpu* const gpu : {&b_.off, &b_.retire}) {
    gpu->start();
    lower(*gpu, c);
    gpu->mark();
    cycles.push_back(gpu->run(read_tiles(c, reads), {kBase + kWorkspace, kBase + kResults}, 6, 256, lds_bytes(reads)).cycles);
  }
  EXPECT_EQ(cycles[0], cycles[1]);
}

// A read retires when it completes: a read finds no entry if no other read is in flight, and reads in flight serve other
// wavefronts.
TEST_F(DuploLds, EntriesGoWhenReadsRetire) {
  const LoweredConvolution c = lds_convolution();
  const Outcome alone = run_reads(b_.retire, c, {.in_flight = 1});
  EXPECT_EQ(alone[DuploCount::hits], 0U);
  EXPECT_EQ(alone[DuploCount::released], kLdsTiles - different_tiles(c));
  const Outcome together = run_reads(b_.retire, c, {.in_flight = 8}, 1, 256);
  EXPECT_GT(together[DuploCount::hits_in_flight], 0U);
  EXPECT_GT(together[DuploCount::hits_address], 0U);
  EXPECT_LT(together[DuploCount::hits_simd], together[DuploCount::hits]);
  EXPECT_EQ(together[DuploCount::hits], together[DuploCount::hits_in_flight]) << "entries of retired reads";
  EXPECT_EQ(run_reads(b_.threads, c, {.in_flight = 8}, 12, 256).record.cycles,
            run_reads(b_.retire, c, {.in_flight = 8}, 12, 256).record.cycles);
}

// Rows of 128 bytes all begin in the same bank, so the LDS is the bottleneck unless hits make reads unnecessary.
TEST_F(DuploLds, HitsShortenKernelsThatTheLdsBounds) {
  const LoweredConvolution c = lds_convolution();
  const Reads reads{.in_flight = 8, .repeats = 4, .row_stride = 128};
  const Outcome off = run_reads(b_.off, c, reads, 6, 256);
  const Outcome on = run_reads(b_.overwrite, c, reads, 6, 256);
  EXPECT_TRUE(on.results == off.results);
  EXPECT_GT(on[DuploCount::lds_cycles], off.record.cycles / 4);
  EXPECT_LT(on.record.cycles, off.record.cycles * 9 / 10);
}

// A wavefront that has waited for all but the last of its reads has the data of all earlier reads, even if the last read was a
// hit.
TEST_F(DuploLds, ReadsOfAWavefrontCompleteInOrder) {
  const LoweredConvolution c = lds_convolution();
  const std::string other = number(16 * 144);
  // Reads a tile whose register keeps its entry, then another tile, then the first tile again.
  const Reads reads{
      .in_flight = 4,
      .at_end = {"ds_read_b64 v[16:17], v11", "s_waitcnt lgkmcnt(0)", "s_memtime s[20:21]", "s_waitcnt lgkmcnt(0)",
                 "ds_read_b64 v[18:19], v11 offset:" + other, "ds_read_b64 v[22:23], v11", "s_waitcnt lgkmcnt(1)",
                 "s_memtime s[24:25]", "s_waitcnt lgkmcnt(0)", "s_sub_u32 s20, s24, s20", "v_mov_b32 v6, s20"}};
  const Outcome without = run_reads(b_.overwrite, c, {.in_flight = 4});
  const Outcome with = run_reads(b_.overwrite, c, reads);
  EXPECT_EQ(with[DuploCount::look_ups], without[DuploCount::look_ups] + 3);
  EXPECT_EQ(with[DuploCount::hits], without[DuploCount::hits] + 1);
  EXPECT_GE(with.results[0], ComputeUnitParameters{}.lds_latency.n);
}

TEST_F(DuploLds, BlocksOfOtherConvolutionsFailTheCheck) {
  const LoweredConvolution c = lds_convolution();
  LoweredConvolution other = c;
  other.filter_height = 12;
  other.filter_width = 1;
  other.pad_top = 6;
  other.pad_bottom = 5;
  other.pad_left = other.pad_right = 0;
  ASSERT_EQ(other.columns(), c.columns());
  ASSERT_EQ(other.rows(), c.rows());
  const Reads reads{.in_flight = 4};
  const AssembledKernel kernel = read_tiles(c, reads);
  const Outcome off = run_reads(b_.off, c, reads);
  clear_guest_mistakes();
  const Outcome wrong = run_with_block(b_.bound, c, kernel, 1, 64, lds_block(other, reads), lds_bytes(reads));
  EXPECT_EQ(wrong.results, off.results);
  EXPECT_GT(wrong[DuploCount::hits_wrong], 0U);
  EXPECT_TRUE(any_failed_check());
  clear_guest_mistakes();
}

// Resets the device at several times during a kernel. A later kernel takes the same cycles, with the same counts, as before
// the resets.
TEST_F(DuploLds, ResetsDropReadsInFlight) {
  const LoweredConvolution c = lds_convolution();
  const Reads reads{.in_flight = 8};
  const AssembledKernel kernel = read_tiles(c, reads);
  TestGpu& gpu = b_.overwrite;
  const Outcome before = run_reads(gpu, c, reads, 6, 256);
  unsigned with_entries = 0;
  for (unsigned i = 1; i < 12; ++i) {
    gpu.start();
    lower(gpu, c);
    load_symbols(gpu, "k", lds_block(c, reads));
    const std::uint64_t hits = sum(gpu, DuploCount::hits);
    gpu.dispatch(kernel, {kBase + kWorkspace, kBase + kResults}, 6, 256, lds_bytes(reads));
    const Tick time = before.record.end - before.record.start;
    wait_for(Tick{3'000'000 + time.ps * i / 12});
    for (const DetectionUnit* const unit : gpu.device.extension<Duplo>()->detection_units())
      with_entries += unit->entries(now()) != 0 && sum(gpu, DuploCount::hits) > hits ? 1 : 0;
    gpu.reset();
    for (const DetectionUnit* const unit : gpu.device.extension<Duplo>()->detection_units()) {
      EXPECT_TRUE(unit->consistent());
      EXPECT_EQ(unit->entries(now()), 0U);
    }
  }
  EXPECT_GT(with_entries, 0U);
  const Outcome after = run_reads(gpu, c, reads, 6, 256);
  EXPECT_EQ(after.record.cycles, before.record.cycles);
  EXPECT_EQ(after.counts, before.counts);
}

// A wavefront faults while other wavefronts have hits in flight.
TEST_F(DuploLds, AbortedKernelsLeaveNothing) {
  const LoweredConvolution c = lds_convolution();
  const Reads good{.in_flight = 8};
  // After their last slab, wavefronts read unmapped memory: s2 is the workgroup's number, not part of an address.
  const Reads bad{.in_flight = 8, .at_end = {"s_load_dword s20, s[2:3], 0x0"}};
  TestGpu& gpu = b_.overwrite;
  const Outcome before = run_reads(gpu, c, good, 6, 256);
  gpu.start();
  lower(gpu, c);
  load_symbols(gpu, "k", lds_block(c, bad));
  gpu.mark();
  gpu.dispatch(read_tiles(c, bad), {kBase + kWorkspace, kBase + kResults}, 6, 256, lds_bytes(bad));
  wait_for(Tick{400'000'000});
  ASSERT_FALSE(gpu.records.empty());
  EXPECT_TRUE(gpu.records.back().failed);
  for (const DetectionUnit* const unit : gpu.device.extension<Duplo>()->detection_units()) {
    EXPECT_TRUE(unit->consistent());
    EXPECT_EQ(unit->entries(now()), 0U);
  }
  const Outcome after = run_reads(gpu, c, good, 6, 256);
  EXPECT_EQ(after.record.cycles, before.record.cycles);
  EXPECT_EQ(after.counts, before.counts);
}

// -- blocks

TEST(LdsParameterBlock, ReadsWhatProgramsWrite) {
  const LoweredConvolution c = lds_convolution();
  const DuploBlock bytes = lds_block(c, {});
  const auto read = ParameterBlock::read(reinterpret_cast<const std::byte*>(bytes.data()));
  const auto* const block = std::get_if<ParameterBlock>(&read);
  ASSERT_NE(block, nullptr);
  ASSERT_TRUE(block->lds);
  EXPECT_EQ(block->lds->base, 512U);
  EXPECT_EQ(block->lds->row_stride, 144U);
  EXPECT_EQ(block->lds->buffer_stride, 64U * 144);
  EXPECT_EQ(block->lds->rows, 64U);
  EXPECT_EQ(block->lds->buffers, 2U);
  EXPECT_EQ(block->lds->end(), 512U + 64 * 144 + 63 * 144 + 128);
  EXPECT_EQ(block->convolution.filter_height, 4U);
}

TEST(LdsParameterBlock, ProblemsNameFieldValueAndLegalValues) {
  const auto problem = [](std::size_t at, std::uint16_t value) {
    DuploBlock bytes = lds_block(lds_convolution(), {});
    std::memcpy(&bytes.at(at), &value, at < 6 || at == 8 || at == 10 ? 2 : 1);
    const auto read = ParameterBlock::read(reinterpret_cast<const std::byte*>(bytes.data()));
    const auto* const text = std::get_if<std::string>(&read);
    return text == nullptr ? std::string() : *text;
  };
  EXPECT_EQ(problem(2, 15), "row stride is 15; a row of 64 columns has 16 units of 8 bytes");
  EXPECT_EQ(problem(4, 1000), "buffer stride is 1000; 64 rows have 1150 units of 8 bytes");
  EXPECT_EQ(problem(6, 15), "rows of a buffer are 15; a tile has 16 at least");
  EXPECT_EQ(problem(7, 0), "buffers are 0; it is at least 1");
  EXPECT_EQ(problem(10, 300), "pitch is 19660992; with 256 rows M0 would need more than 32 bits for the index of an element");
  EXPECT_EQ(problem(20, 30), "filter height is 30; the padded input has 19 rows");
}

TEST_F(DuploLds, WrongKernelsRefuseTheDispatch) {
  const LoweredConvolution c = lds_convolution();
  const Reads reads{.in_flight = 4};
  TestGpu& gpu = b_.retire;
  struct Case {
    const char* line;
    unsigned missing;  ///< number of bytes by which the kernel's LDS is too small
    const char* says;
  };
  for (const Case& one : {Case{"s_nop 0", 512, "the last buffer ends at byte 18928 of a workgroup's LDS, which has 18432"},
                          Case{"s_set_gpr_idx_on s14, gpr_idx(SRC0)", 0, "s_set_gpr_idx_on"},
                          Case{"s_movrels_b32 s20, s8", 0, "M0 selects the register that it moves"},
                          Case{"buffer_load_dword v2, s[8:11], 0 offen lds", 0, "M0 selects where in LDS its data go"},
                          Case{"ds_append v13", 0, "M0 selects where in LDS its data are"},
                          Case{"ds_consume v13", 0, "M0 selects where in LDS its data are"},
                          Case{"ds_gws_sema_v gds", 0, "M0 selects its resource"},
                          Case{"ds_read_addtid_b32 v13", 0, "M0 selects where in LDS its data are"}}) {
    SCOPED_TRACE(one.line);
    gpu.start();
    load_symbols(gpu, "k", lds_block(c, reads));
    Reads with = reads;
    with.at_end = {one.line};
    const std::uint64_t object = kBase + gpu.next_descriptor();
    gpu.dispatch(read_tiles(c, with), {kBase + kWorkspace, kBase + kResults}, 1, 64, lds_bytes(reads) - one.missing);
    wait_for(Tick{100'000'000});
    EXPECT_FALSE(gpu.done());
    Dispatch dispatch;
    dispatch.kernel = "k";
    dispatch.packet.kernel_object = object;
    dispatch.packet.group_segment_size = lds_bytes(reads) - one.missing;
    dispatch.entry = object + 0x100;
    const std::string why = gpu.device.extension<Duplo>()->dispatch_check()->refusal(dispatch).value_or("");
    EXPECT_NE(why.find(one.says), std::string::npos) << why;
    EXPECT_TRUE(dispatch.objects.empty());
    gpu.destroy_queue();
  }
}

// -- the read of the block

// Reading the block takes time before the kernel starts; symbols are read when their code object is first used.
TEST_F(DuploLds, TheBlockIsReadOnceADispatch) {
  const LoweredConvolution c = lds_convolution();
  const Reads reads{.in_flight = 4};
  const AssembledKernel kernel = read_tiles(c, reads);
  TestGpu& gpu = b_.retire;
  const auto start_after = [&](const std::string& kernel_name) {
    gpu.start();
    lower(gpu, c);
    load_symbols(gpu, kernel_name, lds_block(c, reads));
    gpu.mark();
    const Tick from = now();
    const KernelRecord record = gpu.run(kernel, {kBase + kWorkspace, kBase + kResults}, 1, 64, lds_bytes(reads));
    EXPECT_FALSE(record.failed);
    return record.start - from;
  };
  const Tick with = start_after("k");
  // An object with another name does not belong to the kernel.
  gpu.start();
  lower(gpu, c);
  load_symbols(gpu, "k", lds_block(c, reads));
  gpu.at<char>(kImage + 0x500 + 6) = 'j';
  gpu.mark();
  const Tick from = now();
  const KernelRecord record = gpu.run(kernel, {kBase + kWorkspace, kBase + kResults}, 1, 64, lds_bytes(reads));
  const Tick without = record.start - from;
  EXPECT_GT(with, without);
  EXPECT_LT(with - without, Tick{2'000'000});

  const Duplo& duplo = *gpu.device.extension<Duplo>();
  gpu.start();
  lower(gpu, c);
  load_symbols(gpu, "k", lds_block(c, reads));
  const std::uint64_t before = duplo.symbol_readings();
  for (unsigned i = 0; i < 3; ++i) {
    gpu.mark();
    gpu.reuse_code();
    EXPECT_FALSE(gpu.run(kernel, {kBase + kWorkspace, kBase + kResults}, 1, 64, lds_bytes(reads)).failed);
  }
  EXPECT_LE(duplo.symbol_readings(), before + 1);
}

}  // namespace
}  // namespace lacuna::test
