#include "models/isa/matrix/matrix_extensions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/isa/decode/table.h"
#include "models/isa/matrix/mfma.h"

namespace lacuna::isa {
namespace matrix {
namespace {

// -- M3XU: a lane has two items of FP32

struct Fp32 : F32 {
  static constexpr unsigned kPerLane = 2, kWords = 2;
  static Element element(const std::uint32_t* planes, unsigned item, unsigned lane) {
    return std::bit_cast<float>(planes[item * kLanes + lane]);
  }
};
struct Tf32 : Fp32 {
  static Element element(const std::uint32_t* planes, unsigned item, unsigned lane) {
    constexpr std::uint32_t kIgnored = (1U << 13) - 1;
    const std::uint32_t bits = planes[item * kLanes + lane];
    // A NaN whose payload is in the ignored bits must not become an infinity.
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    return std::bit_cast<float>(nan ? bits | 0x400000 : bits & ~kIgnored);
  }
};

// Products of complex numbers: two steps for the real parts, then two for the imaginary parts (thesis, section 2.4.2).
void execute_complex(const Instruction& instruction, Wavefront& wave) {
  constexpr unsigned kSize = 16, kK = 4;
  set_host_fp(kNearest);
  std::array<std::array<float, kLanes>, 2> a;
  std::array<std::array<float, kLanes>, 2> b;
  std::memcpy(a.data(), wave.planes(instruction.src[0]), sizeof a);
  std::memcpy(b.data(), wave.planes(instruction.src[1]), sizeof b);
  Accumulator<Fp32, 8> c;
  c.load(instruction.src[2], wave);
  if (instruction.src[2].kind == OperandKind::constant) {
    // Compilers encode a constant C as an f64, the type of the carrier: each register pair holds the two words of this f64.
    const auto high = static_cast<std::uint32_t>(instruction.src[2].value >> 32);
    for (unsigned item = 1; item < 8; item += 2) std::fill_n(c.sums[item], kLanes, std::bit_cast<float>(high));
  }
  constexpr unsigned kCount = kHostVectorBytes / sizeof(float);
  using Wide = Vector<float, kCount>;
  for (unsigned row = 0; row < kSize; ++row) {
    float* const real = &c.sums[2 * (row / 4)][kSize * (row % 4)];
    float* const imaginary = &c.sums[2 * (row / 4) + 1][kSize * (row % 4)];
    for (unsigned column = 0; column < kSize; column += kCount) {
      auto re = Wide::load(real + column);
      auto im = Wide::load(imaginary + column);
      for (unsigned k = 0; k < kK; ++k) {
        const float a_re = a[0][kSize * k + row];
        const float a_im = a[1][kSize * k + row];
        const auto b_re = Wide::load(b[0].data() + kSize * k + column);
        const auto b_im = Wide::load(b[1].data() + kSize * k + column);
        re = fused(-a_im, b_im, fused(a_re, b_re, re));
        im = fused(a_im, b_re, fused(a_re, b_im, im));
      }
      Wide::store(real + column, re);
      Wide::store(imaginary + column, im);
    }
  }
  c.end();
  c.store(wave.planes(instruction.dst[0]));
}

// -- SIMD2: operators on halves, which are converted exactly

struct ExactHalves {
  using Element = float;
  using Sum = float;
  static constexpr unsigned kPerLane = 4, kWords = 2, kSumWords = 1, kRowsInRegisters = 4;
  static constexpr FpSetting kSetting = kNearest;
  static constexpr bool kKeepsDenormals = true;
  static Element element(const std::uint32_t* planes, unsigned item, unsigned lane) {
    const std::uint32_t half = Narrow::bits(planes, item, lane);
    const std::uint32_t sign = (half & 0x8000) << 16;
    const std::uint32_t exponent = half & 0x7c00;
    if (exponent == 0) {
      constexpr float kUnit = 0x1p-24F;
      const float magnitude = static_cast<float>(half & 0x3ff) * kUnit;
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    const std::uint32_t bias = exponent == 0x7c00 ? 224U << 23 : 112U << 23;
    return std::bit_cast<float>(sign | (((half & 0x7fff) << 13) + bias));
  }
};

/// Returns `a` in every lane. Subtracts zero, which keeps the sign of -0; adding zero would not.
template <class Vec>
Vec broadcast(float a) {
  return a - Vec{};
}
/// x < y ? x : y in every lane: y if they are equal or unordered.
template <class Vec>
Vec least(Vec x, Vec y) {
#if defined(__AVX__)
  if constexpr (sizeof(Vec) == 32) return _mm256_min_ps(x, y);
#endif
  for (unsigned i = 0; i < sizeof(Vec) / sizeof(float); ++i) y[i] = x[i] < y[i] ? x[i] : y[i];
  return y;
}
/// x > y ? x : y in every lane.
template <class Vec>
Vec greatest(Vec x, Vec y) {
#if defined(__AVX__)
  if constexpr (sizeof(Vec) == 32) return _mm256_max_ps(x, y);
#endif
  for (unsigned i = 0; i < sizeof(Vec) / sizeof(float); ++i) y[i] = x[i] > y[i] ? x[i] : y[i];
  return y;
}

// Reductions by minimum and by maximum: a NaN in C is treated as the identity, and a NaN product is ignored.
struct Least : ExactHalves {
  static constexpr float kIdentity = std::numeric_limits<float>::infinity();
  static float begin(float c) { return std::isnan(c) ? kIdentity : c; }
};
struct Greatest : ExactHalves {
  static constexpr float kIdentity = -std::numeric_limits<float>::infinity();
  static float begin(float c) { return std::isnan(c) ? kIdentity : c; }
};

struct MinPlus : Least {
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    return least<Vec>(a + b, c);
  }
};
struct MaxPlus : Greatest {
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    return greatest<Vec>(a + b, c);
  }
};
struct MinMul : Least {
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    return least<Vec>(a * b, c);
  }
};
struct MaxMul : Greatest {
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    return greatest<Vec>(a * b, c);
  }
};
// A factor that is NaN becomes the identity of the reduction, regardless of the other factor.
struct MinMax : Least {
  static float factor(float f) { return std::isnan(f) ? kIdentity : f; }
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    return least<Vec>(greatest<Vec>(broadcast<Vec>(a), b), c);
  }
};
struct MaxMin : Greatest {
  static float factor(float f) { return std::isnan(f) ? kIdentity : f; }
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    return greatest<Vec>(least<Vec>(broadcast<Vec>(a), b), c);
  }
};
struct OrAnd {
  using Element = std::uint32_t;  // all ones: true
  using Sum = std::uint32_t;
  static constexpr unsigned kPerLane = 4, kWords = 2, kSumWords = 1, kRowsInRegisters = 4;
  static constexpr FpSetting kSetting = kNearest;
  static constexpr Element truth(bool value) { return value ? ~Element{0} : 0; }
  static Element element(const std::uint32_t* planes, unsigned item, unsigned lane) {
    return truth((Narrow::bits(planes, item, lane) & 0x7fff) != 0);
  }
  static Sum begin(Sum c) { return truth((c & 0x7fffffff) != 0); }
  static Sum end(Sum c) { return c & std::bit_cast<Sum>(1.0F); }
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    return c | (a & b);
  }
};
struct AddNorm : ExactHalves {
  static constexpr std::uint32_t kNan = 0xffc00000;
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    const Vec difference = a - b;
#if defined(__FMA__)
    if constexpr (sizeof(Vec) == 32) return _mm256_fmadd_ps(difference, difference, c);
#endif
    for (unsigned i = 0; i < sizeof(Vec) / sizeof(float); ++i) c[i] = std::fma(difference[i], difference[i], c[i]);
    return c;
  }
};

