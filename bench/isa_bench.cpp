// Speed of the vector ALU: wavefront instructions per second, one wavefront of 64 lanes on one core.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/table.h"
#include "models/isa/vector/host_fp.h"
#include "models/isa/wavefront.h"

namespace {

using namespace lacuna::isa;

constexpr unsigned kRegisters = 64;
constexpr std::uint64_t kAllLanes = ~std::uint64_t{0};
constexpr std::uint64_t kSomeLanes = 0x0fffffffffffff01;

class Machine {
 public:
  Machine(Target target, std::uint64_t exec) : registers_(kRegisters * kLanes) {
    wave_.target = target;
    wave_.vgpr = registers_.data();
    wave_.vgpr_count = kRegisters;
    wave_.mode.bits = 0x3c0;  // initial MODE of kernels: flush f32 denormals, keep f64 and f16 denormals, DX10_CLAMP, IEEE
    wave_.set_exec(exec);
    for (unsigned r = 0; r < kRegisters; ++r) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const double value = 1 + 0.001 * (r + lane);
        // Registers 0 to 15 hold f32 values, 16 to 31 pairs of f16 values, and the others f64 values.
        const auto wide = std::bit_cast<std::uint64_t>(value);
        const std::uint32_t half = 0x3c00U + r + lane;
        wave_.v(r)[lane] = r < 16   ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                           : r < 32 ? half << 16 | half
                                    : static_cast<std::uint32_t>(r % 2 == 0 ? wide : wide >> 32);
      }
    }
  }

  Wavefront& wave() { return wave_; }

 private:
  std::vector<std::uint32_t> registers_;
  Wavefront wave_;
};

