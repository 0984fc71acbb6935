// Tests the order of operations in and between streams: the null stream, non-blocking streams, events between streams,
// callbacks on the host, and queries.
#include "../check.h"

namespace {

__global__ void append(int* log, int* length, int value, int delay) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < delay; ++i) __builtin_amdgcn_s_sleep(1);
  log[atomicAdd(length, 1)] = value;
}

__global__ void scale(float* values, float factor, float offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = values[i] * factor + offset;
}

// Twelve streams, more than the hardware queues that HIP uses by default; the operations of each stream are in order.
void each_stream_in_order() {
  constexpr int kStreams = 12, kCount = 1024, kRounds = 6;
  std::vector<hipStream_t> streams(kStreams);
  std::vector<std::vector<float>> results(kStreams, std::vector<float>(kCount));
  std::vector<check::DeviceArray<float>*> arrays;
  for (int s = 0; s < kStreams; ++s) {
    HIP_CHECK(hipStreamCreateWithFlags(&streams[s], hipStreamNonBlocking));
    arrays.push_back(new check::DeviceArray<float>(std::vector<float>(kCount, static_cast<float>(s))));
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int s = 0; s < kStreams; ++s)
      scale<<<kCount / 64, 64, 0, streams[s]>>>(arrays[s]->data(), 2.0f, static_cast<float>(round));
  }
  for (int s = 0; s < kStreams; ++s) {
    HIP_CHECK(hipMemcpyAsync(results[s].data(), arrays[s]->data(), arrays[s]->bytes(), hipMemcpyDeviceToHost, streams[s]));
  }
  for (int s = 0; s < kStreams; ++s) {
    HIP_CHECK(hipStreamSynchronize(streams[s]));
    float expected = static_cast<float>(s);
    for (int round = 0; round < kRounds; ++round) expected = expected * 2.0f + static_cast<float>(round);
    EXPECT_EACH(results[s], [&](size_t) { return expected; });
    HIP_CHECK(hipStreamDestroy(streams[s]));
    delete arrays[s];
  }
}

void events_order_streams() {
  hipStream_t first, second;
  HIP_CHECK(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  HIP_CHECK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  hipEvent_t done;
  HIP_CHECK(hipEventCreateWithFlags(&done, hipEventDisableTiming));
  check::DeviceArray<int> log(std::vector<int>(4, -1)), length(std::vector<int>(1, 0));
  append<<<1, 64, 0, first>>>(log.data(), length.data(), 10, 200);
  HIP_CHECK(hipEventRecord(done, first));
  HIP_CHECK(hipStreamWaitEvent(second, done, 0));
  append<<<1, 64, 0, second>>>(log.data(), length.data(), 20, 0);
  HIP_CHECK(hipEventRecord(done, second));
  HIP_CHECK(hipStreamWaitEvent(first, done, 0));
  append<<<1, 64, 0, first>>>(log.data(), length.data(), 30, 0);
  HIP_CHECK(hipStreamSynchronize(first));
  EXPECT_EACH(log.download(), [](size_t i) { return i < 3 ? static_cast<int>(i + 1) * 10 : -1; });
  HIP_CHECK(hipEventDestroy(done));
  HIP_CHECK(hipStreamDestroy(first));
  HIP_CHECK(hipStreamDestroy(second));
}

// A blocking stream and the null stream wait for each other.
void null_stream_waits() {
  hipStream_t blocking;
  HIP_CHECK(hipStreamCreate(&blocking));
  check::DeviceArray<int> log(std::vector<int>(3, -1)), length(std::vector<int>(1, 0));
  append<<<1, 64, 0, blocking>>>(log.data(), length.data(), 1, 200);
  append<<<1, 64>>>(log.data(), length.data(), 2, 200);
  append<<<1, 64, 0, blocking>>>(log.data(), length.data(), 3, 0);
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_EACH(log.download(), [](size_t i) { return i + 1; });
  HIP_CHECK(hipStreamDestroy(blocking));
}

struct HostCall {
  int calls = 0;
  hipError_t status = hipErrorUnknown;
};

void stream_callback(hipStream_t, hipError_t status, void* argument) {
  auto* call = static_cast<HostCall*>(argument);
  ++call->calls;
  call->status = status;
}

void callbacks() {
  hipStream_t stream;
  HIP_CHECK(hipStreamCreate(&stream));
  check::DeviceArray<float> values(std::vector<float>(64, 1.0f));
  HostCall first, called;
  scale<<<1, 64, 0, stream>>>(values.data(), 3.0f, 0.0f);
  HIP_CHECK(hipStreamAddCallback(stream, stream_callback, &first, 0));
  scale<<<1, 64, 0, stream>>>(values.data(), 1.0f, 4.0f);
  HIP_CHECK(hipStreamAddCallback(stream, stream_callback, &called, 0));
  HIP_CHECK(hipStreamSynchronize(stream));
  EXPECT_EQ(first.calls, 1);
  EXPECT_EQ(called.calls, 1);
  EXPECT_STATUS(called.status, hipSuccess);
  EXPECT_EACH(values.download(), [](size_t) { return 7.0f; });
  HIP_CHECK(hipStreamDestroy(stream));
}

void queries() {
  hipStream_t stream;
  HIP_CHECK(hipStreamCreate(&stream));
  EXPECT_STATUS(hipStreamQuery(stream), hipSuccess);
  check::DeviceArray<int> log(std::vector<int>(1, -1)), length(std::vector<int>(1, 0));
  append<<<1, 64, 0, stream>>>(log.data(), length.data(), 1, 5000);
  hipError_t status = hipStreamQuery(stream);
  EXPECT_TRUE(status == hipErrorNotReady || status == hipSuccess);
  while ((status = hipStreamQuery(stream)) == hipErrorNotReady) {
  }
  EXPECT_STATUS(status, hipSuccess);
  EXPECT_EQ(log.download()[0], 1);
  unsigned flags = 99;
  HIP_CHECK(hipStreamGetFlags(stream, &flags));
  EXPECT_EQ(flags, 0u);
  HIP_CHECK(hipStreamDestroy(stream));
}

}  // namespace

int main() {
  each_stream_in_order();
  events_order_streams();
  null_stream_waits();
  callbacks();
  queries();
  return check::result();
}
