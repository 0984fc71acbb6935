#include "workloads/common/device_array.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "workloads/common/error.h"

namespace workload {
namespace {

std::size_t allocated = 0, most_allocated = 0;  // bytes

std::string in_units(double bytes) {
  const char* unit = "bytes";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (bytes < 1024) break;
    bytes /= 1024;
    unit = next;
  }
  char text[64];
  std::snprintf(text, sizeof text, "%.4g %s", bytes, unit);
  return text;
}

}  // namespace

void require(hipError_t status, const std::string& what) {
  if (status == hipSuccess) return;
  throw Error(what + ": " + hipGetErrorString(status) + " (" + hipGetErrorName(status) + ")");
}

void* allocate(const std::string& name, std::size_t count, std::size_t element_size) {
  std::size_t available = 0, total = 0;
  require(hipMemGetInfo(&available, &total), "asking for the GPU's memory");
  const bool fits_size_t = count <= std::numeric_limits<std::size_t>::max() / element_size;
  void* memory = nullptr;
  // An allocation of 0 bytes is a null pointer, which kernels never dereference.
  if (fits_size_t && count * element_size <= available) {
    const hipError_t status = hipMalloc(&memory, count * element_size);
    if (status != hipErrorOutOfMemory) {
      require(status, "allocating " + name);
      allocated += count * element_size;
      most_allocated = std::max(most_allocated, allocated);
      return memory;
    }
  }
  throw Error(name + " takes " + in_units(static_cast<double>(count) * static_cast<double>(element_size)) +
              " of the GPU's memory, of " + in_units(static_cast<double>(total)) + " only " +
              in_units(static_cast<double>(available)) + " are free: take smaller sizes, or more memory (vram.size)");
}

void release(void* memory, std::size_t count, std::size_t element_size) {
  (void)hipFree(memory);
  allocated -= count * element_size;
}

std::size_t peak_memory() { return most_allocated; }

}  // namespace workload
