// Tests grids and workgroups of one, two and three dimensions, with workgroups of 1 to 1024 threads. Some workgroups are partly
// outside of the array.
#include "../check.h"

namespace {

__global__ void mark(uint32_t* out, uint32_t width, uint32_t height, uint32_t depth) {
  const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
                 z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= width || y >= height || z >= depth) return;
  const uint32_t geometry = gridDim.x + 3 * gridDim.y + 5 * gridDim.z + 7 * blockDim.x + 11 * blockDim.y + 13 * blockDim.z;
  atomicAdd(&out[(z * height + y) * width + x], x + 1000 * y + 1000000 * z + geometry);
}

void cover(uint32_t width, uint32_t height, uint32_t depth, dim3 block) {
  const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y, (depth + block.z - 1) / block.z);
  check::DeviceArray<uint32_t> out(size_t{width} * height * depth);
  out.clear();
  mark<<<grid, block>>>(out.data(), width, height, depth);
  HIP_CHECK(hipGetLastError());
  const uint32_t geometry = grid.x + 3 * grid.y + 5 * grid.z + 7 * block.x + 11 * block.y + 13 * block.z;
  EXPECT_EACH(out.download(), [&](size_t i) {
    const auto n = static_cast<uint32_t>(i);
    return n % width + 1000 * (n / width % height) + 1000000 * (n / width / height) + geometry;
  });
}

}  // namespace

int main() {
  cover(1, 1, 1, dim3(1));
  cover(1000, 1, 1, dim3(64));
  cover(1000, 1, 1, dim3(37));
  cover(4097, 1, 1, dim3(1024));
  cover(50, 40, 1, dim3(16, 16));
  cover(50, 40, 1, dim3(7, 9));
  cover(1, 300, 1, dim3(1, 256));
  cover(10, 10, 10, dim3(4, 4, 4));
  cover(5, 3, 70, dim3(1, 1, 64));
  cover(9, 11, 13, dim3(5, 3, 2));
  cover(3, 1, 1500, dim3(1));
  return check::result();
}
