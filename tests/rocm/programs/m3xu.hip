// Tests lacuna/m3xu.h: products in every format, with sizes that are not multiples of a tile, of row- and column-major
// matrices, compared with the host's products; and the positions of items in fragments. Both the HIP kernels and the OpenCL C
// kernels of the module, which is the first argument, are tested.
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

// Computes D with A row-major and B column-major, and E with A column-major and B row-major.
template <m3xu::format f>
__global__ void products(Sum<f>* d, Sum<f>* e, const Element<f>* a, const Element<f>* b, const Sum<f>* c, Size s) {
  m3xu::gemm<f, m3xu::row_major, m3xu::column_major>(d, a, b, c, s.m, s.n, s.k, s.k, s.k, s.n);
  m3xu::gemm<f, m3xu::column_major, m3xu::row_major>(e, a, b, nullptr, s.m, s.n, s.k, s.m, s.n, s.n);
}

/// OpenCL C versions of the kernels, from m3xu.cl.
static hipModule_t opencl;

/// Runs the HIP and the OpenCL C kernel, and passes D and E of each to `check`.
template <m3xu::format f, class Check>
static void run(const char* name, const Element<f>* a, const Element<f>* b, const Sum<f>* c, Size s, dim3 workgroups,
                dim3 workgroup, Check check) {
  const size_t count = std::max(s.m * s.n, 1u);
  {
    const check::DeviceArray<Sum<f>> d(count), e(count);
    products<f><<<workgroups, workgroup>>>(d.data(), e.data(), a, b, c, s);
    HIP_CHECK(hipDeviceSynchronize());
    check("HIP", d.download(), e.download());
  }
  const check::DeviceArray<Sum<f>> d(count), e(count);
  hipFunction_t function;
  HIP_CHECK(hipModuleGetFunction(&function, opencl, (std::string("products_") + name).c_str()));
  auto *to_d = d.data(), *to_e = e.data();
  void* arguments[] = {&to_d, &to_e, &a, &b, &c, &s.m, &s.n, &s.k};
  HIP_CHECK(hipModuleLaunchKernel(function, workgroups.x, workgroups.y, workgroups.z, workgroup.x, workgroup.y, workgroup.z, 0,
                                  nullptr, arguments, nullptr));
  HIP_CHECK(hipDeviceSynchronize());
  check("OpenCL C", d.download(), e.download());
}

static float add(float a, float b, float sum) { return std::fma(a, b, sum); }
static double add(double a, double b, double sum) { return std::fma(a, b, sum); }
static m3xu::complex add(m3xu::complex a, m3xu::complex b, m3xu::complex sum) {
  return {std::fma(-a.im, b.im, std::fma(a.re, b.re, sum.re)), std::fma(a.im, b.re, std::fma(a.re, b.im, sum.im))};
}

// A number in a format: fp16 and bf16 round it down to a multiple of 1/8, so that sums are exact in any order; for fp32c it is
// the real part.
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
// The value with which the unit computes: TF32 truncates it.
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

// Returns the vector itself, or a vector of one element if it is empty, since memory of size zero cannot be allocated.
template <class T>
static std::vector<T> or_one(std::vector<T> values) {
  if (values.empty()) values.resize(1);
  return values;
}

// A pseudo-random number in [-1, 1).
static float number(unsigned i) { return static_cast<float>(check::scramble(i) % (1 << 20)) / (1 << 19) - 1; }
// A few infinities and NaNs, zeros of both signs, denormals, and numbers whose products are denormals or smaller.
static float special(unsigned i) {
  const unsigned kind = check::scramble(i + 50000) % 128;
  const float sign = number(i) < 0 ? -1 : 1;
  if (kind == 0) return std::nanf("");
  if (kind == 1) return sign * INFINITY;
  if (kind < 24) return sign * 0.0f;
  if (kind < 48) return number(i) * 1e-39f;
  return number(i) * (kind < 64 ? 1e-30f : 1e-20f);
}

// Whether two numbers have the same bits; NaNs are considered equal.
static bool same(float got, float expected) {
  return std::memcmp(&got, &expected, sizeof got) == 0 || (std::isnan(got) && std::isnan(expected));
}
static bool same(double got, double expected) {
  return std::memcmp(&got, &expected, sizeof got) == 0 || (std::isnan(got) && std::isnan(expected));
}
static bool same(m3xu::complex got, m3xu::complex expected) { return same(got.re, expected.re) && same(got.im, expected.im); }

