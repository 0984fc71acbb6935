// Runs two batches of a lowered convolution concurrently in two streams, with different workspace contents. The element IDs of
// both are equal, so only the convolution number distinguishes their tiles. Afterwards the first kernel processes the second
// batch.
#include "../check.h"
#include "lacuna/duplo.h"

typedef _Float16 Halves __attribute__((ext_vector_type(4)));
typedef float Floats __attribute__((ext_vector_type(4)));

// The convolution has 8 x 8 positions, 16 channels, 16 filters of 3 x 3, and a border of zeros: the workspace has 64 rows and
// 144 columns.
constexpr int kSide = 8, kChannels = 16, kFilters = 16, kRows = kSide * kSide, kColumns = 9 * kChannels;
constexpr int kRounds = 20;

LACUNA_DUPLO(convolve_first);
LACUNA_DUPLO(convolve_second);

// Each wavefront has 16 rows. Both kernels begin when both are running, and multiply kRounds times, in lockstep.
__device__ void convolve([[maybe_unused]] const _Float16* workspace, [[maybe_unused]] const _Float16* weights, float* y,
                         [[maybe_unused]] int* there) {
  const int lane = threadIdx.x % 64, row = 16 * (threadIdx.x / 64);
  Floats sums = {};
#if defined(__gfx90a__)
  for (int round = 1; round <= kRounds; ++round) {
    if (threadIdx.x == 0) {
      __hip_atomic_fetch_add(there, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
      while (__hip_atomic_load(there, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < 2 * round) __builtin_amdgcn_s_sleep(1);
    }
    __syncthreads();
    for (int k = 0; k < kColumns; k += 16) {
      const int at = lane % 16 * kColumns + k + lane / 16 * 4;
      const Halves a = *reinterpret_cast<const Halves*>(workspace + row * kColumns + at);
      const Halves b = *reinterpret_cast<const Halves*>(weights + at);
      sums = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, sums, 0, 0, 0);
    }
  }
#endif
  for (int r = 0; r < 4; ++r) y[(row + lane / 16 * 4 + r) * kFilters + lane % 16] = sums[r];
}
extern "C" __global__ void convolve_first(const _Float16* workspace, const _Float16* weights, float* y, int* there) {
  convolve(workspace, weights, y, there);
}
extern "C" __global__ void convolve_second(const _Float16* workspace, const _Float16* weights, float* y, int* there) {
  convolve(workspace, weights, y, there);
}

std::vector<_Float16> lowered(int factor) {
  std::vector<_Float16> workspace(kRows * kColumns);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      const int v = row / kSide + column / (3 * kChannels) - 1, h = row % kSide + column / kChannels % 3 - 1;
      const bool inside = v >= 0 && v < kSide && h >= 0 && h < kSide;
      const int place = (v * kSide + h) * kChannels + column % kChannels;
      workspace[row * kColumns + column] = inside ? static_cast<_Float16>(place * factor % 16 - 8) : _Float16(0);
    }
  }
  return workspace;
}

void put_parameters(const void* symbol, const _Float16* workspace) {
  lacuna_duplo block = {};
  block.workspace = reinterpret_cast<lacuna_duplo_u64>(workspace);
  block.pitch = kColumns;
  block.images = 1;
  block.height = block.width = kSide;
  block.channels = kChannels;
  block.filter_height = block.filter_width = 3;
  block.stride_y = block.stride_x = 1;
  block.padding_top = block.padding_left = block.padding_bottom = block.padding_right = 1;
  HIP_CHECK(hipMemcpyToSymbol(symbol, &block, sizeof block));
}

int main() {
  const std::vector<_Float16> left[] = {lowered(37), lowered(11)};
  std::vector<_Float16> right(kFilters * kColumns);
  for (size_t i = 0; i < right.size(); ++i) right[i] = static_cast<_Float16>(static_cast<int>(i * 7 % 8) - 4);
  const check::DeviceArray<_Float16> first(left[0]), second(left[1]), weights(right);
  const check::DeviceArray<float> y_first(std::vector<float>(kRows * kFilters)), y_second(std::vector<float>(kRows * kFilters));
  const check::DeviceArray<int> there(std::vector<int>(1));
  put_parameters(&HIP_SYMBOL(convolve_first_duplo), first.data());
  put_parameters(&HIP_SYMBOL(convolve_second_duplo), second.data());

  hipStream_t streams[2];
  for (hipStream_t& stream : streams) HIP_CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  convolve_first<<<1, 256, 0, streams[0]>>>(first.data(), weights.data(), y_first.data(), there.data());
  convolve_second<<<1, 256, 0, streams[1]>>>(second.data(), weights.data(), y_second.data(), there.data());
  for (const hipStream_t stream : streams) HIP_CHECK(hipStreamSynchronize(stream));
  // The count is already reached, so this kernel does not wait for another kernel.
  const check::DeviceArray<int> all_there(std::vector<int>(1, 2 * kRounds));
  const check::DeviceArray<float> y_later(std::vector<float>(kRows * kFilters));
  put_parameters(&HIP_SYMBOL(convolve_first_duplo), second.data());
  convolve_first<<<1, 256, 0, streams[0]>>>(second.data(), weights.data(), y_later.data(), all_there.data());
  HIP_CHECK(hipStreamSynchronize(streams[0]));
  const std::vector<float> results[] = {y_first.download(), y_second.download(), y_later.download()};
  for (int which = 0; which < 3; ++which) {
    const std::vector<_Float16>& batch = left[which == 0 ? 0 : 1];
    EXPECT_EACH(results[which], [&](size_t i) {
      float sum = 0;  // a sum of small integers, which is exact
      for (int k = 0; k < kColumns; ++k)
        sum += float(batch[i / kFilters * kColumns + k]) * float(right[i % kFilters * kColumns + k]);
      return kRounds * sum;
    });
  }
  return check::result();
}
