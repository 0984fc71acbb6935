// stuck KERNEL: launches a kernel that never ends. The kernel's wavefronts increment a counter when they run; the program then
// prints that they run, and waits for the kernel.
#include <hip/hip_runtime.h>
// Included after hip_runtime.h, whose names it uses.
#include <hip/hip_cooperative_groups.h>

#include <thread>

#include "../check.h"

namespace {

__device__ void say(int* started) { __hip_atomic_fetch_add(started, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM); }

// A mutex that each lane locks: in lockstep, the lane that holds the mutex waits for the lanes that try to lock it.
__global__ void mutex(int* lock, int* started) {
  if (threadIdx.x % 64 == 0) say(started);
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  lock[1] += 1;
  __threadfence();
  atomicExch(lock, 0);
}

// Wavefront 0 waits at a barrier, wavefront 1 for a flag that is never set.
__global__ void half_barrier(int* flag, int* started) {
  if (threadIdx.x % 64 == 0) say(started);
  if (threadIdx.x < 64) {
    __syncthreads();
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
  }
}

// Of two workgroups, one waits for the whole grid, and the other has ended: no further progress is possible.
__global__ void half_grid(int*, int* started) {
  if (threadIdx.x % 64 == 0) say(started);
  if (blockIdx.x == 0) cooperative_groups::this_grid().sync();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kernel = argc > 1 ? argv[1] : "mutex";
  int *memory = nullptr, *started = nullptr;
  HIP_CHECK(hipMalloc(&memory, 64));
  HIP_CHECK(hipMemset(memory, 0, 64));
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&started), sizeof *started));
  *started = 0;
  HIP_CHECK(hipDeviceSynchronize());
  int wavefronts = 2;
  if (kernel == "mutex") {
    wavefronts = 1;
    mutex<<<1, 64>>>(memory, started);
  } else if (kernel == "half_barrier") {
    half_barrier<<<1, 128>>>(memory, started);
  } else {
    void* arguments[] = {&memory, &started};
    HIP_CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(half_grid), dim3(2), dim3(64), arguments, 0, nullptr));
  }
  HIP_CHECK(hipGetLastError());
  while (__atomic_load_n(started, __ATOMIC_ACQUIRE) < wavefronts) std::this_thread::yield();
  std::puts("the kernel runs");
  std::fflush(stdout);
  HIP_CHECK(hipDeviceSynchronize());
  return 0;
}
