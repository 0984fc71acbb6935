// Planes of 64 lanes: filling, masks, and settling NaN results.
#include <algorithm>
#include <cstring>

#include "models/isa/decode/operand.h"
#include "models/isa/vector/valu_execute.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace lacuna::isa {
namespace {

constexpr std::uint32_t kDefaultNan32 = 0xffc00000;
constexpr std::uint64_t kDefaultNan64 = 0xfff8000000000000;
constexpr std::uint32_t kDefaultNan16 = 0xfe00;

// A lane's value in the f64 format if it is a NaN, otherwise 0. An f64 has room for the payloads of f32 and f16 NaNs.
std::uint64_t widen_nan(const Argument& argument, const std::uint32_t* planes, unsigned lane) {
  switch (argument.type) {
    case OperandType::f64: {
      const std::uint64_t bits = std::uint64_t{planes[lane]} | std::uint64_t{planes[lane + kLanes]} << 32;
      return (bits & 0x7fffffffffffffffULL) > 0x7ff0000000000000ULL ? bits : 0;
    }
    case OperandType::f16: {
      const std::uint64_t bits = planes[lane] & 0xffff;
      return (bits & 0x7fff) > 0x7c00 ? (bits & 0x8000) << 48 | 0x7ff0000000000000ULL | (bits & 0x3ff) << 42 : 0;
    }
    default: {
      const std::uint64_t bits = planes[lane];
      return (bits & 0x7fffffff) > 0x7f800000 ? (bits & 0x80000000) << 32 | 0x7ff0000000000000ULL | (bits & 0x7fffff) << 29 : 0;
    }
  }
}

void write_nan(OperandType type, std::uint64_t nan, std::uint32_t* planes, unsigned lane) {
  const auto sign = static_cast<std::uint32_t>(nan >> 63);
  const std::uint64_t quiet = nan | 0x0008000000000000ULL;
  switch (type) {
    case OperandType::f64: {
      const std::uint64_t bits = nan != 0 ? quiet : kDefaultNan64;
      planes[lane] = static_cast<std::uint32_t>(bits);
      planes[lane + kLanes] = static_cast<std::uint32_t>(bits >> 32);
      break;
    }
    case OperandType::f16:
      planes[lane] = nan != 0 ? sign << 15 | 0x7c00 | (static_cast<std::uint32_t>(quiet >> 42) & 0x3ff) : kDefaultNan16;
      break;
    default:
      planes[lane] = nan != 0 ? sign << 31 | 0x7f800000 | (static_cast<std::uint32_t>(quiet >> 29) & 0x7fffff) : kDefaultNan32;
      break;
  }
}

// Whether an f32 is zero once denormals are flushed.
bool flushed_zero(std::uint32_t bits) { return (bits & 0x7f80'0000) == 0; }

}  // namespace

void settle_nans(const OperationShape& shape, const LaneIo& io) {
  const OperandType type = shape.result.type;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (widen_nan(shape.result, io.out, lane) == 0) continue;
    std::uint64_t nan = 0;
    for (unsigned i = 0; i < shape.count && nan == 0; ++i) {
      const Argument& argument = shape.arguments[i];
      const bool silenced = shape.zero_silences && i < 2 && flushed_zero(io.in[1 - i][lane]);
      if (argument.arithmetic && !silenced) nan = widen_nan(argument, io.in[i], lane);
    }
    write_nan(type, nan, io.out, lane);
  }
}

void store_settled(const OperationShape& shape, const LaneIo& io, Planes<1>& results) {
  LaneIo apart = io;
  apart.out = results.words;
  settle_nans(shape, apart);
  copy_words<kLanes>(io.out, results.words);
}

// Not inlined, so that only this path saves and restores the registers that it needs.
[[gnu::noinline]] static void broadcast_wide(const Operand& operand, const Wavefront& wave, std::uint32_t* buffer,
                                             unsigned planes) {
  const std::uint64_t value = read_scalar64(operand, wave);
  std::fill_n(buffer, kLanes, static_cast<std::uint32_t>(value));
  std::fill_n(buffer + kLanes, kLanes, static_cast<std::uint32_t>(value >> 32));
  for (unsigned plane = 2; plane < planes; ++plane) {
    // A 128-bit source in SGPRs; the upper words of a constant are zero.
    const bool is_register = operand.kind == OperandKind::sgpr && operand.index + plane < wave.sgpr.size();
    std::fill_n(buffer + plane * kLanes, kLanes, is_register ? wave.sgpr[operand.index + plane] : 0);
  }
}

const std::uint32_t* broadcast(const Operand& operand, const Wavefront& wave, std::uint32_t* buffer, unsigned planes) {
  if (planes == 1) {
    std::fill_n(buffer, kLanes, read_scalar32(operand, wave));
  } else if (planes == 0) {
    expand_mask(read_scalar64(operand, wave), buffer);
  } else {
    broadcast_wide(operand, wave, buffer, planes);
  }
  return buffer;
}

void join_planes(const std::uint32_t* planes, std::uint64_t* joined) {
#if defined(__AVX2__)
  // Lanes 0 1 4 5 2 3 6 7 of each eight: the result of one unpack instruction.
  for (unsigned group = 0; group < kLanes; group += 8) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(planes + group));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(planes + kLanes + group));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(joined + group), _mm256_unpacklo_epi32(low, high));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(joined + group + 4), _mm256_unpackhi_epi32(low, high));
  }
