// Blurs a square image several times: blur [SIDE [PASSES]]. docs/guide/tutorial.md runs it.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

// Each pixel becomes the mean of itself and its eight neighbours; border pixels are unchanged.
__global__ void blur(const float* from, float* to, unsigned side) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= side || y >= side) return;
  const unsigned at = y * side + x;
  if (x == 0 || y == 0 || x == side - 1 || y == side - 1) {
    to[at] = from[at];
    return;
  }
  float sum = 0;
  for (int row = -1; row <= 1; ++row)
    for (int column = -1; column <= 1; ++column) sum += from[at + row * static_cast<int>(side) + column];
  to[at] = sum / 9;
}

void check(hipError_t error) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "blur: %s\n", hipGetErrorString(error));
  std::exit(1);
}

int main(int argc, char** argv) {
  const unsigned side = argc > 1 ? std::atoi(argv[1]) : 1024, passes = argc > 2 ? std::atoi(argv[2]) : 4;
  const std::size_t count = std::size_t{side} * side, bytes = count * sizeof(float);
  std::vector<float> image(count, 1.0F);
  float *from, *to;
  check(hipMalloc(&from, bytes));
  check(hipMalloc(&to, bytes));
  check(hipMemcpy(from, image.data(), bytes, hipMemcpyHostToDevice));
  for (unsigned i = 0; i < passes; ++i) {
    blur<<<dim3((side + 63) / 64, (side + 3) / 4), dim3(64, 4)>>>(from, to, side);
    check(hipGetLastError());
    std::swap(from, to);
  }
  check(hipMemcpy(image.data(), from, bytes, hipMemcpyDeviceToHost));
  std::size_t wrong = 0;
  for (const float pixel : image) wrong += std::fabs(pixel - 1) > 1e-5F;
  std::printf("%u passes over %u x %u pixels, %zu wrong\n", passes, side, side, wrong);
  return wrong == 0 ? 0 : 1;
}