constexpr Shape kHalves{16, 16, 16, 1};
constexpr Shape kSingles{16, 16, 8, 1};

template <class Kind, Shape kShape>
void execute_whole(const Instruction& instruction, Wavefront& wave) {
  multiply<Kind, kShape>(instruction, wave, 1, 0, 0);
}

/// Executes a 2:4 sparse code: A has two elements in each group of four along k, which are used in the order in which they are
/// stored.
template <class Kind>
void execute_sparse(const Instruction& instruction, Wavefront& wave) {
  constexpr unsigned kSize = 16, kGroups = 4, kKept = 2;
  set_host_fp(Kind::kSetting);
  const std::uint32_t* const of_a = wave.planes(instruction.src[0]);
  Elements<Kind> a;  // items 0 and 1 are elements; items 2 and 3 hold the positions, converted like halves
  Elements<Kind> b;
  std::array<std::uint32_t, kLanes> positions;
  std::memcpy(positions.data(), of_a + kLanes, sizeof positions);
  load_elements<Kind>(of_a, a);
  load_elements<Kind>(wave.planes(instruction.src[1]), b);
  Accumulator<Kind, 4> accumulator;
  accumulator.load(instruction.src[2], wave);
  accumulator.begin();
  constexpr unsigned kCount = kHostVectorBytes / sizeof(typename Kind::Sum);
  constexpr unsigned kVectors = kSize / kCount;
  using Wide = Vector<typename Kind::Sum, kCount>;
  for (unsigned row = 0; row < kSize; ++row) {
    const Place place = place_of_row(kHalves, Kind::kRowsInRegisters, 0, row);
    typename Kind::Sum* const sums = &accumulator.sums[place.item][place.lane];
    typename Wide::Type sum[kVectors];
    for (unsigned v = 0; v < kVectors; ++v) sum[v] = Wide::load(sums + v * kCount);
    for (unsigned group = 0; group < kGroups; ++group) {
      const unsigned lane = kSize * group + row;
      for (unsigned kept = 0; kept < kKept; ++kept) {
        const unsigned position = positions[lane] >> (2 * kept) & 3;
        const typename Kind::Element* const of_b = b[position].data() + std::size_t{kSize} * group;
        for (unsigned v = 0; v < kVectors; ++v) sum[v] = Kind::step(a[kept][lane], Wide::load(of_b + v * kCount), sum[v]);
      }
    }
    for (unsigned v = 0; v < kVectors; ++v) Wide::store(sums + v * kCount, sum[v]);
  }
  accumulator.end();
  accumulator.store(wave.planes(instruction.dst[0]));
}

