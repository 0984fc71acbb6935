// Tests hipEvent: order, queries, and elapsed time. Elapsed time is simulated: it must agree with the GPU kernel's own clock,
// and the same work must take the same time however busy the host is.
#include "../check.h"

namespace {

// Keeps one wavefront busy with a chain of dependent instructions.
__global__ void spin(int rounds, uint32_t* out, uint64_t* ticks) {
  const uint64_t begin = __builtin_amdgcn_s_memrealtime();
  uint32_t value = threadIdx.x;
  for (int i = 0; i < rounds; ++i) value = value * 1664525u + 1013904223u;
  out[threadIdx.x] = value;
  if (threadIdx.x == 0) *ticks = __builtin_amdgcn_s_memrealtime() - begin;
}

class Timer {
 public:
  Timer() {
    HIP_CHECK(hipEventCreate(&begin_));
    HIP_CHECK(hipEventCreate(&end_));
  }
  ~Timer() {
    (void)hipEventDestroy(begin_);
    (void)hipEventDestroy(end_);
  }
  // Time in milliseconds that `spin` takes on the GPU for `rounds` rounds.
  float milliseconds(int rounds) {
    HIP_CHECK(hipEventRecord(begin_));
    spin<<<1, 64>>>(rounds, values_.data(), ticks_.data());
    HIP_CHECK(hipEventRecord(end_));
    HIP_CHECK(hipEventSynchronize(end_));
    float time = -1.0f;
    HIP_CHECK(hipEventElapsedTime(&time, begin_, end_));
    return time;
  }
  uint64_t ticks() const { return ticks_.download()[0]; }
  hipEvent_t begin() const { return begin_; }
  hipEvent_t end() const { return end_; }

 private:
  hipEvent_t begin_ = nullptr, end_ = nullptr;
  check::DeviceArray<uint32_t> values_{64};
  check::DeviceArray<uint64_t> ticks_{1};
};

}  // namespace

int main() {
  Timer timer;
  (void)timer.milliseconds(10);  // loads the code, whose first fetch takes longer
  const float once = timer.milliseconds(10000), again = timer.milliseconds(10000), five = timer.milliseconds(50000);
  EXPECT_TRUE(once > 0.0f);
  EXPECT_NEAR(again, once, 0.2 * once);
  EXPECT_NEAR(five, 5 * once, 0.25 * 5 * once);

  // By its own clock, the kernel takes more than half of the time between the events, and at most all of it.
  hipDeviceProp_t properties;
  HIP_CHECK(hipGetDeviceProperties(&properties, 0));
  const double kernel = static_cast<double>(timer.ticks()) / properties.clockInstructionRate;
  EXPECT_BETWEEN(kernel, 0.5 * static_cast<double>(five), 1.01 * static_cast<double>(five));

  EXPECT_STATUS(hipEventQuery(timer.end()), hipSuccess);
  float time = 0.0f;
  HIP_CHECK(hipEventElapsedTime(&time, timer.begin(), timer.begin()));
  EXPECT_EQ(time, 0.0f);
  hipEvent_t fresh;
  HIP_CHECK(hipEventCreate(&fresh));
  EXPECT_STATUS(hipEventElapsedTime(&time, timer.begin(), fresh), hipErrorInvalidHandle);
  HIP_CHECK(hipEventDestroy(fresh));
  HIP_CHECK(hipEventCreateWithFlags(&fresh, hipEventDisableTiming));
  HIP_CHECK(hipEventRecord(fresh));
  HIP_CHECK(hipEventSynchronize(fresh));
  EXPECT_STATUS(hipEventElapsedTime(&time, timer.begin(), fresh), hipErrorInvalidHandle);
  HIP_CHECK(hipEventDestroy(fresh));

  // A wait for a blocking event sleeps in the runtime until the GPU's interrupt.
  HIP_CHECK(hipEventCreateWithFlags(&fresh, hipEventBlockingSync));
  check::DeviceArray<uint32_t> values(64);
  check::DeviceArray<uint64_t> ticks(1);
  spin<<<1, 64>>>(100000, values.data(), ticks.data());
  HIP_CHECK(hipEventRecord(fresh));
  HIP_CHECK(hipEventSynchronize(fresh));
  EXPECT_STATUS(hipEventQuery(fresh), hipSuccess);
  HIP_CHECK(hipEventDestroy(fresh));
  return check::result();
}
