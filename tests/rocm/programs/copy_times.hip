// copy_times DIRECTION SOURCE_OFFSET DESTINATION_OFFSET [beside] BYTES...: performs, for each size, one copy (h2d, d2h, d2d) or
// fill, alone or concurrently with a kernel that streams through memory. Prints the time of each copy, measured by the
// runtime's own events, and checks the bytes written and the bytes around them. The host checks GPU memory by direct accesses,
// without another copy; this is possible because all of that memory is in a PCI Express window.
#include <ctime>

#include "../check.h"

namespace {

constexpr size_t kMargin = 4096;

// Each work-item repeatedly reads and writes words far apart: the kernel is bound by memory bandwidth.
__global__ void stream_through(uint32_t* words, size_t count, int turns) {
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (int turn = 0; turn < turns; ++turn) {
    for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) words[i] = words[i] * 5 + turn;
  }
}

unsigned char pattern(size_t i) { return static_cast<unsigned char>(i * 2654435761u >> 13); }

struct Timer {
  Timer() {
    HIP_CHECK(hipEventCreate(&begin));
    HIP_CHECK(hipEventCreate(&end));
  }
  ~Timer() {
    (void)hipEventDestroy(begin);
    (void)hipEventDestroy(end);
  }
  float microseconds() const {
    float milliseconds = 0;
    HIP_CHECK(hipEventElapsedTime(&milliseconds, begin, end));
    return milliseconds * 1000;
  }
  hipEvent_t begin, end;
};

// The time of a clock. CLOCK_PROCESS_CPUTIME_ID is the processor time of all threads, including the one in which the runtime
// polls for the copy's end.
double seconds(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string direction = argv[1];
  const size_t source_offset = std::strtoull(argv[2], nullptr, 0);
  const size_t destination_offset = std::strtoull(argv[3], nullptr, 0);
  const bool beside = std::strcmp(argv[4], "beside") == 0;
  hipStream_t stream, other;
  HIP_CHECK(hipStreamCreate(&stream));
  HIP_CHECK(hipStreamCreate(&other));
  constexpr size_t kWords = 256 * 1024;
  // Signal that both streams wait for, so that copy and kernel start at the same time, regardless of the host's load.
  uint64_t* signal = nullptr;
  HIP_CHECK(hipExtMallocWithFlags(reinterpret_cast<void**>(&signal), sizeof *signal, hipMallocSignalMemory));
  uint32_t* words = nullptr;
  if (beside) {
    HIP_CHECK(hipMalloc(&words, kWords * sizeof *words));
    HIP_CHECK(hipMemset(words, 0, kWords * sizeof *words));
  }
  for (int a = beside ? 5 : 4; a < argc; ++a) {
    const size_t bytes = std::strtoull(argv[a], nullptr, 0);
    const size_t room = bytes + source_offset + destination_offset + 2 * kMargin;
    unsigned char *sent, *received;
    char *from, *to;
    HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&sent), room));
    HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&received), room));
    HIP_CHECK(hipMalloc(&from, room));
    HIP_CHECK(hipMalloc(&to, room));
    for (size_t i = 0; i < room; ++i) sent[i] = pattern(i);
    std::memset(received, 0x55, room);
    std::memcpy(from, sent, room);
    std::memset(to, 0x55, room);
    Timer copy, kernel;
    const double began = seconds(CLOCK_MONOTONIC), worked = seconds(CLOCK_PROCESS_CPUTIME_ID);
    *static_cast<volatile uint64_t*>(signal) = 0;
    if (beside) {
      HIP_CHECK(hipStreamWaitValue64(other, signal, 1, hipStreamWaitValueEq, ~0ull));
      HIP_CHECK(hipStreamWaitValue64(stream, signal, 1, hipStreamWaitValueEq, ~0ull));
    }
    HIP_CHECK(hipEventRecord(kernel.begin, other));
    if (beside) stream_through<<<16, 256, 0, other>>>(words, kWords, 2);
    HIP_CHECK(hipEventRecord(kernel.end, other));
    HIP_CHECK(hipEventRecord(copy.begin, stream));
    char* destination = to + kMargin + destination_offset;
    if (direction == "h2d") {
      HIP_CHECK(hipMemcpyAsync(destination, sent + source_offset, bytes, hipMemcpyHostToDevice, stream));
    } else if (direction == "d2h") {
      HIP_CHECK(
          hipMemcpyAsync(received + kMargin + destination_offset, from + source_offset, bytes, hipMemcpyDeviceToHost, stream));
    } else if (direction == "d2d") {
      HIP_CHECK(hipMemcpyAsync(destination, from + source_offset, bytes, hipMemcpyDeviceToDevice, stream));
    } else {
      HIP_CHECK(hipMemsetAsync(destination, 0xa7, bytes, stream));
    }
    HIP_CHECK(hipEventRecord(copy.end, stream));
    if (beside) *static_cast<volatile uint64_t*>(signal) = 1;
    HIP_CHECK(hipDeviceSynchronize());
    const double processor = seconds(CLOCK_PROCESS_CPUTIME_ID) - worked, wall = seconds(CLOCK_MONOTONIC) - began;
    if (direction != "d2h") std::memcpy(received, to, room);
    const bool filled = direction == "fill";
    size_t wrong = 0;
    const size_t first = kMargin + destination_offset;
    for (size_t i = 0; i < room; ++i) {
      const bool inside = i >= first && i < first + bytes;
      const unsigned char expected = !inside ? 0x55 : filled ? 0xa7 : pattern(i - first + source_offset);
      wrong += received[i] != expected;
    }
    EXPECT_EQ(wrong, size_t{0});
    std::printf("%s %zu copy %.3f us", direction.c_str(), bytes, copy.microseconds());
    if (beside) std::printf(" kernel %.3f us", kernel.microseconds());
    std::printf(", host %.3f s, processors %.3f s\n", wall, processor);
    HIP_CHECK(hipHostFree(sent));
    HIP_CHECK(hipHostFree(received));
    HIP_CHECK(hipFree(from));
    HIP_CHECK(hipFree(to));
  }
  return check::result();
}
