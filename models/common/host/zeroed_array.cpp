#include "models/common/host/zeroed_array.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace lacuna {
namespace {

/// From here on memory is a mapping of its own: the operating system's call costs more than to clear less.
constexpr std::size_t kMapped = 128 * 1024;
/// Elements that share a line of the host's caches do so as they would in an array of their own.
constexpr std::size_t kAlignment = 64;

}  // namespace

void* allocate_zeroed(std::size_t bytes) {
  if (bytes >= kMapped) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return memory;
  }
  void* const memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  return memory;
}

void free_zeroed(void* memory, std::size_t bytes) {
  if (bytes >= kMapped) {
    munmap(memory, bytes);
  } else {
    std::free(memory);
  }
}

void zero_again(void* memory, std::size_t bytes) {
  // Anonymous private memory that is given back reads as zeros.
  if (bytes >= kMapped && madvise(memory, bytes, MADV_DONTNEED) == 0) return;
  std::memset(memory, 0, bytes);
}

}  // namespace lacuna