template <m3xu::format f>
static void test(const char* name, Size s, dim3 workgroups = 2, dim3 workgroup = 128, float (*values)(unsigned) = number) {
  std::vector<Element<f>> a(s.m * s.k), b(s.k * s.n);
  std::vector<Sum<f>> c(s.m * s.n), expected_d(c), expected_e(s.m * s.n);
  for (unsigned i = 0; i < a.size(); ++i) a[i] = element<f>(values(i));
  for (unsigned i = 0; i < b.size(); ++i) b[i] = element<f>(values(i + 10000));
  for (unsigned i = 0; i < c.size(); ++i) {
    if constexpr (f == m3xu::fp32c) {
      c[i] = {values(i + 20000), values(i + 30000)};
    } else {
      c[i] = values == special ? special(i + 20000) : std::floor(8 * values(i + 20000)) / 8;
    }
  }
  if constexpr (f == m3xu::fp64) {
    // Scales special values so that, as with the single-precision inputs, products become denormal.
    const double scale = values == special ? std::ldexp(1, -450) : 1;
    for (double& value : a) value *= scale;
    for (double& value : b) value *= scale;
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
  const check::DeviceArray<Sum<f>> device_c(c);
  const auto wrong = [](const std::vector<Sum<f>>& got, const std::vector<Sum<f>>& expected) {
    unsigned count = 0;
    for (unsigned i = 0; i < got.size(); ++i) count += !same(got[i], expected[i]);
    return count;
  };
  run<f>(name, device_a.data(), device_b.data(), device_c.data(), s, workgroups, workgroup,
         [&](const char* language, const std::vector<Sum<f>>& d, const std::vector<Sum<f>>& e) {
           const unsigned wrong_d = wrong(d, expected_d), wrong_e = wrong(e, expected_e);
           if (wrong_d + wrong_e != 0) std::printf("%s, %s, %u x %u x %u\n", language, name, s.m, s.n, s.k);
           EXPECT_EQ(wrong_d, 0u);
           EXPECT_EQ(wrong_e, 0u);
         });
}

// Tests sums of products that round to -0, and sums of C = -0 and products that are -0: the padding for elements beyond k must
// preserve the sign.
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
      const check::DeviceArray<Sum<f>> c(std::vector<Sum<f>>(1, sum));
      Sum<f> expected = sum;
      for (unsigned i = 0; i < k; ++i) expected = add(operand<f>(left), operand<f>(right), expected);
      // A product by a wavefront, and one by a workgroup.
      for (const unsigned work_items : {64u, 256u}) {
        run<f>(name, a.data(), b.data(), c.data(), Size{1, 1, k}, 1, work_items,
               [&](const char* language, const std::vector<Sum<f>>& got, const std::vector<Sum<f>>&) {
                 const bool right = std::memcmp(got.data(), &expected, sizeof expected) == 0;
                 if (!right) std::printf("%s, %s, k = %u, %s\n", language, name, k, zero ? "zeros" : "tiny numbers");
                 EXPECT_TRUE(right);
               });
      }
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
  // Workgroups of other sizes, several tiles for each, and launches of three dimensions.
  for (const unsigned k : {depth * 2 - 1, depth * 6, 70u}) {
    test<f>(name, {70, 130, k}, 2, 256);
    test<f>(name, {132, 68, k}, 2, 256);
  }
  test<f>(name, {37, 45, depth + 1}, dim3(1, 2, 2), dim3(4, 8, 4));
  // Workgroups of 256 work-items process slabs of 64 bytes along k. Cases: values of k below, at and above multiples of the
  // slab; lines whose length is less than 16 bytes or not a multiple of 16 bytes; more columns of tiles than a band has.
  constexpr unsigned slab = 64 / sizeof(Element<f>);
  for (const unsigned k : {0u, 1u, slab - 1, slab, slab + 1, 2 * slab, 3 * slab + 2}) test<f>(name, {66, 65, k}, 3, 256);
  for (const unsigned size : {1u, 2u, 3u, 5u, 63u, 64u}) test<f>(name, {size, 68 - size, 2 * slab}, 1, dim3(16, 16));
  test<f>(name, {67, 582, slab + 3}, dim3(2, 2), dim3(8, 4, 8));
  if constexpr (f != m3xu::fp16 && f != m3xu::bf16) {
    for (const unsigned k : {0u, 1u, depth - 1, depth, depth + 1, 13u}) test<f>(name, {37, 45, k}, 2, 128, special);
    for (const unsigned k : {0u, 3 * depth + 1, 2 * slab}) test<f>(name, {33, 130, k}, 2, 256, special);
  }
  test_sign<f>(name, tiny);
}

// Stores the position of each item of a fragment, as returned by row() and column().
__global__ void items(unsigned* places) {
  m3xu::fragment<m3xu::accum, m3xu::fp32> real;
  m3xu::fragment<m3xu::accum, m3xu::fp64> wide;
  m3xu::fill(real, 0.0f);
  for (unsigned t = 0; t < real.size; ++t) places[threadIdx.x * 8 + t] = real.row(t) * 16 + real.column(t);
  for (unsigned t = 0; t < wide.size; ++t) places[threadIdx.x * 8 + 4 + t] = wide.row(t) * 16 + wide.column(t);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  HIP_CHECK(hipModuleLoad(&opencl, argv[1]));
  if (argc > 3) {  // HIP or OpenCL C with a partial wavefront: the program ends with an error
    const check::DeviceArray<float> memory(1024);
    const unsigned work_items = std::atoi(argv[3]);
    if (std::string(argv[2]) == "hip") {
      products<m3xu::fp32>
          <<<1, work_items>>>(memory.data(), memory.data(), memory.data(), memory.data(), nullptr, Size{1, 1, 1});
    } else {
      hipFunction_t function;
      HIP_CHECK(hipModuleGetFunction(&function, opencl, "products_fp32"));
      float *operand = memory.data(), *none = nullptr;
      unsigned one = 1;
      void* arguments[] = {&operand, &operand, &operand, &operand, &none, &one, &one, &one};
      HIP_CHECK(hipModuleLaunchKernel(function, 1, 1, 1, work_items, 1, 1, 0, nullptr, arguments, nullptr));
    }
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
  EXPECT_EQ(m3xu::to_float(m3xu::to_bfloat16(1.00390625f)), 1.0f);  // a tie rounds to even
  EXPECT_TRUE(std::isnan(m3xu::to_float(m3xu::to_bfloat16(NAN))));
  return check::result();
}
