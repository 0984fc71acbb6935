#include "matrix_tile.h"

#include <bit>
#include <cmath>
#include <limits>

namespace lacuna::programs {
namespace {

constexpr unsigned kSize = 16;
constexpr Type kUint2{Scalar::uint, 2};
constexpr Type kFloat2{Scalar::float_, 2};
constexpr Type kFloat4{Scalar::float_, 4};
constexpr Type kFloat8{Scalar::float_, 8};
constexpr Type kDouble{Scalar::double_, 1};
constexpr Type kDouble4{Scalar::double_, 4};

// The operators in the order of their codes, dense and sparse; addnorm has no sparse form.
constexpr std::array kTiles{
    MatrixTile{"matrix_mma", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_minplus", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_maxplus", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_minmul", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_maxmul", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_minmax", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_maxmin", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_orand", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_addnorm", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_sparse_mma", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_sparse_minplus", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_sparse_maxplus", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_sparse_minmul", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_sparse_maxmul", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_sparse_minmax", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_sparse_maxmin", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_sparse_orand", kUint2, kUint2, kFloat4},
    MatrixTile{"matrix_tf32", kFloat2, kFloat2, kFloat4},
    MatrixTile{"matrix_fp32", kFloat2, kFloat2, kFloat4},
    MatrixTile{"matrix_fp32c", kFloat2, kFloat2, kFloat8},
    MatrixTile{"matrix_fp64", kDouble, kDouble, kDouble4},
};
constexpr unsigned kOperators = 9, kSparse = 8, kTf32 = 17, kFp32c = 19, kFp64 = 20;
enum Operator : unsigned { mma, minplus, maxplus, minmul, maxmul, minmax, maxmin, orand, addnorm };

float single(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t bits_of(float v) { return std::bit_cast<std::uint32_t>(v); }

float half(std::uint32_t bits) {
  const auto exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<float>(bits & 0x3ff);
  float magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// Flushes denormals to zero. Used only by the operator mma, for its halves and sums.
float flushed(float v, float least_normal) { return std::fabs(v) < least_normal ? std::copysign(0.0F, v) : v; }

float step(Operator op, float a, float b, float sum) {
  constexpr float kLeastHalf = 0x1p-14F;
  constexpr float kLeastSingle = 0x1p-126F;
  const bool none = std::isnan(a) || std::isnan(b);
  float x = 0;
  switch (op) {
    case mma:
      return flushed(flushed(a, kLeastHalf) * flushed(b, kLeastHalf) + flushed(sum, kLeastSingle), kLeastSingle);
    case orand:
      return sum != 0 || (a != 0 && b != 0) ? 1 : 0;
    case addnorm:
      x = a - b;
      return std::fma(x, x, sum);
    case minplus:
    case maxplus:
      x = a + b;
      break;
    case minmul:
    case maxmul:
      x = a * b;
      break;
    case minmax:
      x = a > b ? a : b;
      break;
    case maxmin:
      x = a < b ? a : b;
      break;
  }
  const bool least = op == minplus || op == minmul || op == minmax;
  if (std::isnan(sum)) sum = least ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
  return !none && (least ? x < sum : x > sum) ? x : sum;
}

std::uint32_t half_bits(const std::array<std::uint32_t, 2>& registers, unsigned item) {
  return registers[item / 2] >> (16 * (item % 2)) & 0xffff;
}

float tf32(std::uint32_t bits) { return single((bits & 0x7fffffff) > 0x7f800000 ? bits : bits & 0xffffe000); }

double wide(const std::uint32_t* words) { return std::bit_cast<double>(std::uint64_t{words[1]} << 32 | words[0]); }

}  // namespace

std::span<const MatrixTile> matrix_tiles() { return kTiles; }

std::array<std::uint32_t, 8> tile_result(std::span<const TileOperands, kTileItems> items, unsigned lane) {
  const unsigned tile = items[lane].tile;
  const unsigned column = lane % kSize;
  std::array<std::uint32_t, 8> d = items[lane].c;
  if (tile == kFp32c || tile == kFp64) {
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned row = 4 * j + lane / kSize;
      for (unsigned k = 0; k < 4; ++k) {
        const TileOperands& of_a = items[row + kSize * k];
        const TileOperands& of_b = items[column + kSize * k];
        std::uint32_t* const sum = &d[std::size_t{2} * j];
        if (tile == kFp64) {
          const auto bits = std::bit_cast<std::uint64_t>(std::fma(wide(of_a.a.data()), wide(of_b.b.data()), wide(sum)));
          sum[0] = static_cast<std::uint32_t>(bits);
          sum[1] = static_cast<std::uint32_t>(bits >> 32);
          continue;
        }
        const float a_re = single(of_a.a[0]), a_im = single(of_a.a[1]);
        const float b_re = single(of_b.b[0]), b_im = single(of_b.b[1]);
        sum[0] = bits_of(std::fma(-a_im, b_im, std::fma(a_re, b_re, single(sum[0]))));
        sum[1] = bits_of(std::fma(a_im, b_re, std::fma(a_re, b_im, single(sum[1]))));
      }
    }
    return d;
  }
  for (unsigned r = 0; r < 4; ++r) {
    const unsigned row = lane / kSize * 4 + r;
    float sum = single(d[r]);
    if (tile >= kTf32) {
      const auto number = tile == kTf32 ? tf32 : single;
      for (unsigned k = 0; k < 8; ++k) {
        sum = std::fma(number(items[row + kSize * (k / 2)].a[k % 2]), number(items[column + kSize * (k / 2)].b[k % 2]), sum);
      }
    } else {
      const bool sparse = tile >= kOperators;
      const auto op = static_cast<Operator>(sparse ? tile - kOperators : tile);
      static_assert(kOperators + kSparse == kTf32);
      for (unsigned k = 0; k < (sparse ? 8U : 16U); ++k) {
        const unsigned group = sparse ? k / 2 : k / 4;
        const TileOperands& of_a = items[row + kSize * group];
        const unsigned position = sparse ? of_a.a[1] >> (2 * (k % 2)) & 3 : k % 4;
        const float a = half(half_bits(of_a.a, sparse ? k % 2 : k % 4));
        sum = step(op, a, half(half_bits(items[column + kSize * group].b, position)), sum);
      }
    }
    d[r] = bits_of(sum);
  }
  return d;
}

}  // namespace lacuna::programs
