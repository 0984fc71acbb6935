// Tests hipStreamWaitValue and hipStreamWriteValue: a stream waits until memory that the host or another stream writes meets a
// condition.
#include "../check.h"

namespace {

__global__ void copy(int* to, const int* from) { *to = *from; }

}  // namespace

int main() {
  int can = 0;
  HIP_CHECK(hipDeviceGetAttribute(&can, hipDeviceAttributeCanUseStreamWaitValue, 0));
  std::printf("stream wait value: %d\n", can);
  uint64_t* signal = nullptr;
  HIP_CHECK(hipExtMallocWithFlags(reinterpret_cast<void**>(&signal), 8, hipMallocSignalMemory));
  int* values = nullptr;
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&values), 2 * sizeof(int)));
  hipStream_t first, second;
  HIP_CHECK(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  HIP_CHECK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));

  struct Case {
    unsigned flags;
    uint64_t start, satisfying, value, mask;
  };
  for (const Case& test :
       {Case{hipStreamWaitValueEq, 0, 77, 77, ~0ull}, Case{hipStreamWaitValueGte, 5, 101, 100, ~0ull},
        Case{hipStreamWaitValueAnd, 0xf0, 0xf4, 0x04, ~0ull}, Case{hipStreamWaitValueEq, 0x1100, 0x2255, 0x55, 0xff}}) {
    for (const bool wide : {false, true}) {
      __atomic_store_n(signal, test.start, __ATOMIC_SEQ_CST);
      values[0] = 1;
      values[1] = 0;
      if (wide) {
        HIP_CHECK(hipStreamWaitValue64(first, signal, test.value, test.flags, test.mask));
      } else {
        HIP_CHECK(hipStreamWaitValue32(first, signal, static_cast<uint32_t>(test.value), test.flags,
                                       static_cast<uint32_t>(test.mask)));
      }
      copy<<<1, 1, 0, first>>>(values + 1, values);
      EXPECT_STATUS(hipStreamQuery(first), hipErrorNotReady);
      EXPECT_EQ(__atomic_load_n(&values[1], __ATOMIC_SEQ_CST), 0);
      values[0] = 2;  // value that the kernel copies when it runs after the wait
      __atomic_store_n(signal, test.satisfying, __ATOMIC_SEQ_CST);
      HIP_CHECK(hipStreamSynchronize(first));
      EXPECT_EQ(values[1], 2);
    }
  }

  // One stream releases the other.
  __atomic_store_n(signal, uint64_t{0}, __ATOMIC_SEQ_CST);
  values[1] = 0;
  HIP_CHECK(hipStreamWaitValue64(second, signal, 9, hipStreamWaitValueEq, ~0ull));
  copy<<<1, 1, 0, second>>>(values + 1, values);
  HIP_CHECK(hipStreamWriteValue64(first, signal, 9, 0));
  HIP_CHECK(hipStreamSynchronize(first));
  HIP_CHECK(hipStreamSynchronize(second));
  EXPECT_EQ(values[1], 2);
  EXPECT_EQ(*signal, 9u);
  HIP_CHECK(hipStreamWriteValue32(first, signal, 0x1234, 0));
  HIP_CHECK(hipStreamSynchronize(first));
  EXPECT_EQ(*signal & 0xffffffff, 0x1234u);

  HIP_CHECK(hipStreamDestroy(first));
  HIP_CHECK(hipStreamDestroy(second));
  HIP_CHECK(hipFree(signal));
  HIP_CHECK(hipHostFree(values));
  return check::result();
}
