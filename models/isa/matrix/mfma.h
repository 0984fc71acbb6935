// Matrix multiply-add of the matrix cores: D = A x B + C for one or more independent blocks of M x N x K.
//
// Layout (AMD Instinct MI200 and CDNA3 ISA manuals, "Matrix arithmetic instructions"; AMD's matrix instruction calculator):
// element [i][k] of block b of matrix A is item k % L of lane i + M (b + blocks (k / L)), where L is the number of elements per
// lane; matrix B likewise, with its column for i. D and C: lanes hold the columns; f32 and i32 have four rows in consecutive
// registers. All lanes take part regardless of EXEC.
//
// Arithmetic: rounds to nearest even regardless of MODE. f32 and f64: a chain of fused multiply-adds over ascending k,
// denormals kept. f16 and bf16: f32 products and sums, each rounded, over ascending k, denormals of inputs, products and sums
// flushed (MIOpen documentation, "MI200 MFMA behavior specifics"). The hardware's order and width of internal sums are not
// public: see docs/deviations/instructions.md. Any NaN that results is the default NaN.
//
// Codes of extensions (models/isa/matrix/matrix_extensions.h) are executed by the same loops with other kinds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__FMA__)
#include <immintrin.h>
#endif

#include "models/isa/decode/instruction.h"
#include "models/isa/decode/operand.h"
#include "models/isa/vector/host_fp.h"
#include "models/isa/vector/valu_types.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa::matrix {

inline constexpr FpSetting kNearest = 0;
inline constexpr FpSetting kNearestFlushed = 4 | 8;

#if defined(__AVX__)
inline constexpr unsigned kHostVectorBytes = 32;
#else
inline constexpr unsigned kHostVectorBytes = 16;
#endif

/// `kCount` adjacent sums, which the host adds in one instruction. In memory they need only the alignment of one sum.
template <class Sum, unsigned kCount>
struct Vector {
  typedef Sum Type __attribute__((vector_size(kCount * sizeof(Sum))));
  typedef Sum InMemory __attribute__((vector_size(kCount * sizeof(Sum)), aligned(alignof(Sum)), may_alias));
  static Type load(const Sum* from) { return *reinterpret_cast<const InMemory*>(from); }
  static void store(Sum* to, Type value) { *reinterpret_cast<InMemory*>(to) = value; }
};

template <FpSetting kSetting>
inline float flushed(float value) {
  return kHostFlushesDenormals || kSetting == kNearest ? value : isa::detail::flush(value);
}

/// a * b + c with one rounding, on every host.
template <class Vec, class Sum>
inline Vec fused(Sum a, Vec b, Vec c) {
#if defined(__FMA__)
  if constexpr (std::is_same_v<Sum, double>) return reinterpret_cast<Vec>(_mm256_fmadd_pd(_mm256_set1_pd(a), b, c));
  if constexpr (std::is_same_v<Sum, float> && sizeof(Vec) == 32) return _mm256_fmadd_ps(_mm256_set1_ps(a), b, c);
  if constexpr (std::is_same_v<Sum, float> && sizeof(Vec) == 16) return _mm_fmadd_ps(_mm_set1_ps(a), b, c);
#else
  for (unsigned i = 0; i < sizeof(Vec) / sizeof(Sum); ++i) {
    if constexpr (std::is_same_v<Sum, double>) {
      c[i] = __builtin_fma(a, b[i], c[i]);
    } else {
      c[i] = __builtin_fmaf(a, b[i], c[i]);
    }
  }
  return c;
#endif
}

// -- kinds of elements: their layout in a lane's registers for A and B, and one step of the sum

struct F32 {
  using Element = float;
  using Sum = float;
  static constexpr unsigned kPerLane = 1, kWords = 1, kSumWords = 1, kRowsInRegisters = 4;
  static constexpr FpSetting kSetting = kNearest;
  static constexpr std::uint32_t kNan = 0xffc00000;
  static Element element(const std::uint32_t* planes, unsigned, unsigned lane) { return std::bit_cast<float>(planes[lane]); }
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    return fused(a, b, c);
  }
};

/// f16 and bf16, summed in f32.
struct Narrow {
  using Element = float;
  using Sum = float;
  static constexpr unsigned kSumWords = 1, kRowsInRegisters = 4;
  static constexpr FpSetting kSetting = kNearestFlushed;
  static constexpr std::uint32_t kNan = 0xffc00000;
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    if constexpr (kHostFlushesDenormals) return a * b + c;
    for (unsigned i = 0; i < sizeof(Vec) / sizeof(Sum); ++i) {
      c[i] = isa::detail::flush(isa::detail::flush(a * b[i]) + isa::detail::flush(c[i]));
    }
    return c;
  }
  /// The item's 16 bits.
  static std::uint32_t bits(const std::uint32_t* planes, unsigned item, unsigned lane) {
    return (planes[(item / 2) * kLanes + lane] >> (16 * (item % 2))) & 0xffff;
  }
};
struct F16 : Narrow {
  static constexpr unsigned kPerLane = 4, kWords = 2;
  static constexpr bool kKeepsDenormals = false;
#if defined(__FMA__)
  // Products of two f16 are exact in f32, so a fused multiply-add gives the same bits as separate roundings.
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    return fused(a, b, c);
  }
