// Tests lacuna/simd2/multiply.h with k = 0: D is the unit's result for C, the same bits as with neutral factors, for all
// operators, for sizes near those of tiles and workgroups, and for values that the unit changes.
#include <cmath>
#include <limits>

#include "../check.h"
#include "lacuna/simd2.h"

template <simd2::opcode op>
static void test(const char* name) {
  const float values[] = {5.0f, 0.0f, -0.0f, 1.0f, -3.5f, 1e-40f, INFINITY, -INFINITY, std::numeric_limits<float>::quiet_NaN()};
  for (const int m : {1, 7, 33, 64}) {
    for (const int n : {1, 3, 31, 64, 65}) {
      std::vector<float> c(m * n);
      for (size_t i = 0; i < c.size(); ++i) c[i] = values[i % std::size(values)];
      const check::DeviceArray<_Float16> a(std::vector<_Float16>(m, simd2::padding<op, simd2::matrixa>())),
          b(std::vector<_Float16>(n, simd2::padding<op, simd2::matrixb>()));
      const check::DeviceArray<float> device_c(c), none(c.size()), one(c.size());
      simd2::product<op>(a.data(), b.data(), device_c.data(), none.data(), m, n, 0, nullptr);
      simd2::product<op>(a.data(), b.data(), device_c.data(), one.data(), m, n, 1, nullptr);
      HIP_CHECK(hipDeviceSynchronize());
      const std::vector<float> got = none.download(), expected = one.download();
      const bool same = std::memcmp(got.data(), expected.data(), c.size() * sizeof(float)) == 0;
      if (!same) std::printf("%s, %d x %d\n", name, m, n);
      EXPECT_TRUE(same);
      if (op == simd2::orand) {
        for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i] == 0 || got[i] == 1);
        EXPECT_EQ(got[0], 1.0f);
      }
    }
  }
}

#if defined(__gfx90a__) || !defined(__HIP_DEVICE_COMPILE__)
__global__ void product_in_kernel(simd2::dense_factors x, float* d) {
  simd2::multiply<simd2::mma, 64>(
      x, 0, 0, [](unsigned, unsigned, auto& values) { values = 0; },
      [&](unsigned row, unsigned column, auto values) {
        for (unsigned i = 0; i < sizeof values / sizeof(float); ++i) d[row * x.n + column + i] = values[i];
      });
}
#endif

int main(int argc, char** argv) {
  if (argc > 2) {  // a workgroup of that width and height: only 256 x 1 is valid
    const check::DeviceArray<_Float16> factors(std::vector<_Float16>(64 * 64, 1));
    const check::DeviceArray<float> d(64 * 64);
    const dim3 workgroup(std::atoi(argv[1]), std::atoi(argv[2]));
    product_in_kernel<<<1, workgroup>>>(simd2::dense_factors{factors.data(), factors.data(), 64, 64, 64, 64, 64}, d.data());
    HIP_CHECK(hipDeviceSynchronize());
    for (const float sum : d.download()) EXPECT_EQ(sum, 64.0f);
    return check::result();
  }
  test<simd2::mma>("mma");
  test<simd2::minplus>("minplus");
  test<simd2::maxplus>("maxplus");
  test<simd2::minmul>("minmul");
  test<simd2::maxmul>("maxmul");
  test<simd2::minmax>("minmax");
  test<simd2::maxmin>("maxmin");
  test<simd2::orand>("orand");
  test<simd2::addnorm>("addnorm");
  return check::result();
}
