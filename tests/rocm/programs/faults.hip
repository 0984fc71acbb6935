// Causes an error in a kernel, selected by the argument. The runtime must end the program; if the kernel completes instead, the
// exit code is 3.
#include "../check.h"

namespace {

__global__ void write_at(int* memory, long index) {
  if (threadIdx.x == 5) memory[index] = 1;
}

__global__ void read_at(const int* memory, long index, int* out) { out[threadIdx.x] = memory[index + threadIdx.x]; }

// Called through a pointer, because hipcc inlines every call that it can.
__device__ void store_in_function(int* memory, long index) { memory[index] = 1; }
__device__ void store_zero(int* memory, long index) { memory[index] = 0; }
__device__ void (*stores[])(int*, long) = {store_zero, store_in_function};

__global__ void call_to_store(int* memory, long index, int which) {
  if (threadIdx.x == 5) stores[which](memory, index);
}

// Private memory accessed through its buffer descriptor, and through a generic pointer.
__global__ void store_private(int* memory, long index) {
  volatile int own[16];
  for (int i = 0; i < 16; ++i) own[i] = i;
  if (threadIdx.x == 5) own[index] = 1;
  memory[threadIdx.x] = own[threadIdx.x % 16];
}

__global__ void store_private_in_function(int* memory, long index, int which) {
  int own[16];
  for (int i = 0; i < 16; ++i) own[i] = memory[i];
  if (threadIdx.x == 5) stores[which](own, index);
  memory[threadIdx.x] = own[threadIdx.x % 16];
}

__device__ __attribute__((noinline)) int descend(int levels, int* keep) {
  int own[64];
  for (int i = 0; i < 64; ++i) own[i] = levels * i;
  keep[levels % 64] += own[levels * 7 % 64];
  return levels == 0 ? 0 : 1 + descend(levels - 1, own);
}

__global__ void recurse(int* memory, int levels) {
  int own[64] = {};
  memory[threadIdx.x] = descend(levels, own);
}

__global__ void trap(const int* condition) {
  if (*condition == 0) __builtin_trap();
}

__global__ void trap_in_some_lanes(const int* condition) {
  if (condition[threadIdx.x] == 0 && threadIdx.x % 8 == 3) __builtin_trap();
}

__global__ void illegal_instruction() { asm volatile(".long 0xbfffffff"); }

__global__ void add_at(unsigned* memory, long index) { atomicAdd(memory + index, 1u); }

struct Node {
  Node* next;
  int value;
};

__global__ void walk(const Node* node, int* sum) {
  for (; node->value != 0; node = node->next) *sum += node->value;
}

int finish(const char* what) {
  const hipError_t status = hipDeviceSynchronize();
  std::printf("%s: %s\n", what, hipGetErrorName(status));
  return status == hipSuccess ? 3 : 4;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  constexpr long kCount = 3000;
  int* memory = nullptr;
  HIP_CHECK(hipMalloc(&memory, kCount * sizeof(int)));
  HIP_CHECK(hipMemset(memory, 0, kCount * sizeof(int)));
  const check::DeviceArray<int> out(64);
  if (what == "write-far-beyond") {
    write_at<<<1, 64>>>(memory, 1L << 30);
  } else if (what == "write-just-beyond") {
    write_at<<<1, 64>>>(memory, kCount + 1200);  // address in the first page after the allocation
  } else if (what == "write-in-function") {
    call_to_store<<<1, 64>>>(memory, 1L << 30, 1);
  } else if (what == "read-before") {
    read_at<<<1, 64>>>(memory, -(1L << 26), out.data());
  } else if (what == "null-pointer") {
    write_at<<<1, 64>>>(nullptr, 0);
  } else if (what == "host-pointer") {
    static int host[64];
    write_at<<<1, 64>>>(host, 0);
  } else if (what == "atomic-beyond") {
    add_at<<<1, 64>>>(reinterpret_cast<unsigned*>(memory), 1L << 28);
  } else if (what == "use-after-free") {
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipFree(memory));
    read_at<<<1, 64>>>(memory, 0, out.data());
  } else if (what == "use-after-unregister") {
    std::vector<int> host(64 << 10);
    HIP_CHECK(hipHostRegister(host.data(), host.size() * sizeof(int), hipHostRegisterMapped));
    int* device = nullptr;
    HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&device), host.data(), 0));
    HIP_CHECK(hipHostUnregister(host.data()));
    write_at<<<1, 64>>>(device, 20000);
  } else if (what == "broken-list") {
    const std::vector<Node> nodes = {{reinterpret_cast<Node*>(memory) + 1, 5}, {reinterpret_cast<Node*>(0x123450), 7}};
    HIP_CHECK(hipMemcpy(memory, nodes.data(), nodes.size() * sizeof(Node), hipMemcpyHostToDevice));
    walk<<<1, 1>>>(reinterpret_cast<Node*>(memory), out.data());
  } else if (what == "private-beyond") {
    store_private<<<1, 64>>>(memory, 1000);
  } else if (what == "private-before") {
    store_private<<<1, 64>>>(memory, -1000);
  } else if (what == "private-far-beyond") {
    store_private<<<1, 64>>>(memory, 1L << 24);
  } else if (what == "private-beyond-in-function") {
    store_private_in_function<<<1, 64>>>(memory, 1L << 16, 1);
  } else if (what == "private-before-in-function") {
    store_private_in_function<<<1, 64>>>(memory, -1000, 1);
  } else if (what == "private-recursion") {
    recurse<<<1, 64>>>(memory, 4000);
  } else if (what == "trap-in-some-lanes") {
    trap_in_some_lanes<<<1, 64>>>(memory);
  } else if (what == "trap") {
    trap<<<1, 64>>>(memory);
  } else if (what == "illegal-instruction") {
    illegal_instruction<<<1, 64>>>();
  } else {
    std::fprintf(stderr, "unknown: %s\n", what.c_str());
    return 2;
  }
  return finish(what.c_str());
}