#endif
  static Element element(const std::uint32_t* planes, unsigned item, unsigned lane) {
    const std::uint32_t half = bits(planes, item, lane);
    const std::uint32_t exponent = half & 0x7c00;
    // The biases of f32 and f16 differ by 112; for infinities and NaNs the difference is added twice; denormals become zero.
    const std::uint32_t magnitude = ((half & 0x7fff) << 13) + (exponent == 0x7c00 ? 224U << 23 : 112U << 23);
    return std::bit_cast<float>((half & 0x8000) << 16 | (exponent == 0 ? 0 : magnitude));
  }
};
struct Bf16 : Narrow {
  static constexpr unsigned kPerLane = 2, kWords = 1;
  static Element element(const std::uint32_t* planes, unsigned item, unsigned lane) {
    return flushed<kSetting>(std::bit_cast<float>(bits(planes, item, lane) << 16));
  }
};
struct Bf16Pairs : Bf16 {  // the "_1k" instructions: two registers
  static constexpr unsigned kPerLane = 4, kWords = 2;
};

struct I8 {
  using Element = std::uint32_t;  // sign-extended
  using Sum = std::uint32_t;      // wraps
  static constexpr unsigned kPerLane = 4, kWords = 1, kSumWords = 1, kRowsInRegisters = 4;
  static constexpr FpSetting kSetting = kNearest;
  static Element element(const std::uint32_t* planes, unsigned item, unsigned lane) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(planes[lane] << (24 - 8 * item)) >> 24);
  }
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    return a * b + c;
  }
};

struct F64 {
  using Element = double;
  using Sum = double;
  static constexpr unsigned kPerLane = 1, kWords = 2, kSumWords = 2, kRowsInRegisters = 1;
  static constexpr FpSetting kSetting = kNearest;
  static constexpr std::uint64_t kNan = 0xfff8000000000000;
  static Element element(const std::uint32_t* planes, unsigned, unsigned lane) {
    return std::bit_cast<double>(std::uint64_t{planes[lane]} | std::uint64_t{planes[kLanes + lane]} << 32);
  }
  template <class Vec>
  static Vec step(Element a, Vec b, Vec c) {
    return fused(a, b, c);
  }
};

struct Shape {
  unsigned m, n, k, blocks;
};

/// Position of D[block][row][0]: an item (a register, for f64 a pair) and a lane; further columns are in the next lanes.
struct Place {
  unsigned item, lane;
};
constexpr Place place_of_row(Shape shape, unsigned rows_in_registers, unsigned block, unsigned row) {
  // f64 with several blocks (4x4x4): rows are 16 lanes apart, blocks N lanes.
  if (rows_in_registers == 1 && shape.blocks > 1) return {0, 16 * row + shape.n * block};
  const unsigned blocks_in_lanes = (kLanes * rows_in_registers + shape.n * shape.m - 1) / (shape.n * shape.m);
  const unsigned groups_in_lanes = kLanes / blocks_in_lanes / shape.n;
  const unsigned groups_in_items = shape.m / (rows_in_registers * groups_in_lanes);
  const unsigned item = row % rows_in_registers + rows_in_registers * (row / (rows_in_registers * groups_in_lanes) +
                                                                       groups_in_items * (block / blocks_in_lanes));
  return {item, shape.n * ((row / rows_in_registers) % groups_in_lanes + groups_in_lanes * (block % blocks_in_lanes))};
}

/// The lane of B that BLGP substitutes for `lane`.
constexpr unsigned permuted_lane(unsigned lane, unsigned pattern) {
  if (pattern == 0) return lane;
  if (pattern <= 2) return lane % 32 + 32 * (pattern - 1);  // all lanes read the first or second 32 lanes
  if (pattern == 3) return (lane + 16) % kLanes;            // rotates by 16 lanes
  return lane % 16 + 16 * (pattern - 4);                    // all lanes read one of the four groups of 16 lanes
}

template <class Kind>
using Elements = std::array<std::array<typename Kind::Element, kLanes>, Kind::kPerLane>;

