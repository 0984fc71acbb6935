// Tests operations between the lanes of a 64-wide wavefront: shuffles, votes, ballots, in full and in divergent code.
#include "../check.h"

namespace {

constexpr int kWave = 64;

__global__ void shuffles(const int* in, int* out, double* doubles, long long* longs) {
  const int lane = threadIdx.x;
  const int value = in[lane];
  out[0 * kWave + lane] = __shfl(value, (lane * 7 + 3) % kWave);
  out[1 * kWave + lane] = __shfl_up(value, 5);
  out[2 * kWave + lane] = __shfl_down(value, 9);
  out[3 * kWave + lane] = __shfl_xor(value, 21);
  out[4 * kWave + lane] = __shfl(value, (lane + 1) % 16, 16);
  out[5 * kWave + lane] = __shfl_up(value, 3, 32);
  out[6 * kWave + lane] = __shfl_down(value, 2, 8);
  out[7 * kWave + lane] = __shfl_xor(value, 4, 8);
  doubles[lane] = __shfl_xor(static_cast<double>(value) * 0.5, 63);
  longs[lane] = __shfl(static_cast<long long>(value) << 20, 63 - lane);
}

__global__ void votes(const int* in, unsigned long long* ballots, int* flags) {
  const int lane = threadIdx.x;
  ballots[lane] = __ballot(in[lane] > 0);
  flags[lane] = __any(in[lane] == 12345) + 2 * __all(in[lane] != 12345) + 4 * __popcll(__ballot(1)) +
                1024 * static_cast<int>(__lane_id());
}

__global__ void divergent(unsigned long long* ballots, int* sums) {
  const int lane = threadIdx.x;
  if (lane % 3 == 0) {
    ballots[lane] = __ballot(1);
    if (lane > 30) {
      sums[lane] = __popcll(__ballot(lane % 2 == 0));
    } else {
      sums[lane] = -__popcll(__ballot(lane % 2 != 0));
    }
  } else {
    ballots[lane] = __ballot(lane % 2);
    sums[lane] = 0;
    for (int i = 0; i <= lane; ++i) sums[lane] += __popcll(__ballot(i % 2 == 0)) > 0;
  }
}

__global__ void wave_sum(const int* in, int* out) {
  int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int step = warpSize / 2; step > 0; step /= 2) value += __shfl_down(value, step);
  if (threadIdx.x % warpSize == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / warpSize] = value;
}

// Inclusive scan within a wavefront.
__global__ void wave_scan(const int* in, int* out) {
  const int lane = threadIdx.x % warpSize, i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = in[i];
  for (int step = 1; step < warpSize; step *= 2) {
    const int other = __shfl_up(value, step);
    if (lane >= step) value += other;
  }
  out[i] = value;
}

}  // namespace

int main() {
  std::vector<int> values(kWave);
  for (int i = 0; i < kWave; ++i) values[i] = static_cast<int>(check::scramble(i) % 20001) - 10000;
  const check::DeviceArray<int> in(values), out(8 * kWave), flags(kWave);
  const check::DeviceArray<double> doubles(kWave);
  const check::DeviceArray<long long> longs(kWave);
  const check::DeviceArray<unsigned long long> ballots(kWave);

  shuffles<<<1, kWave>>>(in.data(), out.data(), doubles.data(), longs.data());
  HIP_CHECK(hipGetLastError());
  EXPECT_EACH(out.download(), [&](size_t i) {
    const int lane = static_cast<int>(i) % kWave;
    const auto in_group = [&](int width, int other) {  // the lane itself if `other` is outside of the lane's group
      return other >= lane / width * width && other < lane / width * width + width ? other : lane;
    };
    switch (i / kWave) {
      case 0:
        return values[(lane * 7 + 3) % kWave];
      case 1:
        return values[in_group(64, lane - 5)];
      case 2:
        return values[in_group(64, lane + 9)];
      case 3:
        return values[lane ^ 21];
      case 4:
        return values[lane / 16 * 16 + (lane + 1) % 16];
      case 5:
        return values[in_group(32, lane - 3)];
      case 6:
        return values[in_group(8, lane + 2)];
      default:
        return values[lane ^ 4];
    }
  });
  EXPECT_EACH(doubles.download(), [&](size_t i) { return values[i ^ 63] * 0.5; });
  EXPECT_EACH(longs.download(), [&](size_t i) { return static_cast<long long>(values[63 - i]) * (1 << 20); });

  votes<<<1, kWave>>>(in.data(), ballots.data(), flags.data());
  unsigned long long positive = 0;
  for (int i = 0; i < kWave; ++i) positive |= static_cast<unsigned long long>(values[i] > 0) << i;
  EXPECT_EACH(ballots.download(), [&](size_t) { return positive; });
  EXPECT_EACH(flags.download(), [](size_t i) { return 2 + 4 * 64 + 1024 * static_cast<int>(i); });

  const check::DeviceArray<int> sums(kWave);
  divergent<<<1, kWave>>>(ballots.data(), sums.data());
  unsigned long long thirds = 0, odd_others = 0;
  for (int i = 0; i < kWave; ++i) {
    thirds |= static_cast<unsigned long long>(i % 3 == 0) << i;
    odd_others |= static_cast<unsigned long long>(i % 3 != 0 && i % 2 != 0) << i;
  }
  EXPECT_EACH(ballots.download(), [&](size_t i) { return i % 3 == 0 ? thirds : odd_others; });
  EXPECT_EACH(sums.download(), [](size_t n) {
    const int i = static_cast<int>(n);
    if (i % 3 != 0) return i / 2 + 1;
    return i > 30 ? 5 : -5;  // even lanes 36 to 60; odd lanes 3 to 27
  });

  constexpr int kCount = 2048;
  const std::vector<int> many = check::scrambled<int>(kCount);
  const check::DeviceArray<int> many_in(many), many_out(kCount), wave_sums(kCount / kWave);
  wave_sum<<<kCount / 256, 256>>>(many_in.data(), wave_sums.data());
  wave_scan<<<kCount / 256, 256>>>(many_in.data(), many_out.data());
  const auto sum_to = [&](size_t first, size_t last) {
    uint32_t sum = 0;
    for (size_t i = first; i <= last; ++i) sum += static_cast<uint32_t>(many[i]);
    return static_cast<int>(sum);
  };
  EXPECT_EACH(wave_sums.download(), [&](size_t i) { return sum_to(i * kWave, i * kWave + kWave - 1); });
  EXPECT_EACH(many_out.download(), [&](size_t i) { return sum_to(i / kWave * kWave, i); });
  return check::result();
}
