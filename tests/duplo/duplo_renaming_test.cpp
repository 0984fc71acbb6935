// Tests renaming in random programs. Tiles are loaded into pairs of VGPRs and AGPRs, which instructions of every kind read and
// overwrite, wholly, in part or in some lanes only. Wavefronts of different length fill the register files. At each change the
// device checks that all readers of a register pair have the same data and that entries describe the data of their registers.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/duplo/tile_kernels.h"

namespace lacuna::test {
namespace {

/// Registers of each wavefront: four wavefronts of a test's kernels fill the registers of a SIMD.
constexpr unsigned kWavefrontRegisters = 64, kWavefrontsPerSimd = 4;

GpuDeviceParameters full_machine(const Rule& rule) {
  GpuDeviceParameters p = machine(rule);
  p.cu.vgprs_per_simd = kWavefrontRegisters * kWavefrontsPerSimd;
  return p;
}

struct RenamingBench : sc_core::sc_module {
  explicit RenamingBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  TestGpu off{"off", full_machine(rules::off)};
  TestGpu retire{"retire", full_machine(rules::retire)};
  TestGpu overwrite{"overwrite", full_machine(rules::overwrite)};
  TestGpu simd{"simd", full_machine(rules::simd)};
  TestGpu few{"few", full_machine(rules::few)};
  const std::vector<TestGpu*> all{&retire, &overwrite, &simd, &few};
};

LACUNA_TEST_BENCH(RenamingBench)

/// Registers: v0 work-item, v1 lane, v2 offset in a tile, v4 and v5 scratch, v6 and v7 the sum of what was read; v[8:23] and
/// a[0:15] hold tiles; v24 offset of the lane in its wavefront's LDS, v25 of its words in memory, v26 of words that no kernel
/// writes. s[8:9] workspace, s[10:11] results, s12 and s13 scratch, s14 number of the part after which the wavefront ends.
class RandomProgram {
 public:
  RandomProgram(const LoweredConvolution& c, unsigned seed) : c_(c), random_(seed) {
    lines_ = begin_tiles(c);
    for (const char* const line :
         {"s_lshl_b32 s12, s2, 11", "v_lshlrev_b32_e32 v24, 3, v0", "v_add_u32_e32 v25, 0x100000, v24",
          "v_add_u32_e32 v25, s12, v25", "v_add_u32_e32 v26, 0x200000, v24", "v_readfirstlane_b32 s14, v0",
          "s_lshr_b32 s14, s14, 6", "s_lshl_b32 s13, s2, 1", "s_add_u32 s14, s14, s13", "s_and_b32 s14, s14, 7"})
      add(line);
    for (unsigned r = 0; r < kRegisters; ++r) {
      add("v_mov_b32_e32 " + v(r) + ", " + std::to_string(r));
      add("v_accvgpr_write_b32 " + a(r) + ", " + v(r));
    }
    constexpr unsigned kParts = 8;
    for (unsigned part = 0; part < kParts; ++part) {
      for (unsigned i = 0; i < 9; ++i) step();
      wait();
      end_some(part);
    }
    for (unsigned r = 0; r < kRegisters; ++r) read(v(r));
    store();
  }
  AssembledKernel kernel() const { return {isa::Target::gfx90a, lines_}; }
  unsigned loads() const { return loads_; }

 private:
  static constexpr unsigned kRegisters = 16;  ///< registers of each file that hold tiles

  static std::string v(unsigned r) { return "v" + std::to_string(8 + r); }
  static std::string a(unsigned r) { return "a" + std::to_string(r); }
  static std::string pair(const char* file, unsigned first) {
    return std::string(file) + '[' + std::to_string(first) + ':' + std::to_string(first + 1) + ']';
  }
  static std::string vv(unsigned r) { return pair("v", 8 + r / 2 * 2); }
  static std::string aa(unsigned r) { return pair("a", r / 2 * 2); }