#if defined(__F16C__)
// As F16::element() and ExactHalves::element(), with the host's conversion instructions.
template <class Kind>
inline void load_halves(const std::uint32_t* planes, Elements<Kind>& elements) {
  const __m256i exponent = _mm256_set1_epi16(0x7c00);
  const __m256i magnitude = _mm256_set1_epi16(0x7fff);
  for (unsigned word = 0; word < Kind::kWords * kLanes; word += 8) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(planes + word));
    const __m256i tiny = _mm256_cmpeq_epi16(_mm256_and_si256(halves, exponent), _mm256_setzero_si256());
    const __m256i normal = Kind::kKeepsDenormals ? halves : _mm256_andnot_si256(_mm256_and_si256(tiny, magnitude), halves);
    const __m256 first = _mm256_cvtph_ps(_mm256_castsi256_si128(normal));
    const __m256 second = _mm256_cvtph_ps(_mm256_extracti128_si256(normal, 1));
    // `first` and `second` contain low and high halves alternately; the shuffles separate them.
    const auto in_order = [](__m256 v) { return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0xd8)); };
    const unsigned item = word / kLanes * 2;
    const unsigned lane = word % kLanes;
    _mm256_storeu_ps(elements[item].data() + lane, in_order(_mm256_shuffle_ps(first, second, 0x88)));
    _mm256_storeu_ps(elements[item + 1].data() + lane, in_order(_mm256_shuffle_ps(first, second, 0xdd)));
  }
}
#endif

template <class Kind>
inline void load_elements(const std::uint32_t* planes, Elements<Kind>& elements) {
#if defined(__F16C__)
  constexpr bool kHalves = requires { Kind::kKeepsDenormals; };
#else
  constexpr bool kHalves = false;
#endif
  if constexpr (kHalves) {
    load_halves<Kind>(planes, elements);
  } else {
    for (unsigned item = 0; item < Kind::kPerLane; ++item) {
      for (unsigned lane = 0; lane < kLanes; ++lane) elements[item][lane] = Kind::element(planes, item, lane);
    }
  }
  if constexpr (requires { Kind::factor(typename Kind::Element{}); }) {
    for (auto& item : elements) {
      for (auto& element : item) element = Kind::factor(element);
    }
  }
}

template <class Kind, unsigned kItems>
struct Accumulator {
  using Sum = typename Kind::Sum;
  static constexpr unsigned kSumWords = Kind::kSumWords;
  alignas(64) Sum sums[kItems][kLanes];  // deliberately not initialised: load() fills it

  void load(const Operand& operand, Wavefront& wave) {
    const bool vector = operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr;
    if (!vector) {
      const std::uint64_t bits = operand.value;
      Sum value;
      std::memcpy(&value, &bits, sizeof value);
      for (auto& item : sums) std::fill(std::begin(item), std::end(item), value);
    } else if constexpr (kSumWords == 1) {
      std::memcpy(sums, wave.planes(operand), sizeof sums);
    } else {
      const std::uint32_t* planes = wave.planes(operand);
      for (unsigned item = 0; item < kItems; ++item) {
        for (unsigned lane = 0; lane < kLanes; ++lane) sums[item][lane] = Kind::element(planes + 2 * item * kLanes, 0, lane);
      }
    }
  }

  void store(std::uint32_t* planes) const {
    if constexpr (kSumWords == 1) {
      std::memcpy(planes, sums, sizeof sums);
    } else {
      for (unsigned item = 0; item < kItems; ++item) {
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          const auto bits = std::bit_cast<std::uint64_t>(sums[item][lane]);
          planes[2 * item * kLanes + lane] = static_cast<std::uint32_t>(bits);
          planes[(2 * item + 1) * kLanes + lane] = static_cast<std::uint32_t>(bits >> 32);
        }
      }
    }
  }

  /// Transforms C before the first step, if the kind requires it.
  void begin() {
    if constexpr (requires { Kind::begin(Sum{}); }) {
      for (auto& item : sums) {
        for (Sum& sum : item) sum = Kind::begin(sum);
      }
    }
  }

  /// Transforms the sums after the last step, if the kind requires it.
  void end() {
    if constexpr (requires { Kind::end(Sum{}); }) {
      for (auto& item : sums) {
        for (Sum& sum : item) sum = Kind::end(sum);
      }
    }
    if constexpr (requires { Kind::kNan; }) {
      for (auto& item : sums) {
        for (Sum& sum : item) sum = __builtin_isnan(sum) ? std::bit_cast<Sum>(Kind::kNan) : sum;
      }
    }
  }
};

/// Number of rows of a block that are computed together: enough independent sums to use the host's pipelines, few enough for
/// its registers.
inline constexpr unsigned kRowsAtOnce = 4;

