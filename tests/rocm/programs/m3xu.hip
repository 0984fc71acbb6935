// lacuna/m3xu.h: products of every format, of sizes that are not multiples of a tile, from row- and column-major matrices,
// against the host's; and where the items of fragments are.
#include "lacuna/m3xu.h"

#include <algorithm>

#include "../check.h"

constexpr unsigned kM = 37, kN = 45, kK = 29;

template <m3xu::format f>
using Element = typename m3xu::fragment<m3xu::matrixa, f>::element;
template <m3xu::format f>
using Sum = typename m3xu::fragment<m3xu::accum, f>::element;

// A row-major, B column-major; and the other way round.
template <m3xu::format f>
__global__ void products(Sum<f>* d, Sum<f>* e, const Element<f>* a, const Element<f>* b, const Sum<f>* c) {
  m3xu::gemm<f, m3xu::row_major, m3xu::column_major>(d, a, b, c, kM, kN, kK, kK, kK, kN);
  m3xu::gemm<f, m3xu::column_major, m3xu::row_major>(e, a, b, nullptr, kM, kN, kK, kM, kN, kN);
}

static float add(float a, float b, float sum) { return std::fma(a, b, sum); }
static double add(double a, double b, double sum) { return std::fma(a, b, sum); }
static m3xu::complex add(m3xu::complex a, m3xu::complex b, m3xu::complex sum) {
  return {std::fma(-a.im, b.im, std::fma(a.re, b.re, sum.re)), std::fma(a.im, b.re, std::fma(a.re, b.im, sum.im))};
}

// What a format makes of a number in [-1, 1): of halves eighths, whose sums are exact in any order.
template <m3xu::format f>
static Element<f> element(float value) {
  if constexpr (f == m3xu::fp16) {
    return static_cast<_Float16>(std::floor(8 * value) / 8);
  } else if constexpr (f == m3xu::bf16) {
    return m3xu::to_bfloat16(std::floor(8 * value) / 8);
  } else if constexpr (f == m3xu::fp32c) {
    return {value, 1 - 3 * value};
  } else {
    return value;
  }
}
// What it computes with.
template <m3xu::format f>
static Sum<f> operand(Element<f> value) {
  if constexpr (f == m3xu::bf16) {
    return m3xu::to_float(value);
  } else if constexpr (f == m3xu::tf32) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits &= 0xffffe000;
    std::memcpy(&value, &bits, sizeof bits);
    return value;
  } else {
    return value;
  }
}

template <m3xu::format f>
static void test(const char* name) {
  const auto number = [](unsigned i) { return static_cast<float>(check::scramble(i) % (1 << 20)) / (1 << 19) - 1; };
  std::vector<Element<f>> a(kM * kK), b(kK * kN);
  std::vector<Sum<f>> c(kM * kN), expected_d(c), expected_e(kM * kN);
  for (unsigned i = 0; i < a.size(); ++i) a[i] = element<f>(number(i));
  for (unsigned i = 0; i < b.size(); ++i) b[i] = element<f>(number(i + 10000));
  for (unsigned i = 0; i < c.size(); ++i) {
    if constexpr (f == m3xu::fp32c) {
      c[i] = {number(i + 20000), number(i + 30000)};
    } else {
      c[i] = std::floor(8 * number(i + 20000)) / 8;
    }
  }
  expected_d = c;
  for (unsigned i = 0; i < kM * kN; ++i) {
    const unsigned row = i / kN, column = i % kN;
    for (unsigned k = 0; k < kK; ++k) {
      expected_d[i] = add(operand<f>(a[row * kK + k]), operand<f>(b[column * kK + k]), expected_d[i]);
      expected_e[i] = add(operand<f>(a[k * kM + row]), operand<f>(b[k * kN + column]), expected_e[i]);
    }
  }
  const check::DeviceArray<Element<f>> device_a(a), device_b(b);
  const check::DeviceArray<Sum<f>> device_c(c), d(c.size()), e(c.size());
  products<f><<<2, 128>>>(d.data(), e.data(), device_a.data(), device_b.data(), device_c.data());
  HIP_CHECK(hipDeviceSynchronize());
  const auto wrong = [](const std::vector<Sum<f>>& got, const std::vector<Sum<f>>& expected) {
    unsigned count = 0;
    for (unsigned i = 0; i < got.size(); ++i) count += std::memcmp(&got[i], &expected[i], sizeof got[i]) != 0;
    return count;
  };
  std::printf("%s\n", name);
  EXPECT_EQ(wrong(d.download(), expected_d), 0u);
  EXPECT_EQ(wrong(e.download(), expected_e), 0u);
}

// An item is where row() and column() say.
__global__ void items(unsigned* places) {
  m3xu::fragment<m3xu::accum, m3xu::fp32> real;
  m3xu::fragment<m3xu::accum, m3xu::fp64> wide;
  m3xu::fill(real, 0.0f);
  for (unsigned t = 0; t < real.size; ++t) places[threadIdx.x * 8 + t] = real.row(t) * 16 + real.column(t);
  for (unsigned t = 0; t < wide.size; ++t) places[threadIdx.x * 8 + 4 + t] = wide.row(t) * 16 + wide.column(t);
}

int main() {
  test<m3xu::fp16>("fp16");
  test<m3xu::bf16>("bf16");
  test<m3xu::tf32>("tf32");
  test<m3xu::fp32>("fp32");
  test<m3xu::fp32c>("fp32c");
  test<m3xu::fp64>("fp64");
  const check::DeviceArray<unsigned> places(64 * 8);
  items<<<1, 64>>>(places.data());
  const std::vector<unsigned> got = places.download();
  for (unsigned first = 0; first < 8; first += 4) {
    std::vector<unsigned> seen;
    for (unsigned i = 0; i < got.size(); ++i) {
      if (i % 8 / 4 == first / 4) seen.push_back(got[i]);
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EACH(seen, [](size_t i) { return static_cast<unsigned>(i); });
  }
  EXPECT_EQ(m3xu::to_float(m3xu::to_bfloat16(1.00390625f)), 1.0f);  // a tie, to even
  EXPECT_TRUE(std::isnan(m3xu::to_float(m3xu::to_bfloat16(NAN))));
  return check::result();
}
