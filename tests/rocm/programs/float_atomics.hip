// float_atomics apply|drop [fine_host]: tests the float atomics of gfx90a, and the code that compilers generate for atomicAdd()
// without -munsafe-fp-atomics, on every kind of memory that HIP has. In mode drop, atomics that only L2 performs are lost on
// fine-grained memory, as OLCF's Frontier guide states ("Floating-Point (FP) Atomic Operations and Coarse/Fine Grained Memory
// Allocations"). gfx803 has no float atomics.
#include <functional>

#include "../check.h"

// Not in an unnamed namespace: HIP 5.2.3 does not find managed variables there.
__device__ double device_variable[128];
__managed__ double managed_variable[128];

namespace {

constexpr unsigned kThreads = 512;
constexpr unsigned kSharers = 4;  // threads that share an element
constexpr unsigned kElements = kThreads / kSharers;
static_assert(sizeof device_variable == kElements * sizeof(double));

enum class Operation { add32, add32_no_return, packed, add64, min64, max64, buffer32, safe32, safe64, lds };
constexpr Operation kOperations[] = {
    Operation::add32, Operation::add32_no_return, Operation::packed, Operation::add64,  Operation::min64,
    Operation::max64, Operation::buffer32,        Operation::safe32, Operation::safe64, Operation::lds};
constexpr const char* kNames[] = {"add32", "add32_no_return", "packed", "add64",  "min64",
                                  "max64", "buffer32",        "safe32", "safe64", "lds"};
constexpr bool by_hardware(Operation o) { return o < Operation::safe32; }
constexpr bool is_double(Operation o) {
  return o == Operation::add64 || o == Operation::min64 || o == Operation::max64 || o == Operation::safe64;
}

#if defined(__gfx90a__)
__device__ float buffer_add(float* base, unsigned offset, float value) {
  using Words = unsigned __attribute__((ext_vector_type(4)));
  const auto address = reinterpret_cast<unsigned long long>(base);
  const Words descriptor{static_cast<unsigned>(__builtin_amdgcn_readfirstlane(static_cast<int>(address))),
                         static_cast<unsigned>(__builtin_amdgcn_readfirstlane(static_cast<int>(address >> 32))), ~0u, 0};
  asm volatile("buffer_atomic_add_f32 %0, %1, %2, 0 offen glc\n s_waitcnt vmcnt(0)"
               : "+v"(value)
               : "v"(offset), "s"(descriptor)
               : "memory");
  return value;
}
__device__ unsigned packed_add(unsigned* at, unsigned value) {
  unsigned old;
  asm volatile("global_atomic_pk_add_f16 %0, %1, %2, off glc\n s_waitcnt vmcnt(0)"
               : "=v"(old)
               : "v"(at), "v"(value)
               : "memory");
  return old;
}
__device__ double min64(double* at, double value) {
  double old;
  asm volatile("flat_atomic_min_f64 %0, %1, %2 glc\n s_waitcnt vmcnt(0) lgkmcnt(0)"
               : "=v"(old)
               : "v"(at), "v"(value)
               : "memory");
  return old;
}
__device__ double max64(double* at, double value) {
  double old;
  asm volatile("global_atomic_max_f64 %0, %1, %2, off glc\n s_waitcnt vmcnt(0)" : "=v"(old) : "v"(at), "v"(value) : "memory");
  return old;
}
#else
__device__ float buffer_add(float* base, unsigned offset, float value) { return atomicAdd(base + offset / 4, value); }
// Adds 1.0 to each half, whose value must be 0, 1, 2 or 3, by compare-and-swap.
__device__ unsigned packed_add(unsigned* at, unsigned) {
  unsigned old = *at, seen;
  do {
    seen = old;
    const auto next = [](unsigned half) {
      return half == 0 ? 0x3c00u : half == 0x3c00u ? 0x4000u : half == 0x4000u ? 0x4200u : 0x4400u;
    };
    old = atomicCAS(at, seen, next(seen & 0xffff) | next(seen >> 16) << 16);
  } while (old != seen);
  return old;
}
template <class Better>
__device__ double replace(double* at, double value, Better better) {
  auto* const word = reinterpret_cast<unsigned long long*>(at);
  unsigned long long old = *word, seen;
  do {
    seen = old;
    const double now = __longlong_as_double(static_cast<long long>(seen));
    old = atomicCAS(word, seen, better(value, now) ? static_cast<unsigned long long>(__double_as_longlong(value)) : seen);
  } while (old != seen);
  return __longlong_as_double(static_cast<long long>(old));
}
__device__ double min64(double* at, double value) {
  return replace(at, value, [](double a, double b) { return a < b; });
}
__device__ double max64(double* at, double value) {
  return replace(at, value, [](double a, double b) { return a > b; });
}
#endif

// Every element starts as 0 (min64: as 8) and is changed by kSharers threads; the returned values are stored to `returned`.
template <Operation kOperation>
__global__ void change(void* memory, double* returned) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned element = thread / kSharers;
  auto* const f = static_cast<float*>(memory) + element;
  auto* const d = static_cast<double*>(memory) + element;
  double old = 0;
  if (kOperation == Operation::add32) old = unsafeAtomicAdd(f, 1.0f);
  if (kOperation == Operation::add32_no_return) __ockl_atomic_add_noret_f32(f, 1.0f);
  if (kOperation == Operation::packed) old = packed_add(reinterpret_cast<unsigned*>(f), 0x3c003c00u) & 0xffff;
  if (kOperation == Operation::add64) old = unsafeAtomicAdd(d, 1.0);
  if (kOperation == Operation::min64) old = min64(d, 4.0);
  if (kOperation == Operation::max64) old = max64(d, 4.0);
  if (kOperation == Operation::buffer32) old = buffer_add(static_cast<float*>(memory), element * 4, 1.0f);
  if (kOperation == Operation::safe32) old = atomicAdd(f, 1.0f);
  if (kOperation == Operation::safe64) old = atomicAdd(d, 1.0);
  if (kOperation == Operation::lds) {
    __shared__ float sums[kThreads];
    sums[threadIdx.x] = 0;
    __syncthreads();
    unsafeAtomicAdd(sums + threadIdx.x / kSharers, 1.0f);
    __syncthreads();
    if (thread % kSharers == 0) *f = sums[threadIdx.x / kSharers];
  }
  returned[thread] = old;
}