  unsigned below(unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random_); }
  void add(const std::string& line) { lines_.push_back(line); }
  void wait() {
    if (std::exchange(pending_, false)) add("s_waitcnt vmcnt(0) lgkmcnt(0)");
  }
  void read(const std::string& r) {
    add("v_mul_lo_u32 v6, 17, v6");
    add("v_add_u32_e32 v6, v6, " + r);
  }
  void store() {
    for (const char* const line : {"v_lshlrev_b32_e32 v4, 3, v0", "s_lshl_b32 s12, s2, 11", "v_add_u32_e32 v4, s12, v4",
                                   "global_store_dwordx2 v4, v[6:7], s[10:11]"})
      add(line);
  }
  /// Ends some of the wavefronts.
  void end_some(unsigned part) {
    const std::size_t before = lines_.size();
    store();
    Lines end(lines_.begin() + static_cast<std::ptrdiff_t>(before), lines_.end());
    lines_.resize(before);
    const std::size_t words = AssembledKernel(isa::Target::gfx90a, end).words().size();  // including s_endpgm
    add("s_cmp_eq_u32 s14, " + std::to_string(part));
    add("s_cbranch_scc0 " + std::to_string(words));
    end.emplace_back("s_endpgm");
    lines_.insert(lines_.end(), end.begin(), end.end());
  }
  /// Loads a tile into a pair. There are few tiles, so that many loads hit.
  void load() {
    const unsigned tile = below(10);
    const unsigned row = tile % 5 * 16, column = tile / 5 * 16;
    add("v_add_u32_e32 v4, " + std::to_string((row * c_.pitch + column) * kElementBytes) + ", v2");
    const unsigned r = below(kRegisters);
    add("global_load_dwordx2 " + (below(4) == 0 ? aa(r) : vv(r)) + ", v4, s[8:9]");
    pending_ = true;
    ++loads_;
    if (below(3) == 0) add("s_nop " + std::to_string(below(16)));
  }

  /// Assembly lines that read or write tiles' registers, after all loads have completed.
  Lines use() {
    const unsigned r = below(kRegisters), q = below(kRegisters);
    const std::string both = vv(q);
    switch (below(25)) {
      case 0:
        return {"v_mov_b32_e32 " + v(r) + ", v1"};
      case 1:
        return {"v_add_u32_e32 " + v(r) + ", " + v(r) + ", " + v(q)};
      case 2:
        return {"v_lshlrev_b64 " + vv(r) + ", 3, " + both};
      case 3:
        return {"v_mov_b32_dpp " + v(r) + ", " + v(q) + " row_shr:1 row_mask:0xf bank_mask:0xf"};
      case 4:
        return {"v_add_u32_dpp " + v(r) + ", " + v(q) + ", v1 row_bcast:15 row_mask:0xa bank_mask:0xf"};
      case 5:
        return {"v_mov_b32_sdwa " + v(r) + ", " + v(q) + " dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2"};
      case 6:
        return {"v_writelane_b32 " + v(r) + ", s14, " + std::to_string(below(64))};
      case 7:
        return {"v_readlane_b32 s12, " + v(r) + ", " + std::to_string(below(64)), "v_xor_b32_e32 v6, s12, v6"};
      case 8:
        return {"v_readfirstlane_b32 s12, " + v(r), "v_xor_b32_e32 v7, s12, v7"};
      case 9:
        return {"ds_bpermute_b32 " + v(r) + ", v2, " + v(q), "s_waitcnt lgkmcnt(0)"};
      case 10:
        return {"ds_swizzle_b32 " + v(r) + ", " + v(q) + " offset:0x401f", "s_waitcnt lgkmcnt(0)"};
      case 11:
        return {"ds_write_b64 v24, " + both, "ds_read_b64 " + vv(r) + ", v24", "s_waitcnt lgkmcnt(0)"};
      case 12:
        return {"v_swap_b32 " + v(r) + ", " + v(q)};
      case 13:
        return {"v_accvgpr_write_b32 " + a(r) + ", " + v(q)};
      case 14:
        return {"v_accvgpr_read_b32 " + v(r) + ", " + a(q)};
      case 15: {
        const std::string quad = std::to_string(r / 4 * 4) + ':' + std::to_string(r / 4 * 4 + 3) + ']';
        return {"v_mfma_i32_4x4x4i8 a[" + quad + ", " + v(q) + ", " + a(r) + ", a[" + quad, "s_nop 15"};
      }
      case 16: {
        const unsigned first = 8 + r / 4 * 4;
        const std::string quad = "v[" + std::to_string(first) + ':' + std::to_string(first + 3) + ']';
        return {"v_mfma_i32_4x4x4i8 " + quad + ", " + a(q) + ", v1, " + quad, "s_nop 15"};
      }
      case 17:
        return {"global_load_dwordx2 " + (below(2) == 0 ? vv(r) : aa(r)) + ", v26, s[10:11]", "s_waitcnt vmcnt(0)"};
      case 18:
        return {"global_load_short_d16_hi " + v(r) + ", v26, s[10:11]", "s_waitcnt vmcnt(0)"};
      case 19:
        return {"global_store_dwordx2 v25, " + (below(2) == 0 ? both : aa(q)) + ", s[10:11]",
                "global_load_dwordx2 " + vv(r) + ", v25, s[10:11]", "s_waitcnt vmcnt(0)"};
      case 20:
        return {"global_atomic_add " + v(r) + ", v25, v1, s[10:11] glc", "s_waitcnt vmcnt(0)"};
      case 21:
        return {"s_mov_b32 s13, " + std::to_string(r), "s_set_gpr_idx_on s13, gpr_idx(DST)", "v_mov_b32_e32 v8, v1",
                "s_set_gpr_idx_off"};
      case 22:
        return {"s_mov_b32 s13, " + std::to_string(q), "s_set_gpr_idx_on s13, gpr_idx(SRC0)", "v_add_u32_e32 v6, v8, v6",
                "s_set_gpr_idx_off"};
      case 23:
        return {"v_pk_mov_b32 " + vv(r) + ", " + both + ", " + vv(below(kRegisters)) + " op_sel:[0,1]"};
      default:
        return {"v_mad_u64_u32 " + vv(r) + ", vcc, v1, " + v(q) + ", " + both};
    }
  }
  void step() {
    if (below(2) == 0) {
      load();
      return;
    }
    wait();
    const bool some_lanes = below(3) == 0;
    if (some_lanes) {
      // Sets EXEC to some lanes at random, or to none.
      add("s_mov_b32 exec_lo, " + std::to_string(below(4) == 0 ? 0U : static_cast<unsigned>(random_())));
      add("s_mov_b32 exec_hi, " + std::to_string(below(4) == 0 ? 0U : static_cast<unsigned>(random_())));
    }
    for (const std::string& line : use()) add(line);
    if (some_lanes) add("s_mov_b64 exec, -1");
    if (below(2) == 0) read(v(below(kRegisters)));
  }

