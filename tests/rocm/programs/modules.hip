// Repeatedly loads a code object (here compiled from OpenCL C) from a file, looks up and launches its kernel, and unloads it.
// Argument: a code object with a kernel `vector_add(global const float*, global const float*, global float*, uint)`.
#include "../check.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s vector_add.co\n", argv[0]);
    return 2;
  }
  constexpr int kCount = 1000;
  std::vector<float> a(kCount), b(kCount);
  for (int i = 0; i < kCount; ++i) a[i] = static_cast<float>(i), b[i] = 0.25f * static_cast<float>(kCount - i);
  const check::DeviceArray<float> device_a(a), device_b(b);
  for (int repeat = 0; repeat < 5; ++repeat) {
    check::DeviceArray<float> sum(kCount);
    sum.clear();
    hipModule_t module;
    HIP_CHECK(hipModuleLoad(&module, argv[1]));
    hipFunction_t kernel;
    HIP_CHECK(hipModuleGetFunction(&kernel, module, "vector_add"));
    int registers = 0;
    HIP_CHECK(hipFuncGetAttribute(&registers, HIP_FUNC_ATTRIBUTE_NUM_REGS, kernel));
    EXPECT_TRUE(registers > 0);
    float *a_data = device_a.data(), *b_data = device_b.data(), *sum_data = sum.data();
    unsigned count = kCount;
    void* arguments[] = {&a_data, &b_data, &sum_data, &count};
    HIP_CHECK(hipModuleLaunchKernel(kernel, (kCount + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    EXPECT_EACH(sum.download(), [&](size_t i) { return a[i] + b[i]; });
    HIP_CHECK(hipModuleUnload(module));
  }
  return check::result();
}