#else
  for (unsigned lane = 0; lane < kLanes; ++lane)
    joined[lane] = std::uint64_t{planes[lane]} | std::uint64_t{planes[kLanes + lane]} << 32;
#endif
}

void split_planes(const std::uint64_t* joined, std::uint32_t* planes) {
#if defined(__AVX2__)
  for (unsigned group = 0; group < kLanes; group += 8) {
    const __m256 first = _mm256_loadu_ps(reinterpret_cast<const float*>(joined + group));
    const __m256 second = _mm256_loadu_ps(reinterpret_cast<const float*>(joined + group + 4));
    _mm256_storeu_ps(reinterpret_cast<float*>(planes + group), _mm256_shuffle_ps(first, second, 0x88));
    _mm256_storeu_ps(reinterpret_cast<float*>(planes + kLanes + group), _mm256_shuffle_ps(first, second, 0xdd));
  }
#else
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    planes[lane] = static_cast<std::uint32_t>(joined[lane]);
    planes[kLanes + lane] = static_cast<std::uint32_t>(joined[lane] >> 32);
  }
#endif
}

#if defined(__F16C__)
void halves_to_floats(const std::uint32_t* halves, float* floats, bool flush_denormals) {
  const __m256i low = _mm256_set1_epi32(0xffff);
  const __m256i exponent = _mm256_set1_epi32(flush_denormals ? 0x7c00 : 0);
  const __m256i magnitude = _mm256_set1_epi32(flush_denormals ? 0x7fff : 0);
  for (unsigned group = 0; group < kLanes; group += 8) {
    __m256i words = _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves + group)), low);
    const __m256i tiny = _mm256_cmpeq_epi32(_mm256_and_si256(words, exponent), _mm256_setzero_si256());
    words = _mm256_andnot_si256(_mm256_and_si256(tiny, magnitude), words);
    const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm256_storeu_ps(floats + group, _mm256_cvtph_ps(packed));
  }
}

void floats_to_halves(const float* floats, std::uint32_t* halves, bool flush_denormals) {
  const __m256i least = _mm256_set1_epi32(flush_denormals ? 0x0400 : 0);
  const __m256i magnitude = _mm256_set1_epi32(0x7fff);
  for (unsigned group = 0; group < kLanes; group += 8) {
    const __m256i words = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(_mm256_loadu_ps(floats + group), _MM_FROUND_CUR_DIRECTION));
    const __m256i size = _mm256_and_si256(words, magnitude);
    const __m256i tiny = _mm256_and_si256(_mm256_cmpgt_epi32(least, size), magnitude);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(halves + group), _mm256_andnot_si256(tiny, words));
  }
}
#else
void halves_to_floats(const std::uint32_t* halves, float* floats, bool flush_denormals) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const bool zero = flush_denormals && (halves[lane] & 0x7c00) == 0;
    floats[lane] = half_to_float(zero ? halves[lane] & 0x8000 : halves[lane]);
  }
}
void floats_to_halves(const float* floats, std::uint32_t* halves, bool flush_denormals) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    halves[lane] = round_to_half(static_cast<double>(floats[lane]), rounding_of(detail::current_fp_setting), flush_denormals);
  }
}
#endif

void expand_mask(std::uint64_t bits, std::uint32_t* words) {
#if defined(__AVX2__)
  const __m256i first_places = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  for (unsigned half = 0; half < kLanes; half += 32) {
    const __m256i word = _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(bits >> half)));
    for (unsigned group = 0; group < 32; group += 8) {
      const __m256i places = _mm256_slli_epi32(first_places, static_cast<int>(group));
      const __m256i set = _mm256_cmpeq_epi32(_mm256_and_si256(word, places), places);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + half + group), set);
    }
  }
#else
  for (unsigned lane = 0; lane < kLanes; ++lane) words[lane] = 0U - static_cast<std::uint32_t>((bits >> lane) & 1);
#endif
}

std::uint64_t pack_mask(const std::uint32_t* words) {
  std::uint64_t bits = 0;
#if defined(__AVX2__)
  // Saturation keeps signs. Packing works within 128-bit halves: the last step restores the order of groups of four.
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const auto eight = [words](unsigned first) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + first)); };
  for (unsigned half = 0; half < kLanes; half += 32) {
    const __m256i low = _mm256_packs_epi32(eight(half), eight(half + 8));
    const __m256i high = _mm256_packs_epi32(eight(half + 16), eight(half + 24));
    const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
    bits |= std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes))} << half;
  }
#else
  for (unsigned lane = 0; lane < kLanes; ++lane) bits |= std::uint64_t{words[lane] >> 31} << lane;
#endif
  return bits;
}

void keep_high_halves(std::uint32_t* words, const std::uint32_t* old) {
  for (unsigned lane = 0; lane < kLanes; ++lane) words[lane] = (old[lane] & 0xffff0000U) | (words[lane] & 0xffff);
}

void write_active_lanes(std::uint32_t* destination, const std::uint32_t* values, Wavefront& wave, unsigned planes) {
  const std::uint32_t* active = wave.lane_mask();
  for (unsigned plane = 0; plane < planes; ++plane) {
    std::uint32_t* to = destination + plane * kLanes;
    const std::uint32_t* from = values + plane * kLanes;
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane) to[lane] = (to[lane] & ~active[lane]) | (from[lane] & active[lane]);
  }
}

}  // namespace lacuna::isa
