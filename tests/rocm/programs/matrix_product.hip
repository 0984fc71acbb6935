// Runs firmware/kernels/matmul_tiled.cl from its code object, 512 x 512 x 512, for comparison with the firmware matmul, which
// runs the same code. Arguments: code object, number of repetitions.
#include "../check.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s matmul_tiled.co [REPETITIONS]\n", argv[0]);
    return 2;
  }
  constexpr unsigned kSize = 512;
  std::vector<float> a(kSize * kSize), b(kSize * kSize);
  for (unsigned i = 0; i < kSize * kSize; ++i) {
    a[i] = static_cast<float>(check::scramble(i) % 8);
    b[i] = static_cast<float>(check::scramble(i + 12345) % 8);
  }
  const check::DeviceArray<float> device_a(a), device_b(b), product(kSize * kSize);
  hipModule_t module;
  hipFunction_t kernel;
  HIP_CHECK(hipModuleLoad(&module, argv[1]));
  HIP_CHECK(hipModuleGetFunction(&kernel, module, "matmul_tiled"));
  float *a_data = device_a.data(), *b_data = device_b.data(), *product_data = product.data();
  unsigned columns = kSize, depth = kSize;
  void* arguments[] = {&a_data, &b_data, &product_data, &columns, &depth};
  for (int i = argc > 2 ? std::atoi(argv[2]) : 1; i > 0; --i) {
    HIP_CHECK(hipModuleLaunchKernel(kernel, kSize / 16, kSize / 16, 1, 16, 16, 1, 0, nullptr, arguments, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
  }
  // Checks some elements; all values are whole numbers that single precision represents.
  const std::vector<float> got = product.download();
  for (unsigned i = 0; i < kSize * kSize; i += 997) {
    float sum = 0;
    for (unsigned k = 0; k < kSize; ++k) sum += a[i / kSize * kSize + k] * b[k * kSize + i % kSize];
    EXPECT_EQ(got[i], sum);
  }
  return check::result();
}
