// Repeats those published measurements of GPUs for which the runtime is needed (tests/validation/silicon). Prints one number.
//   silicon launches ELEMENTS COUNT: time in ns from launch to launch of a kernel that scales ELEMENTS doubles. The two vectors
//     are exchanged after each of COUNT launches; the first half of the launches is not measured.
//   silicon copy BYTES: time in ns of the second of two copies of pinned memory to the device, by the runtime's events.
#include "../check.h"

namespace {

__global__ void scale(double* __restrict__ to, const double* __restrict__ from, int elements) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < elements) to[i] = from[i] * 0.25;
}

class Clock {
 public:
  Clock() {
    for (hipEvent_t& event : events_) HIP_CHECK(hipEventCreate(&event));
  }
  void begin() { HIP_CHECK(hipEventRecord(events_[0])); }
  /// Nanoseconds since begin().
  double end() {
    HIP_CHECK(hipEventRecord(events_[1]));
    HIP_CHECK(hipEventSynchronize(events_[1]));
    float milliseconds = 0;
    HIP_CHECK(hipEventElapsedTime(&milliseconds, events_[0], events_[1]));
    return milliseconds * 1e6;
  }

 private:
  hipEvent_t events_[2];
};

double launches(int elements, int count) {
  constexpr int kBlock = 128;
  check::DeviceArray<double> a(std::vector<double>(static_cast<size_t>(elements), 1.0));
  check::DeviceArray<double> b(std::vector<double>(static_cast<size_t>(elements), 1.0));
  Clock clock;
  for (int i = 0; i < count; ++i) {
    if (i == count / 2) clock.begin();
    scale<<<elements / kBlock + 1, kBlock>>>(i % 2 == 0 ? a.data() : b.data(), i % 2 == 0 ? b.data() : a.data(), elements);
  }
  HIP_CHECK(hipGetLastError());
  return clock.end() / (count - count / 2);
}

double copy(size_t bytes) {
  void* host = nullptr;
  void* device = nullptr;
  HIP_CHECK(hipHostMalloc(&host, bytes));
  HIP_CHECK(hipMalloc(&device, bytes));
  Clock clock;
  double time = 0;
  for (int i = 0; i < 2; ++i) {
    clock.begin();
    HIP_CHECK(hipMemcpyAsync(device, host, bytes, hipMemcpyHostToDevice, nullptr));
    time = clock.end();
  }
  HIP_CHECK(hipFree(device));
  HIP_CHECK(hipHostFree(host));
  return time;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "launches" && argc == 4) {
    std::printf("%.1f\n", launches(std::atoi(argv[2]), std::atoi(argv[3])));
  } else if (what == "copy" && argc == 3) {
    std::printf("%.1f\n", copy(std::strtoull(argv[2], nullptr, 10)));
  } else {
    return 2;
  }
  return 0;
}
