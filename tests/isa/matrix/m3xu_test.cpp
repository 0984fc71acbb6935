// Tests the executors of M3XU's formats, and of the narrow formats of the same unit, against the step model and MPFR: bit for
// bit, element by element, with the register layout defined here.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "models/isa/matrix/m3xu_steps.h"
#include "models/isa/matrix/matrix_extensions.h"
#include "tests/isa/matrix/matrix_machine.h"
#include "tests/isa/matrix/matrix_reference.h"

namespace lacuna::isa::test {
namespace {

using m3xu::Format;

constexpr unsigned kSize = 16;
constexpr unsigned kA = 0, kB = 8, kC = 32, kD = 96;
constexpr unsigned kOfHalves = 0x4d, kOfBfloats = 0x67, kOfDoubles = 0x6e;

struct Case {
  const char* name;
  unsigned opcode, cbsz, blgp;
  Format format;
  unsigned k;
  bool complex = false;
};
constexpr std::array kCases{
    Case{"fp16", kOfHalves, 0, 0, Format::fp16, 16},        Case{"bf16", kOfBfloats, 0, 0, Format::bf16, 16},
    Case{"tf32", kOfHalves, 6, 1, Format::tf32, 8},         Case{"fp32", kOfHalves, 6, 2, Format::fp32, 8},
    Case{"fp32c", kOfDoubles, 6, 3, Format::fp32, 4, true}, Case{"fp64", kOfDoubles, 6, 4, Format::fp64, 4},
    Case{"fp64_plain", kOfDoubles, 0, 0, Format::fp64, 4},
};

/// Position of an element: for FP64, of the first of its two registers; for FP32C, of its real part.
struct Place {
  unsigned item, lane;  ///< `item`: index of a half for elements of 16 bits, otherwise of a register
};
/// Position of A[i][k] and of B[k][i].
Place place_of_input(const Case& c, unsigned i, unsigned k) {
  if (c.complex || c.format == Format::fp64) return {0, i + 16 * k};
  const unsigned per_lane = c.k / 4;
  return {k % per_lane, i + 16 * (k / per_lane)};
}
Place place_of_result(const Case& c, unsigned row, unsigned column) {
  if (c.complex || c.format == Format::fp64) return {2 * (row / 4), column + 16 * (row % 4)};
  return {row % 4, column + 16 * (row / 4)};
}

unsigned input_bits(const Case& c) {
  return c.format == Format::fp64 ? 64 : c.format == Format::fp16 || c.format == Format::bf16 ? 16 : 32;
}

void put(std::uint32_t* planes, Place p, unsigned bits, std::uint64_t value) {
  if (bits == 16) {
    std::uint32_t& word = planes[p.item / 2 * kLanes + p.lane];
    const unsigned low = 16 * (p.item % 2);
    word = (word & ~(0xffffU << low)) | static_cast<std::uint32_t>(value) << low;
    return;
  }
  planes[p.item * kLanes + p.lane] = static_cast<std::uint32_t>(value);
  if (bits == 64) planes[(p.item + 1) * kLanes + p.lane] = static_cast<std::uint32_t>(value >> 32);
}
std::uint64_t get(const std::uint32_t* planes, Place p, unsigned bits) {
  const std::uint64_t low = planes[p.item * kLanes + p.lane];
  return bits == 64 ? low | std::uint64_t{planes[(p.item + 1) * kLanes + p.lane]} << 32 : low;
}

/// A by rows, B by columns; complex numbers as pairs.
struct Matrices {
  std::vector<std::uint64_t> a[kSize], b[kSize];
  std::uint64_t c[kSize][kSize][2];
};

Matrices random_matrices(const Case& c, std::mt19937_64& random) {
  MatrixOperands operands(c.format, random);
  Matrices m;
  const unsigned length = c.complex ? 2 * c.k : c.k;
  for (unsigned i = 0; i < kSize; ++i) {
    for (unsigned k = 0; k < length; ++k) {
      m.a[i].push_back(operands.input());
      m.b[i].push_back(operands.input());
    }
    if (random() % 2 == 0) operands.change_style();
  }
  for (unsigned i = 0; i < kSize; ++i) {
    for (unsigned j = 0; j < kSize; ++j) {
      m.c[i][j][0] = operands.addend(m.a[i][0], m.b[j][0]);
      m.c[i][j][1] = operands.addend(m.a[i][0], m.b[j][c.complex ? 1 : 0]);
    }
  }
  return m;
}

m3xu::Complex complex(std::uint64_t re, std::uint64_t im) {
  return {static_cast<std::uint32_t>(re), static_cast<std::uint32_t>(im)};
}
std::vector<m3xu::Complex> pairs(const std::vector<std::uint64_t>& parts) {
  std::vector<m3xu::Complex> numbers;
  for (std::size_t k = 0; k < parts.size(); k += 2) numbers.push_back(complex(parts[k], parts[k + 1]));
  return numbers;
}

MatrixWords words_of(const Case& c, unsigned d = kD) {
  MatrixWords words{c.opcode, d, kA, kB, 256 + kC};
  words.cbsz = c.cbsz;
  words.blgp = c.blgp;
  return words;
}

void store(const Case& c, const Matrices& m, const MatrixWords& w, MatrixMachine& machine) {
  Wavefront& wave = machine.wave;
  std::uint32_t* const a = (w.a_in_agprs ? wave.agpr : wave.vgpr) + kA * kLanes;
  std::uint32_t* const b = (w.b_in_agprs ? wave.agpr : wave.vgpr) + kB * kLanes;
  std::uint32_t* const sums = (w.c_in_agprs ? wave.agpr : wave.vgpr) + kC * kLanes;
  const auto put_input = [&](std::uint32_t* planes, const std::vector<std::uint64_t>& parts, unsigned i) {
    for (unsigned k = 0; k < c.k; ++k) {
      Place p = place_of_input(c, i, k);
      if (!c.complex) {
        put(planes, p, input_bits(c), parts[k]);
        continue;
      }
      put(planes, p, 32, parts[2 * k]);
      ++p.item;
      put(planes, p, 32, parts[2 * k + 1]);
    }
  };
  for (unsigned i = 0; i < kSize; ++i) {
    put_input(a, m.a[i], i);
    put_input(b, m.b[i], i);
    for (unsigned j = 0; j < kSize; ++j) {
      const std::uint64_t value = c.complex ? m.c[i][j][0] | m.c[i][j][1] << 32 : m.c[i][j][0];
      put(sums, place_of_result(c, i, j), c.complex || c.format == Format::fp64 ? 64 : 32, value);
    }
  }
}

void run_and_check(const Case& c, const Matrices& m, const MatrixWords& w, MatrixMachine& machine) {
  const Instruction instruction = machine.decode_words(w.low(), w.high());
  machine.run(instruction);
  ASSERT_EQ(machine.wave.event, Event::none);
  const std::uint32_t* const d = (w.c_in_agprs ? machine.wave.agpr : machine.wave.vgpr) + w.d * kLanes;
  unsigned failures = 0;
  for (unsigned i = 0; i < kSize; ++i) {
    for (unsigned j = 0; j < kSize && failures < 4; ++j) {
      const std::uint64_t got = get(d, place_of_result(c, i, j), c.complex || c.format == Format::fp64 ? 64 : 32);
      std::uint64_t by_steps = 0;
      std::uint64_t exact = 0;
      if (c.complex) {
        const auto a = pairs(m.a[i]);
        const auto b = pairs(m.b[j]);
        const m3xu::Complex sum = complex(m.c[i][j][0], m.c[i][j][1]);
        const auto joined = [](m3xu::Complex v) { return std::uint64_t{v.im} << 32 | v.re; };
        by_steps = joined(m3xu::dot(m3xu::exact_design(c.format), a, b, sum));
        exact = joined(complex_reference(a, b, sum));
      } else {
        by_steps = m3xu::dot(m3xu::exact_design(c.format), c.format, m.a[i], m.b[j], m.c[i][j][0]);
        exact = dot_reference(c.format, m.a[i], m.b[j], m.c[i][j][0]);
      }
      if (got == by_steps && got == exact) continue;
      ++failures;
      ADD_FAILURE() << c.name << " [" << i << "][" << j << "] is " << std::hex << got << ", by steps " << by_steps << ", exact "
                    << exact;
    }
  }
}

constexpr MatrixCodes kM3xu{MatrixExtensions::m3xu, MatrixDesign::m3xu_pipelined};

class M3xu : public ::testing::TestWithParam<Case> {};

TEST_P(M3xu, EqualsTheStepModelAndMpfr) {
  const Case& c = GetParam();
  MatrixMachine machine(kM3xu);
  std::mt19937_64 random(c.opcode + c.blgp);
  for (unsigned i = 0; i < 16; ++i) {
    const Matrices m = random_matrices(c, random);
    // All combinations of register files for A, B and C; in some cases D overwrites C.
    MatrixWords words = words_of(c, i % 3 == 0 ? kC : kD);
    words.a_in_agprs = (i & 1) != 0;
    words.b_in_agprs = (i & 2) != 0;
    words.c_in_agprs = (i & 4) != 0;
    store(c, m, words, machine);
    run_and_check(c, m, words, machine);
  }
}

TEST_P(M3xu, SpecialValues) {
  const Case& c = GetParam();
  MatrixMachine machine(kM3xu);
  std::mt19937_64 random(c.opcode + c.blgp + 100);
  const std::vector<std::uint64_t> inputs = special_inputs(c.format);
  const std::vector<std::uint64_t> sums = special_values(result_format(c.format));
  for (unsigned run = 0; run < 8; ++run) {
    Matrices m = random_matrices(c, random);
    const auto any = [&](const auto& values) { return values[random() % values.size()]; };
    for (unsigned i = 0; i < kSize; ++i) {
      // One special product at a time, so that not all results become NaN.
      for (auto* of : {&m.a[i], &m.b[i]}) {
        std::fill(of->begin(), of->end(), inputs[4]);  // one
        of->at(run % of->size()) = any(inputs);
      }
      for (auto& element : m.c[i]) element[0] = any(sums), element[1] = any(sums);
    }
    store(c, m, words_of(c), machine);
    run_and_check(c, m, words_of(c), machine);
  }
}

TEST_P(M3xu, IgnoresExecAndModeAndWritesItsResultOnly) {
  const Case& c = GetParam();
  MatrixMachine machine(kM3xu);
  std::mt19937_64 random(c.opcode + c.blgp + 200);
  const Matrices m = random_matrices(c, random);
  store(c, m, words_of(c), machine);
  machine.wave.set_exec(0x5);
  machine.wave.mode.bits = 0xf;  // toward zero, denormals flushed
  std::uint32_t* const vgprs = machine.wave.vgpr;
  const std::vector<std::uint32_t> before(vgprs, vgprs + MatrixMachine::kRegisters * kLanes);
  run_and_check(c, m, words_of(c), machine);
  const unsigned end = kD + (c.complex || c.format == Format::fp64 ? 8 : 4);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + kD * kLanes, vgprs));
  EXPECT_TRUE(std::equal(before.begin() + end * kLanes, before.end(), vgprs + end * kLanes));
}

TEST_P(M3xu, AddsToConstants) {
  const Case& c = GetParam();
  MatrixMachine machine(kM3xu);
  std::mt19937_64 random(c.opcode + c.blgp + 300);
  Matrices m = random_matrices(c, random);
  store(c, m, words_of(c), machine);
  struct Constant {
    unsigned operand;
    std::uint64_t f32, f64;
  };
  for (const Constant& one : {Constant{128, 0, 0}, Constant{242, 0x3f800000, 0x3ff0000000000000}}) {
    for (auto& row : m.c) {
      for (auto& element : row) {
        // A complex operand reads the two words of the f64 constant.
        element[0] = c.complex ? one.f64 & 0xffffffff : c.format == Format::fp64 ? one.f64 : one.f32;
        element[1] = one.f64 >> 32;
      }
    }
    MatrixWords words = words_of(c);
    words.c = one.operand;
    run_and_check(c, m, words, machine);
  }
}

INSTANTIATE_TEST_SUITE_P(All, M3xu, ::testing::ValuesIn(kCases), [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace lacuna::isa::test
