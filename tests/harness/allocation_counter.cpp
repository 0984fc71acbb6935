#include "tests/harness/allocation_counter.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {
std::uint64_t count = 0;
std::uint64_t live_bytes = 0;

void release(void* memory) noexcept {
  live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}
}  // namespace

std::uint64_t lacuna::test::allocations() { return count; }
std::uint64_t lacuna::test::allocated_bytes() { return live_bytes; }

void* operator new(std::size_t bytes) {
  ++count;
  if (void* memory = std::malloc(bytes)) {
    live_bytes += malloc_usable_size(memory);
    return memory;
  }
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++count;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) {
    live_bytes += malloc_usable_size(memory);
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