void run(benchmark::State& state, std::array<std::uint32_t, 2> words, Target target, std::uint64_t exec) {
  const DecodeResult decoded = decode(words.data(), words.size(), target, kAllMatrixCodes);
  if (!decoded.ok) throw std::runtime_error(decoded.error);
  Machine machine(target, exec);
  for (auto _ : state) {
    decoded.instruction.execute(decoded.instruction, machine.wave());
    benchmark::ClobberMemory();
  }
  restore_host_fp();
  state.counters["instructions/s"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

constexpr std::uint32_t vop2(unsigned opcode, unsigned dst, unsigned src0, unsigned vsrc1) {
  return opcode << 25 | dst << 17 | vsrc1 << 9 | src0;
}
constexpr std::uint32_t vop1(unsigned opcode, unsigned dst, unsigned src0) {
  return 0x7e000000U | dst << 17 | opcode << 9 | src0;
}
constexpr std::uint32_t vopc(unsigned opcode, unsigned src0, unsigned vsrc1) {
  return 0x7c000000U | opcode << 17 | vsrc1 << 9 | src0;
}
constexpr std::array<std::uint32_t, 2> vop3(unsigned opcode, unsigned dst, unsigned src0, unsigned src1, unsigned src2 = 0,
                                            unsigned neg = 0) {
  return {0xd0000000U | opcode << 16 | dst, neg << 29 | src2 << 18 | src1 << 9 | src0};
}
constexpr unsigned v(unsigned index) { return 256 + index; }
constexpr unsigned kSdwa = 249;
constexpr unsigned kDpp = 250;
constexpr unsigned kTwo = 244;

struct Case {
  std::string_view name;
  std::array<std::uint32_t, 2> words;
  Target target = Target::gfx803;
};

// Encodes a VOP3P instruction. Packed operations (opcodes below 0x40) use the halves unchanged (op_sel_hi = 1).
constexpr std::array<std::uint32_t, 2> vop3p(unsigned opcode, unsigned dst, unsigned src0, unsigned src1, unsigned src2) {
  return {0xd3800000U | opcode << 16 | (opcode < 0x40 ? 1U << 14 : 0U) | dst,
          src2 << 18 | src1 << 9 | src0 | (opcode < 0x40 ? 3U << 27 : 0U)};
}
constexpr unsigned kZero = 128;

/// Encodes the selector of a matrix extension in a matrix operation (see models/isa/matrix/matrix_extensions.h).
constexpr std::array<std::uint32_t, 2> extended(std::array<std::uint32_t, 2> words, unsigned cbsz, unsigned abid,
                                                unsigned blgp) {
  return {words[0] | abid << 11 | cbsz << 8, words[1] | blgp << 29};
}

std::vector<Case> extended_cases() {
  std::vector<Case> cases;
  for (const MatrixCode& code : matrix_codes()) {
    const bool halves = code.format == MatrixFormat::f16 || code.format == MatrixFormat::f16_sparse;
    const bool doubles = code.carrier == std::string_view("v_mfma_f64_16x16x4f64");
    const unsigned first = halves ? 16 : code.format == MatrixFormat::fp64 ? 32 : 2;
    const auto plain = vop3p(doubles ? 0x6e : 0x4d, 40, v(first), v(first + 2), v(48));
    cases.push_back({code.name, extended(plain, code.cbsz, code.abid, code.blgp), Target::gfx90a});
  }
  return cases;
}

const std::array kCases{
    Case{"v_fma_f32", vop3(0x1cb, 4, v(1), v(2), v(3))},
    Case{"v_fma_f32_sgpr", vop3(0x1cb, 4, v(1), 2, v(3))},
    Case{"v_mac_f32", {vop2(22, 4, v(1), 2), 0}},
    Case{"v_mul_f32_constant", {vop2(5, 4, kTwo, 2), 0}},
    Case{"v_add_u32", {vop2(25, 4, v(1), 2), 0}},
    Case{"v_addc_u32", {vop2(28, 4, v(1), 2), 0}},
    Case{"v_mul_f64", vop3(0x281, 4, v(32), v(34))},
    Case{"v_fma_f64", vop3(0x1cc, 4, v(32), v(34), v(36))},
    Case{"v_mov_b32", {vop1(1, 4, v(1)), 0}},
    Case{"v_lshlrev_b32", {vop2(18, 4, 130, 2), 0}},
    Case{"v_mul_lo_u32", vop3(0x285, 4, v(1), v(2))},
    Case{"v_mad_u64_u32", vop3(0x1e8, 4, v(1), v(2), v(32))},
    Case{"v_max_f32", {vop2(11, 4, v(1), 2), 0}},
    Case{"v_cmp_lt_f32", {vopc(0x41, v(1), 2), 0}},
    Case{"v_cmp_lt_u32", {vopc(0xc9, v(1), 2), 0}},
    Case{"v_cndmask_b32", {vop2(0, 4, v(1), 2), 0}},
    Case{"v_cvt_f32_u32", {vop1(6, 4, v(1)), 0}},
    Case{"v_cvt_u32_f32", {vop1(7, 4, v(1)), 0}},
    Case{"v_rcp_f32", {vop1(34, 4, v(1)), 0}},
    Case{"v_exp_f32", {vop1(32, 4, v(1)), 0}},
    Case{"v_sin_f32", {vop1(41, 4, v(1)), 0}},
    Case{"v_add_f16", {vop2(31, 4, v(17), 18), 0}},
    Case{"v_fma_f32_neg", vop3(0x1cb, 4, v(1), v(2), v(3), 1)},
    Case{"v_add_f32_sdwa", {vop2(1, 4, kSdwa, 2), 0x06000601 | 5U << 16}},
    Case{"v_pk_fma_f16", vop3p(0x0e, 4, v(17), v(18), v(19)), Target::gfx90a},
    Case{"v_pk_add_u16", vop3p(0x0a, 4, v(1), v(2), 0), Target::gfx90a},
    Case{"v_pk_fma_f32", vop3p(0x30, 4, v(2), v(6), v(8)), Target::gfx90a},
    Case{"v_dot2_f32_f16", vop3p(0x23, 4, v(17), v(18), v(3)), Target::gfx90a},
    Case{"v_dot4_i32_i8", vop3p(0x28, 4, v(1), v(2), v(3)), Target::gfx90a},
    Case{"v_mfma_f32_16x16x16f16", vop3p(0x4d, 40, v(16), v(18), kZero), Target::gfx90a},
    Case{"v_mfma_f32_32x32x8f16", vop3p(0x4c, 40, v(16), v(18), kZero), Target::gfx90a},
    Case{"v_mfma_f32_4x4x4f16", vop3p(0x4a, 40, v(16), v(18), kZero), Target::gfx90a},
    Case{"v_mfma_f32_16x16x16bf16_1k", vop3p(0x67, 8, v(2), v(4), kZero), Target::gfx90a},
    Case{"v_mfma_f32_16x16x4f32", vop3p(0x45, 8, v(2), v(4), kZero), Target::gfx90a},
    Case{"v_mfma_f32_32x32x2f32", vop3p(0x44, 8, v(2), v(4), kZero), Target::gfx90a},
    Case{"v_mfma_f64_16x16x4f64", vop3p(0x6e, 8, v(32), v(34), kZero), Target::gfx90a},
    Case{"v_mfma_i32_16x16x16i8", vop3p(0x55, 8, v(2), v(4), kZero), Target::gfx90a},
    Case{"v_add_f32_dpp", {vop2(1, 4, kDpp, 2), 0xff000001 | 0x111U << 8}},
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<Case> cases(kCases.begin(), kCases.end());
  for (const Case& one : extended_cases()) cases.push_back(one);
  for (const Case& one : cases) {
    for (const std::uint64_t exec : {kAllLanes, kSomeLanes}) {
      const std::string name = std::string(one.name) + (exec == kAllLanes ? "" : "/partial_exec");
      benchmark::RegisterBenchmark(name.c_str(), run, one.words, one.target, exec);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