/// Adds A x B to `kRowsAtOnce` rows of one block.
template <class Kind, Shape kShape>
inline void multiply_rows(const Elements<Kind>& a, unsigned a_lane, const Elements<Kind>& b, unsigned b_lane,
                          const std::array<typename Kind::Sum*, kRowsAtOnce>& rows) {
  using Sum = typename Kind::Sum;
  constexpr unsigned kCount = std::min<unsigned>(kShape.n, kHostVectorBytes / sizeof(Sum));
  constexpr unsigned kVectors = std::min<unsigned>(kShape.n / kCount, 2);
  using Wide = Vector<Sum, kCount>;
  for (unsigned column = 0; column < kShape.n; column += kCount * kVectors) {
    typename Wide::Type sums[kRowsAtOnce][kVectors];
    const auto each = [&](auto&& body) __attribute__((always_inline)) {
#pragma GCC unroll 4
      for (unsigned r = 0; r < kRowsAtOnce; ++r) {
#pragma GCC unroll 2
        for (unsigned v = 0; v < kVectors; ++v) body(sums[r][v], r, v);
      }
    };
    each([&](auto& sum, unsigned r, unsigned v) { sum = Wide::load(rows[r] + column + v * kCount); });
    for (unsigned group = 0; group < kShape.k / Kind::kPerLane; ++group) {
      const unsigned in_a = group * kShape.blocks * kShape.m + a_lane;
      const unsigned in_b = group * kShape.blocks * kShape.n + b_lane + column;
#pragma GCC unroll 1  // unrolling would spill registers
      for (unsigned item = 0; item < Kind::kPerLane; ++item) {
        const typename Kind::Element* of_a = a[item].data() + in_a;
        const typename Kind::Element* of_b = b[item].data() + in_b;
        each([&](auto& sum, unsigned r, unsigned v) { sum = Kind::step(of_a[r], Wide::load(of_b + v * kCount), sum); });
      }
    }
    each([&](auto& sum, unsigned r, unsigned v) { Wide::store(rows[r] + column + v * kCount, sum); });
  }
}

/// D = A x B + C. Each group of `sharing` blocks uses block `shared` of the group as its A (CBSZ, ABID). `pattern` permutes the
/// lanes of B (BLGP).
template <class Kind, Shape kShape>
void multiply(const Instruction& instruction, Wavefront& wave, unsigned sharing, unsigned shared, unsigned pattern) {
  static_assert(kShape.k * kShape.m * kShape.blocks == kLanes * Kind::kPerLane);
  constexpr unsigned kItems = kShape.m * kShape.n * kShape.blocks / kLanes;
  set_host_fp(Kind::kSetting);
  Elements<Kind> a;
  Elements<Kind> b;
  load_elements<Kind>(wave.planes(instruction.src[0]), a);
  load_elements<Kind>(wave.planes(instruction.src[1]), b);
  if (pattern != 0) {
    const Elements<Kind> before = b;
    for (unsigned item = 0; item < Kind::kPerLane; ++item) {
      for (unsigned lane = 0; lane < kLanes; ++lane) b[item][lane] = before[item][permuted_lane(lane, pattern)];
    }
  }
  Accumulator<Kind, kItems> accumulator;
  accumulator.load(instruction.src[2], wave);
  accumulator.begin();
  for (unsigned block = 0; block < kShape.blocks; ++block) {
    const unsigned a_block = (block & ~(sharing - 1)) | shared;
    for (unsigned row = 0; row < kShape.m; row += kRowsAtOnce) {
      std::array<typename Kind::Sum*, kRowsAtOnce> rows;
      for (unsigned r = 0; r < kRowsAtOnce; ++r) {
        const Place place = place_of_row(kShape, Kind::kRowsInRegisters, block, row + r);
        rows[r] = &accumulator.sums[place.item][place.lane];
      }
      multiply_rows<Kind, kShape>(a, kShape.m * a_block + row, b, kShape.n * block, rows);
    }
  }
  accumulator.end();
  accumulator.store(wave.planes(instruction.dst[0]));
}

template <class Kind, Shape kShape>
void execute(const Instruction& instruction, Wavefront& wave) {
  const VectorModifiers& vop = instruction.vop;
  // A block cannot be broadcast to more blocks than exist, and f64 instructions have no CBSZ and BLGP fields (AMD's matrix
  // instruction calculator).
  const unsigned sharing = 1U << vop.cbsz;
  const bool has_fields = Kind::kSumWords == 1;
  if (sharing > kShape.blocks || vop.abid >= sharing || (!has_fields && (vop.blgp | vop.cbsz) != 0)) {
    return wave.raise(Event::illegal_instruction);
  }
  multiply<Kind, kShape>(instruction, wave, sharing, vop.abid, vop.blgp);
}

}  // namespace lacuna::isa::matrix
