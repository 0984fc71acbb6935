#include "models/compute/matrix/matrix_results.h"

#include <gtest/gtest.h>

#include "tests/compute/compute_unit_bench.h"
#include "tests/compute/instruction_words.h"

namespace lacuna::test {
namespace {

/// gfx90a compute units that differ in their matrix units.
class MatrixBench : public sc_core::sc_module {
 public:
  static constexpr std::uint64_t kCode = 0x10000;
  static constexpr std::uint64_t kBytes = 0x10000;
  enum Kind : unsigned { extended, interlocked, slower, native, shared_ports, plain, kinds };

  explicit MatrixBench(sc_core::sc_module_name module_name) : sc_module(module_name), code_bytes_(kBytes) {
    vm_.map(kCode, kBytes, 0x1000'0000, code_bytes_.data(), isa::Access::read | isa::Access::execute);
    using isa::MatrixDesign;
    using isa::MatrixExtensions;
    const MatrixParameters parameters[kinds] = {{.extensions = MatrixExtensions::all},
                                                {.interlock = MatrixInterlock::all},
                                                {.extensions = MatrixExtensions::all, .design = MatrixDesign::m3xu},
                                                {.extensions = MatrixExtensions::all, .design = MatrixDesign::fp32_native},
                                                {.extensions = MatrixExtensions::all, .register_ports = MatrixPorts::shared},
                                                {}};
    for (const MatrixParameters& matrix : parameters) {
      const std::string number = std::to_string(units_.size());
      const Clock clock(Frequency{1'000'000'000});
      codes_.push_back(std::make_unique<isa::DecodedCode>(vm_, isa::Target::gfx90a, matrix.codes()));
      memories_.push_back(std::make_unique<FixedLatencyMemory>(("memory" + number).c_str()));
      units_.push_back(std::make_unique<ComputeUnit>(("unit" + number).c_str(), ComputeUnitParameters{}, ComputeUnitPlace{},
                                                     ComputeUnitContext{.mode = TimingMode::loose,
                                                                        .target = isa::Target::gfx90a,
                                                                        .clock = clock,
                                                                        .timestamp = clock,
                                                                        .vm = vm_,
                                                                        .code = *codes_.back(),
                                                                        .lds_banks = lds_banks_,
                                                                        .listener = listener_,
                                                                        .matrix = matrix}));
      windows_.push_back(std::make_unique<Windows>(("windows" + number).c_str(), clock, TimingMode::loose, Cycles{50}));
      windows_.back()->add_group({units_.back().get()});
      units_.back()->vector_port.bind(memories_.back()->vector);
      units_.back()->scalar_port.bind(memories_.back()->scalar);
      units_.back()->instruction_port.bind(memories_.back()->instruction);
    }
  }

  struct Result {
    std::uint64_t cycles = 0;  ///< 0: the program did not end
    KernelActivity activity;
  };
  /// Runs `words` and s_endpgm on one wavefront.
  Result run(Kind kind, Words words) {
    words.push_back(0xbf810000);  // s_endpgm
    std::fill(code_bytes_.begin(), code_bytes_.end(), std::byte{0});
    std::memcpy(code_bytes_.data(), words.data(), words.size() * 4);
    codes_[kind]->revalidate();
    Dispatch d;
    d.kernel = "test";
    d.entry = kCode;
    d.grid = d.workgroup = {isa::kLanes, 1, 1};
    d.needs = {.wavefronts = 1, .vgprs = 32, .agprs = 8, .sgprs = 32, .lds_bytes = 1024};
    listener_ = {};
    wait_for(Tick{10'000'000 - now().ps % 10'000'000});
    const Tick start = now();
    if (!units_[kind]->launch(d, 0, start, {})) return {};
    for (int i = 0; i < 100 && listener_.done.empty() && listener_.faults.empty(); ++i) wait_for(Tick{100'000});
    if (!listener_.faults.empty()) units_[kind]->abort(d);
    d.collect();
    return {listener_.done.empty() ? 0 : (listener_.done[0] - start).ps / 1000, d.activity};
  }

  RecordingListener listener_;

 private:
  std::vector<std::byte> code_bytes_;
  GpuVm vm_;
  LdsBanks lds_banks_;
  std::vector<std::unique_ptr<isa::DecodedCode>> codes_;
  std::vector<std::unique_ptr<ComputeUnit>> units_;
  std::vector<std::unique_ptr<FixedLatencyMemory>> memories_;
  std::vector<std::unique_ptr<Windows>> windows_;
};

LACUNA_TEST_BENCH(MatrixBench)

constexpr unsigned kZero = 128;  // operand code of the constant 0, for C
constexpr unsigned kVgpr = 256;

struct Code {
  std::uint32_t cbsz = 0, abid = 0, blgp = 0;
};
constexpr Code kPlain{}, kTf32{6, 0, 1}, kFp32{6, 0, 2}, kFp32c{6, 0, 3}, kFp64{6, 0, 4}, kMinPlus{7, 1, 0},
    kSparseMinPlus{7, 1, 1};

Words mai(std::uint32_t opcode, const Code& code, unsigned d, unsigned a, unsigned b, unsigned c) {
  return {0xd3800000 | opcode << 16 | code.abid << 11 | code.cbsz << 8 | d,
          code.blgp << 29 | (c == kZero ? c : kVgpr + c) << 18 | (kVgpr + b) << 9 | (kVgpr + a)};
}
/// v_mfma_f32_16x16x16f16: A and B have two registers each, C and D four.
Words halves(const Code& code, unsigned d = 4, unsigned a = 0, unsigned b = 2, unsigned c = 4) {
  return mai(0x4d, code, d, a, b, c);
}
/// v_mfma_f64_16x16x4f64: A and B have two registers each, C and D eight.
Words doubles(const Code& code, unsigned d = 8, unsigned a = 0, unsigned b = 2, unsigned c = 8) {
  return mai(0x6e, code, d, a, b, c);
}
std::uint32_t move(unsigned to, unsigned from) { return 0x7e000200 | to << 17 | (kVgpr + from); }  // v_mov_b32
const Words kLdsWriteProduct = {0xd81a0000, 0x00000714};                                           // ds_write_b32 v20, v7
const Words kAccumulatorRead = {0xd3d84014, 0x18000100};                                           // v_accvgpr_read_b32 v20, a0
const Words kToAccumulators = {0xd3cd8600, 0x44020500};  // v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[2:3], a[0:3] cbsz:6 blgp:2

class MatrixResultsTest : public testing::Test {
 protected:
  MatrixBench& b_ = bench<MatrixBench>();
  std::uint64_t cycles(MatrixBench::Kind kind, const Words& words) { return b_.run(kind, words).cycles; }
  /// Cycles from the issue of the first instruction of `before` to the issue of `last`.
  std::uint64_t issue_of(MatrixBench::Kind kind, const Words& before, const Words& last) {
    return cycles(kind, program(before, last)) - cycles(kind, last);
  }
};

// A pass is four cycles. The result of an instruction that leaves its unit after P passes is in the registers after P + 4
// passes. An M3XU instruction has an additional stage of one cycle, so its reader issues one issue slot of the SIMD later.
TEST_F(MatrixResultsTest, DependentInstructionsAreStalled) {
  const struct {
    const char* what;
    Words before;
    Words last;
    std::uint64_t cycle;
  } table[] = {
      {"another register", halves(kFp32), {move(20, 21)}, 4},
      {"a scalar instruction", halves(kFp32), {kScalarMove}, 4},
      {"reads D", halves(kFp32), {move(20, 4)}, 4 * (16 + 4 + 1)},
      {"reads the last of D", halves(kFp32), {move(20, 7)}, 4 * (16 + 4 + 1)},
      {"reads what is behind D", halves(kFp32), {move(20, 8)}, 4},
      {"overwrites D", halves(kFp32), {move(5, 20)}, 4 * (16 + 4 + 1)},
      {"writes D to memory", halves(kFp32), kLdsWriteProduct, 4 * (16 + 4 + 1)},
      {"reads D of accumulators", kToAccumulators, kAccumulatorRead, 4 * (16 + 4 + 1)},
      {"reads vector registers of the same numbers", kToAccumulators, {move(20, 4)}, 4},
      {"overwrites C", halves(kFp32, 4, 0, 2, 12), {move(12, 20)}, 4 * (16 + 1)},
      {"reads C", halves(kFp32, 4, 0, 2, 12), {move(20, 12)}, 4},
      {"overwrites A", halves(kFp32), {move(1, 20)}, 4},
      {"overwrites B", halves(kFp32), {move(2, 20)}, 4},
      {"accumulates on D", halves(kFp32), halves(kFp32), 4 * 16},
      {"accumulates on D in another format", halves(kFp32), halves(kMinPlus), 4 * 16},
      {"another MFMA", halves(kFp32), halves(kFp32, 12, 0, 2, kZero), 4 * 16},
      {"D is a part of C", halves(kFp32), halves(kFp32, 12, 0, 2, 6), 4 * (16 + 1)},
      {"D is A", halves(kFp32), halves(kFp32, 12, 4, 2, 12), 4 * (16 + 4 + 1)},
      {"D is B", halves(kFp32), halves(kFp32, 12, 0, 6, 12), 4 * (16 + 4 + 1)},
      {"an MFMA overwrites C", halves(kFp32, 4, 0, 2, 12), halves(kFp32, 12, 0, 2, kZero), 4 * 16},
      {"the first of two results", program(halves(kFp32), halves(kFp32, 12, 0, 2, kZero)), {move(20, 4)}, 4 * (16 + 4 + 1)},
      {"the second of two results", program(halves(kFp32), halves(kFp32, 12, 0, 2, kZero)), {move(20, 12)}, 4 * (32 + 4 + 1)},
      {"TF32", halves(kTf32), {move(20, 4)}, 4 * (8 + 4 + 1)},
      {"FP32C", doubles(kFp32c), {move(20, 15)}, 4 * (32 + 4 + 1)},
      {"FP64", doubles(kFp64), {move(20, 15)}, 4 * (32 + 4 + 1)},
      {"minplus", halves(kMinPlus), {move(20, 4)}, 4 * (8 + 4)},
      {"minplus, sparse", halves(kSparseMinPlus), {move(20, 4)}, 4 * (4 + 4)},
      // LLVM inserts 11 wait states after 8 passes.
      {"behind the s_nop of a compiler", program(halves(kFp32), kNop | 10), {move(20, 4)}, 4 * (16 + 4 + 1)},
      {"behind s_nop that suffices", program(halves(kFp32), kNop | 15, kNop | 4), {move(20, 4)}, 4 * (1 + 16 + 4 + 1)},
      {"plain", halves(kPlain), {move(20, 4)}, 4},
      {"while registers are indexed",
       program(halves(kFp32), 0xbf110100U /* s_set_gpr_idx_on s0, gpr_idx(SRC0) */),
       {move(20, 21)},
       4 * (16 + 4 + 1)},
  };
  for (const auto& row : table) EXPECT_EQ(issue_of(MatrixBench::extended, row.before, row.last), row.cycle) << row.what;
}

TEST_F(MatrixResultsTest, InterlockAllCoversPlainInstructions) {
  EXPECT_EQ(issue_of(MatrixBench::plain, halves(kPlain), {move(20, 4)}), 4U) << "programs wait by s_nop";
  EXPECT_EQ(issue_of(MatrixBench::interlocked, halves(kPlain), {move(20, 4)}), 4U * (8 + 4));
  const Words compiled = program(halves(kPlain), kNop | 10);
  EXPECT_EQ(issue_of(MatrixBench::plain, compiled, {move(20, 4)}), 4U * (8 + 4));
  EXPECT_EQ(issue_of(MatrixBench::interlocked, compiled, {move(20, 4)}), 4U * (8 + 4))
      << "the compilers' distances are sufficient";
}

TEST_F(MatrixResultsTest, DesignsDifferInPassesAndCycleTime) {
  EXPECT_EQ(issue_of(MatrixBench::native, halves(kFp32), {move(20, 4)}), 4U * (8 + 4)) << "one step, no stage";
  // 16 passes of 4.84 cycles, then mfma.result_passes (4) of 5 cycles; the SIMD has an issue slot every four cycles.
  EXPECT_EQ(issue_of(MatrixBench::slower, halves(kFp32), {move(20, 4)}), 100U);
  // 8 passes of 4.84 cycles, then mfma.result_passes (4) of 5 cycles; compilers insert a distance of only 48 cycles.
  EXPECT_EQ(issue_of(MatrixBench::slower, halves(kPlain), {move(20, 4)}), 60U);
  Words many;
  for (unsigned i = 0; i < 100; ++i) many = program(many, halves(kPlain));
  const std::uint64_t fast = issue_of(MatrixBench::extended, many, {move(20, 21)});
  const std::uint64_t slow = issue_of(MatrixBench::slower, many, {move(20, 21)});
  EXPECT_EQ(fast, 99 * 32U + 4);
  EXPECT_NEAR(static_cast<double>(slow), 99 * 38.72 + 4, 4) << "no cycle is lost to turns";
}

TEST_F(MatrixResultsTest, SharedPortsKeepTheVectorAlu) {
  // The ports read three registers at a time and write one at a time. halves() reads 8 registers and writes 4; doubles() reads
  // 12 and writes 8.
  EXPECT_EQ(issue_of(MatrixBench::shared_ports, halves(kFp32), {move(20, 21)}), 16U);
  EXPECT_EQ(issue_of(MatrixBench::shared_ports, doubles(kFp64), {move(20, 21)}), 32U);
  EXPECT_EQ(issue_of(MatrixBench::shared_ports, halves(kFp32), {kScalarMove}), 16U) << "the wavefront's next instruction";
}

TEST_F(MatrixResultsTest, WaitsAndPassesAreAccountedFor) {
  const MatrixBench::Result result =
      b_.run(MatrixBench::extended,
             program(halves(kFp32), halves(kSparseMinPlus, 12, 0, 2, kZero), doubles(kPlain, 16, 0, 2, kZero), move(24, 12)));
  ASSERT_NE(result.cycles, 0U);
  const WavefrontClass all = result.activity.all();
  std::uint64_t sum = 0;
  for (const std::uint64_t cycles : all.cycles) sum += cycles;
  EXPECT_EQ(sum, all.resident);
  // The last instruction could issue in cycle 84, four cycles after the f64 MFMA. Its source is available in cycle 96: 64 for
  // the first MFMA, 16 for the second, and 16 until the result is in the registers.
  EXPECT_EQ(all[StallCause::matrix], 12U);
  const auto passes = [&](isa::Operation o) {
    return result.activity.matrix_passes[static_cast<std::size_t>(o) - isa::kFirstMatrixOperation];
  };
  EXPECT_EQ(passes(isa::Operation::mfma_m3xu_fp32), 16U);
  EXPECT_EQ(passes(isa::Operation::mfma_simd2_minplus), 4U);
  EXPECT_EQ(passes(isa::Operation::mfma_f64), 8U);
  EXPECT_EQ(passes(isa::Operation::mfma_narrow), 0U);
}

TEST_F(MatrixResultsTest, CodesThatAUnitDoesNotHaveAreIllegal) {
  EXPECT_EQ(cycles(MatrixBench::plain, halves(kFp32)), 0U);
  ASSERT_EQ(b_.listener_.faults.size(), 1U);
  EXPECT_EQ(cycles(MatrixBench::native, doubles(kFp64)), 0U);
  EXPECT_EQ(b_.listener_.faults.size(), 1U);
}

}  // namespace
}  // namespace lacuna::test