constexpr std::string_view kOfHalves = "v_mfma_f32_16x16x16f16";
constexpr std::string_view kOfDoubles = "v_mfma_f64_16x16x4f64";
constexpr std::uint8_t kM3xuCbsz = 6;
constexpr std::uint8_t kSimd2Cbsz = 7;

// Passes: a step of the unit's multipliers takes as long as the f16 form, 8 passes for 16 x 16 x 16 products of halves. tf32
// has half of f16's rate (thesis, Table 2.1); FP32 takes two steps, FP32C and FP64 four (sections 2.4.1, 2.4.2, 2.6.4).
constexpr std::uint8_t kStep = 8;

constexpr MatrixCode m3xu(std::string_view name, MatrixFormat format, std::uint8_t blgp, std::uint8_t k,
                          std::array<std::uint8_t, kMatrixDesigns> passes, std::string_view meaning, ExecuteFn execute) {
  const bool wide = format == MatrixFormat::fp32c || format == MatrixFormat::fp64;
  return {name, wide ? kOfDoubles : kOfHalves, kM3xuCbsz, 0, blgp, MatrixExtensions::m3xu, format, k, passes, meaning, execute};
}

template <class Kind>
constexpr MatrixCode simd2(std::string_view name, std::uint8_t number, std::string_view meaning) {
  return {name,
          kOfHalves,
          kSimd2Cbsz,
          number,
          0,
          MatrixExtensions::simd2,
          MatrixFormat::f16,
          16,
          {kStep, kStep, kStep},
          meaning,
          execute_whole<Kind, kHalves>};
}

template <class Kind>
constexpr MatrixCode simd2_sparse(std::string_view name, std::uint8_t number, std::string_view meaning) {
  constexpr std::uint8_t kHalf = kStep / 2;
  return {name,
          kOfHalves,
          kSimd2Cbsz,
          number,
          1,
          MatrixExtensions::simd2,
          MatrixFormat::f16_sparse,
          16,
          {kHalf, kHalf, kHalf},
          meaning,
          execute_sparse<Kind>};
}