template <Operation... kAll>
void launch(Operation operation, void* memory, double* returned) {
  ((operation == kAll ? change<kAll><<<kThreads / 128, 128>>>(memory, returned) : void()), ...);
}

struct Memory {
  const char* name;
  bool fine;
  std::function<void*(std::size_t)> allocate;  // nullptr: the GPU has no such memory
  std::function<void(void*)> release;
};

// Kinds of memory as HIP 5.2.3 requests them from the driver; `fine_host`: all host memory is fine-grained. HIP does not pass
// hipExtHostRegisterCoarseGrained to the driver. Managed memory is coarse-grained with a driver without shared virtual memory,
// such as Lacuna's; with such a driver, MI200 loses atomics there, too.
std::vector<Memory> kinds(bool fine_host) {
  const auto pinned = [](unsigned flags) {
    return [flags](std::size_t bytes) {
      void* at = nullptr;
      HIP_CHECK(hipHostMalloc(&at, bytes, flags));
      return at;
    };
  };
  const auto registered = [](unsigned flags) {
    return [flags](std::size_t bytes) {
      void* const at = std::aligned_alloc(4096, bytes);
      void* seen = nullptr;
      HIP_CHECK(hipHostRegister(at, bytes, flags));
      HIP_CHECK(hipHostGetDevicePointer(&seen, at, 0));
      return seen;
    };
  };
  const auto extended = [](unsigned flags) {
    return [flags](std::size_t bytes) {
      void* at = nullptr;
      return hipExtMallocWithFlags(&at, bytes, flags) == hipSuccess ? at : nullptr;
    };
  };
  const auto free_pinned = [](void* at) { HIP_CHECK(hipHostFree(at)); };
  const auto free_device = [](void* at) { HIP_CHECK(hipFree(at)); };
  const auto keep = [](void*) {};
  return {
      {"hipMalloc", false,
       [](std::size_t bytes) {
         void* at = nullptr;
         HIP_CHECK(hipMalloc(&at, bytes));
         return at;
       },
       free_device},
      {"hipHostMalloc default", true, pinned(hipHostMallocDefault), free_pinned},
      {"hipHostMalloc coherent", true, pinned(hipHostMallocCoherent), free_pinned},
      {"hipHostMalloc non-coherent", fine_host, pinned(hipHostMallocNonCoherent), free_pinned},
      {"hipMallocManaged", fine_host,
       [](std::size_t bytes) {
         void* at = nullptr;
         HIP_CHECK(hipMallocManaged(&at, bytes));
         return at;
       },
       free_device},
      {"hipHostRegister", true, registered(hipHostRegisterDefault), keep},
      {"hipHostRegister coarse-grained", true, registered(hipExtHostRegisterCoarseGrained), keep},
      {"hipExtMallocWithFlags default", false, extended(hipDeviceMallocDefault), free_device},
      {"hipExtMallocWithFlags fine-grained", true, extended(hipDeviceMallocFinegrained), free_device},
      {"__device__", false,
       [](std::size_t) {
         void* at = nullptr;
         HIP_CHECK(hipGetSymbolAddress(&at, HIP_SYMBOL(device_variable)));
         return at;
       },
       keep},
      {"__managed__", fine_host, [](std::size_t) { return static_cast<void*>(managed_variable); }, keep},
  };
}