  const LoweredConvolution& c_;
  std::mt19937 random_;
  Lines lines_;
  bool pending_ = false;
  unsigned loads_ = 0;
};

TEST(DuploRenaming, RandomProgramsComputeTheSameWithRenaming) {
  RenamingBench& b = bench<RenamingBench>();
  const LoweredConvolution c = convolution();
  constexpr unsigned kPrograms = 12, kWorkgroups = 31, kSize = 256;
  std::uint64_t renamed = 0, copies = 0, overwritten = 0, ended = 0;
  for (unsigned seed = 1; seed <= kPrograms; ++seed) {
    SCOPED_TRACE(seed);
    const RandomProgram program(c, seed);
    const auto run_on = [&](TestGpu& gpu) {
      return run_with_block(gpu, c, program.kernel(), kWorkgroups, kSize, block_of(c, kBase + kWorkspace), 8 * kSize);
    };
    const Outcome off = run_on(b.off);
    for (TestGpu* const gpu : b.all) {
      SCOPED_TRACE(gpu->name());
      const Outcome on = run_on(*gpu);
      EXPECT_TRUE(on.results == off.results);
      EXPECT_EQ(on.record.wavefront_instructions, off.record.wavefront_instructions);
      EXPECT_GT(on[DuploCount::hits], 0U);
      EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
      renamed += on[DuploCount::renamed];
      copies += on[DuploCount::copies];
      overwritten += on[DuploCount::overwritten];
      ended += on[DuploCount::ended];
    }
  }
  // Each kind of event has occurred many times.
  EXPECT_GT(renamed, 1000U);
  EXPECT_GT(copies, 1000U);
  EXPECT_GT(overwritten, 1000U);
  EXPECT_GT(ended, 100U);
  // The register files were full, yet no more pairs were in use than the wavefronts have, and a free pair was always found.
  for (TestGpu* const gpu : b.all) {
    for (const DetectionUnit* const unit : gpu->device.extension<Duplo>()->detection_units())
      EXPECT_EQ(unit->most_pairs(), kWavefrontRegisters * kWavefrontsPerSimd / 2);
  }
}

}  // namespace
}  // namespace lacuna::test