constexpr std::array kCodes{
    m3xu("m3xu.tf32", MatrixFormat::tf32, 1, 8, {kStep, kStep, kStep}, "C + sum of A x B of 11-bit significands",
         execute_whole<Tf32, kSingles>),
    m3xu("m3xu.fp32", MatrixFormat::fp32, 2, 8, {2 * kStep, 2 * kStep, kStep},
         "C + sum of A x B, a chain of fused multiply-adds", execute_whole<Fp32, kSingles>),
    m3xu("m3xu.fp32c", MatrixFormat::fp32c, 3, 4, {4 * kStep, 4 * kStep, 0},
         "C + sum of A x B of complex numbers, two chains of fused multiply-adds", execute_complex),
    m3xu("m3xu.fp64", MatrixFormat::fp64, 4, 4, {4 * kStep, 4 * kStep, 0}, "C + sum of A x B, a chain of fused multiply-adds",
         execute_whole<F64, Shape{16, 16, 4, 1}>),
    simd2<F16>("simd2.mma", 0, "C + sum of A x B"),
    simd2<MinPlus>("simd2.minplus", 1, "min(C, A + B)"),
    simd2<MaxPlus>("simd2.maxplus", 2, "max(C, A + B)"),
    simd2<MinMul>("simd2.minmul", 3, "min(C, A x B)"),
    simd2<MaxMul>("simd2.maxmul", 4, "max(C, A x B)"),
    simd2<MinMax>("simd2.minmax", 5, "min(C, max(A, B))"),
    simd2<MaxMin>("simd2.maxmin", 6, "max(C, min(A, B))"),
    simd2<OrAnd>("simd2.orand", 7, "C or (A and B), as 0 or 1"),
    simd2<AddNorm>("simd2.addnorm", 8, "C + sum of (A - B) squared"),
    simd2_sparse<F16>("simd2.mma.sparse", 0, "C + sum of A x B, A 2:4 sparse"),
    simd2_sparse<MinPlus>("simd2.minplus.sparse", 1, "min(C, A + B), A 2:4 sparse"),
    simd2_sparse<MaxPlus>("simd2.maxplus.sparse", 2, "max(C, A + B), A 2:4 sparse"),
    simd2_sparse<MinMul>("simd2.minmul.sparse", 3, "min(C, A x B), A 2:4 sparse"),
    simd2_sparse<MaxMul>("simd2.maxmul.sparse", 4, "max(C, A x B), A 2:4 sparse"),
    simd2_sparse<MinMax>("simd2.minmax.sparse", 5, "min(C, max(A, B)), A 2:4 sparse"),
    simd2_sparse<MaxMin>("simd2.maxmin.sparse", 6, "max(C, min(A, B)), A 2:4 sparse"),
    simd2_sparse<OrAnd>("simd2.orand.sparse", 7, "C or (A and B), as 0 or 1, A 2:4 sparse"),
};

}  // namespace
}  // namespace matrix

std::span<const MatrixCode> matrix_codes() { return matrix::kCodes; }

unsigned MatrixCode::passes_in(const MatrixCodes& codes) const {
  if (!has(codes.extensions, extension)) return 0;
  const unsigned plain = passes[static_cast<unsigned>(codes.design)];
  if (codes.design == MatrixDesign::fp32_native) {
    if (codes.native_operands == NativeOperands::half) return plain;
    // The rate is that of f16: 16 x 16 x 8 products of FP32 take half a step, 16 x 16 x 4 of FP32C (four real products each) a
    // step.
    if (format == MatrixFormat::fp32) return matrix::kStep / 2;
    return format == MatrixFormat::fp32c ? matrix::kStep : plain;
  }
  // Two parts of 27 bits need 2 x 2 partial products instead of 4 x 4.
  return format == MatrixFormat::fp64 && codes.fp64_multipliers == Fp64Multipliers::bits_27 ? plain / 4 : plain;
}

const MatrixCode* find_matrix_code(const InstructionRow& row, const VectorModifiers& vop) {
  if (vop.cbsz == 0) return nullptr;
  const auto found = std::find_if(matrix::kCodes.begin(), matrix::kCodes.end(), [&](const MatrixCode& code) {
    return code.cbsz == vop.cbsz && code.abid == vop.abid && code.blgp == vop.blgp && code.carrier == row.mnemonic;
  });
  return found == matrix::kCodes.end() ? nullptr : &*found;
}

std::string_view matrix_extension_name(MatrixExtensions set) {
  switch (set) {
    case MatrixExtensions::none:
      return "none";
    case MatrixExtensions::m3xu:
      return "m3xu";
    case MatrixExtensions::simd2:
      return "simd2";
    case MatrixExtensions::all:
      break;
  }
  return "all";
}

}  // namespace lacuna::isa
