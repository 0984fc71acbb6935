// A library with a kernel; see late_library.
#include <hip/hip_runtime.h>

namespace {
__global__ void store(int* value) { *value = 42; }
}  // namespace

extern "C" __attribute__((visibility("default"))) int answer() {
  int* value = nullptr;
  int result = 0;
  if (hipMalloc(reinterpret_cast<void**>(&value), sizeof *value) != hipSuccess) return -1;
  store<<<1, 1>>>(value);
  if (hipMemcpy(&result, value, sizeof result, hipMemcpyDeviceToHost) != hipSuccess) return -2;
  return hipFree(value) == hipSuccess ? result : -3;
}
