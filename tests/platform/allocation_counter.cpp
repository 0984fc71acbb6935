#include "tests/platform/allocation_counter.h"

#include <cstdlib>
#include <new>

namespace {
std::uint64_t count = 0;
}  // namespace

std::uint64_t lacuna::test::allocations() { return count; }

void* operator new(std::size_t bytes) {
  ++count;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++count;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
