// lacuna/m3xu.h: products of every format, of sizes that are not multiples of a tile, from row- and column-major matrices,
// against the host's; and where the items of fragments are.
#include "lacuna/m3xu.h"

#include <algorithm>

#include "../check.h"

struct Size {
  unsigned m, n, k;
};

template <m3xu::format f>
using Element = typename m3xu::fragment<m3xu::matrixa, f>::element;
template <m3xu::format f>
using Sum = typename m3xu::fragment<m3xu::accum, f>::element;

// A row-major, B column-major; and the other way round.
template <m3xu::format f>
__global__ void products(Sum<f>* d, Sum<f>* e, const Element<f>* a, const Element<f>* b, const Sum<f>* c, Size s) {
  m3xu::gemm<f, m3xu::row_major, m3xu::column_major>(d, a, b, c, s.m, s.n, s.k, s.k, s.k, s.n);
  m3xu::gemm<f, m3xu::column_major, m3xu::row_major>(e, a, b, nullptr, s.m, s.n, s.k, s.m, s.n, s.n);
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
static Element<f> number_of(double value) {
  if constexpr (f == m3xu::bf16) {
    return m3xu::to_bfloat16(static_cast<float>(value));
  } else {
    return static_cast<Element<f>>(value);
  }
}

// The same, or one element in place of none: there is no memory of no size.
template <class T>
static std::vector<T> or_one(std::vector<T> values) {
  if (values.empty()) values.resize(1);
  return values;
}

template <m3xu::format f>
static void test(const char* name, Size s) {
  const auto number = [](unsigned i) { return static_cast<float>(check::scramble(i) % (1 << 20)) / (1 << 19) - 1; };
  std::vector<Element<f>> a(s.m * s.k), b(s.k * s.n);
  std::vector<Sum<f>> c(s.m * s.n), expected_d(c), expected_e(s.m * s.n);
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
  for (unsigned i = 0; i < s.m * s.n; ++i) {
    const unsigned row = i / s.n, column = i % s.n;
    for (unsigned k = 0; k < s.k; ++k) {
      expected_d[i] = add(operand<f>(a[row * s.k + k]), operand<f>(b[column * s.k + k]), expected_d[i]);
      expected_e[i] = add(operand<f>(a[k * s.m + row]), operand<f>(b[k * s.n + column]), expected_e[i]);
    }
  }
  const check::DeviceArray<Element<f>> device_a(or_one(a)), device_b(or_one(b));
  const check::DeviceArray<Sum<f>> device_c(c), d(c.size()), e(c.size());
  products<f><<<2, 128>>>(d.data(), e.data(), device_a.data(), device_b.data(), device_c.data(), s);
  HIP_CHECK(hipDeviceSynchronize());
  const auto wrong = [](const std::vector<Sum<f>>& got, const std::vector<Sum<f>>& expected) {
    unsigned count = 0;
    for (unsigned i = 0; i < got.size(); ++i) count += std::memcmp(&got[i], &expected[i], sizeof got[i]) != 0;
    return count;
  };
  const unsigned wrong_d = wrong(d.download(), expected_d), wrong_e = wrong(e.download(), expected_e);
  if (wrong_d + wrong_e != 0) std::printf("%s, %u x %u x %u\n", name, s.m, s.n, s.k);
  EXPECT_EQ(wrong_d, 0u);
  EXPECT_EQ(wrong_e, 0u);
}

// Products that round to -0, and of -0 with C = -0: what stands in for elements beyond k keeps the sign.
template <m3xu::format f>
static void test_sign(const char* name, double tiny) {
  for (unsigned k = 0; k <= 17; ++k) {
    for (const bool zero : {false, true}) {
      Element<f> left, right;
      Sum<f> sum;
      if constexpr (f == m3xu::fp32c) {
        left = {zero ? -0.0f : static_cast<float>(-tiny), 0.0f};
        right = {zero ? 1.0f : static_cast<float>(tiny), 0.0f};
        sum = {zero ? -0.0f : 0.0f, -0.0f};
      } else {
        left = number_of<f>(zero ? -0.0 : -tiny);
        right = number_of<f>(zero ? 1.0 : tiny);
        sum = zero ? -0.0f : 0.0f;
      }
      const check::DeviceArray<Element<f>> a(std::vector<Element<f>>(k + 1, left)), b(std::vector<Element<f>>(k + 1, right));
      const check::DeviceArray<Sum<f>> c(std::vector<Sum<f>>(1, sum)), d(1), e(1);
      Sum<f> expected = sum;
      for (unsigned i = 0; i < k; ++i) expected = add(operand<f>(left), operand<f>(right), expected);
      products<f><<<1, 64>>>(d.data(), e.data(), a.data(), b.data(), c.data(), Size{1, 1, k});
      HIP_CHECK(hipDeviceSynchronize());
      const std::vector<Sum<f>> got = d.download();
      const bool same = std::memcmp(got.data(), &expected, sizeof expected) == 0;
      if (!same) std::printf("%s, k = %u, %s\n", name, k, zero ? "zeros" : "tiny numbers");
      EXPECT_TRUE(same);
    }
  }
}

template <m3xu::format f>
static void test_all(const char* name, double tiny) {
  constexpr unsigned depth = m3xu::fragment<m3xu::matrixa, f>::columns;
  for (const unsigned k : {0u, 1u, depth - 1, depth, depth + 1, 2 * depth - 1, 29u}) test<f>(name, {37, 45, k});
  for (const unsigned m : {1u, 15u, 16u, 17u, 31u, 32u, 33u}) {
    for (const unsigned n : {1u, 15u, 16u, 17u, 33u}) test<f>(name, {m, n, depth + 1});
  }
  test_sign<f>(name, tiny);
}

// An item is where row() and column() say.
__global__ void items(unsigned* places) {
  m3xu::fragment<m3xu::accum, m3xu::fp32> real;
  m3xu::fragment<m3xu::accum, m3xu::fp64> wide;
  m3xu::fill(real, 0.0f);
  for (unsigned t = 0; t < real.size; ++t) places[threadIdx.x * 8 + t] = real.row(t) * 16 + real.column(t);
  for (unsigned t = 0; t < wide.size; ++t) places[threadIdx.x * 8 + 4 + t] = wide.row(t) * 16 + wide.column(t);
}

int main(int argc, char** argv) {
  if (argc > 1) {  // a wavefront that is filled in part: ends with an error
    const check::DeviceArray<float> memory(1024);
    products<m3xu::fp32>
        <<<1, std::atoi(argv[1])>>>(memory.data(), memory.data(), memory.data(), memory.data(), nullptr, Size{1, 1, 1});
    HIP_CHECK(hipDeviceSynchronize());
    return 0;
  }
  test_all<m3xu::fp16>("fp16", 1);
  test_all<m3xu::bf16>("bf16", 1);
  test_all<m3xu::tf32>("tf32", std::ldexp(1, -100));
  test_all<m3xu::fp32>("fp32", std::ldexp(1, -100));
  test_all<m3xu::fp32c>("fp32c", std::ldexp(1, -100));
  test_all<m3xu::fp64>("fp64", std::ldexp(1, -600));
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