double value(const std::vector<double>& raw, Operation operation, unsigned element) {
  if (is_double(operation)) return raw[element];
  if (operation == Operation::packed) {
    std::uint32_t word;
    std::memcpy(&word, reinterpret_cast<const char*>(raw.data()) + element * 4, 4);
    return (word & 0xffff) == word >> 16 && word >> 16 == 0x4400 ? kSharers : word;
  }
  float single;
  std::memcpy(&single, reinterpret_cast<const char*>(raw.data()) + element * 4, 4);
  return single;
}

}  // namespace

int main(int argc, char** argv) {
  const bool drops = argc > 1 && std::string(argv[1]) == "drop";
  const bool fine_host = argc > 2 && std::string(argv[2]) == "fine_host";
  hipDeviceProp_t properties;
  HIP_CHECK(hipGetDeviceProperties(&properties, 0));
  const bool hardware = std::string(properties.gcnArchName).rfind("gfx90a", 0) == 0;
  constexpr std::size_t kBytes = kElements * sizeof(double);
  double* returned = nullptr;
  HIP_CHECK(hipMalloc(reinterpret_cast<void**>(&returned), kThreads * sizeof(double)));
  for (const Memory& memory : kinds(fine_host)) {
    void* const at = memory.allocate(kBytes);
    if (at == nullptr) {
      std::printf("%s: not here\n", memory.name);
      continue;
    }
    for (const Operation operation : kOperations) {
      const double start = operation == Operation::min64 ? 8 : 0;
      std::vector<double> raw(kElements, start);
      HIP_CHECK(hipMemcpy(at, raw.data(), kBytes, hipMemcpyDefault));
      launch<Operation::add32, Operation::add32_no_return, Operation::packed, Operation::add64, Operation::min64,
             Operation::max64, Operation::buffer32, Operation::safe32, Operation::safe64, Operation::lds>(operation, at,
                                                                                                          returned);
      HIP_CHECK(hipDeviceSynchronize());
      HIP_CHECK(hipMemcpy(raw.data(), at, kBytes, hipMemcpyDefault));
      std::vector<double> old(kThreads);
      HIP_CHECK(hipMemcpy(old.data(), returned, kThreads * sizeof(double), hipMemcpyDefault));
      const bool lost = drops && hardware && memory.fine && by_hardware(operation);
      unsigned wrong = 0, wrongly_returned = 0;
      for (unsigned i = 0; i < kElements; ++i) wrong += value(raw, operation, i) != (lost ? start : double{kSharers});
      // Of the threads that share an element, the first one to execute receives the initial value.
      for (unsigned i = 0; i < kThreads; i += kSharers) {
        double least = old[i], sum = 0;
        for (unsigned k = 0; k < kSharers; ++k) {
          least = std::min(least, old[i + k]);
          sum += old[i + k];
        }
        const bool returns = operation != Operation::add32_no_return && operation != Operation::lds;
        const double expected = lost || !returns ? 0 : operation == Operation::min64 ? 4 : 0;
        wrongly_returned += least != expected || (returns && !lost) != (sum != 0);
      }
      if (wrong != 0 || wrongly_returned != 0)
        std::printf("%s, %s: %u elements and %u returned values are wrong\n", memory.name, kNames[static_cast<int>(operation)],
                    wrong, wrongly_returned);
      EXPECT_EQ(wrong, 0u);
      EXPECT_EQ(wrongly_returned, 0u);
    }
    memory.release(at);
  }
  return check::result();
}
