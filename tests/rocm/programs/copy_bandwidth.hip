// copy_bandwidth MINIMUM MAXIMUM: performs asynchronous copies of pinned memory in both directions. Their rates, measured by
// the runtime's own events, must be between the two limits (GB/s), and the data must arrive unchanged.
#include "../check.h"

namespace {

constexpr size_t kBytes = 4 << 20;

double rate(void* to, const void* from, hipMemcpyKind kind, hipStream_t stream) {
  hipEvent_t begin, end;
  HIP_CHECK(hipEventCreate(&begin));
  HIP_CHECK(hipEventCreate(&end));
  HIP_CHECK(hipEventRecord(begin, stream));
  HIP_CHECK(hipMemcpyAsync(to, from, kBytes, kind, stream));
  HIP_CHECK(hipEventRecord(end, stream));
  HIP_CHECK(hipEventSynchronize(end));
  float milliseconds = 0;
  HIP_CHECK(hipEventElapsedTime(&milliseconds, begin, end));
  HIP_CHECK(hipEventDestroy(begin));
  HIP_CHECK(hipEventDestroy(end));
  return kBytes / (milliseconds * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const double minimum = std::atof(argv[1]);
  const double maximum = std::atof(argv[2]);
  uint32_t* sent = nullptr;
  uint32_t* received = nullptr;
  void* device = nullptr;
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&sent), kBytes));
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&received), kBytes));
  HIP_CHECK(hipMalloc(&device, kBytes));
  hipStream_t stream;
  HIP_CHECK(hipStreamCreate(&stream));
  for (size_t i = 0; i < kBytes / 4; ++i) sent[i] = static_cast<uint32_t>(i * 2654435761u);
  std::memset(received, 0, kBytes);
  EXPECT_BETWEEN(rate(device, sent, hipMemcpyHostToDevice, stream), minimum, maximum);
  EXPECT_BETWEEN(rate(received, device, hipMemcpyDeviceToHost, stream), minimum, maximum);
  EXPECT_EQ(std::memcmp(sent, received, kBytes), 0);
  HIP_CHECK(hipStreamDestroy(stream));
  HIP_CHECK(hipFree(device));
  HIP_CHECK(hipHostFree(sent));
  HIP_CHECK(hipHostFree(received));
  return check::result();
}
