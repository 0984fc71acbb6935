// The program's heap, and large arrays, lie in huge pages of the host.
//
// In pages of 4 KiB most of what a start costs is the host's page faults: SystemC's library makes and clears a heap of 3 MiB
// when it is loaded (768 pages), the models of an R9 Nano take 8 MiB of small objects (2,000 pages).
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
// More than the models of the largest GPU take; what is not touched takes no memory.
constexpr int kHeap = 64 << 20;
// By which the heap grows when that is used up: the C library's default.
constexpr int kStep = 128 << 10;
// From this size on blocks are mappings of their own, which the host gives back when they are freed.
constexpr int kOwnMapping = 1 << 20;

[[gnu::constructor]] void lay_heap_in_huge_pages() {
  mallopt(M_TOP_PAD, kHeap);
  mallopt(M_TRIM_THRESHOLD, 2 * kHeap);
  mallopt(M_MMAP_THRESHOLD, kOwnMapping);
  // More than is left of the heap that the program was loaded with, so that it grows.
  void* const block = std::malloc(kOwnMapping / 2);
  mallopt(M_TOP_PAD, kStep);
  if (block == nullptr) return;  // the process may not have so much
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(block) + kHugePage - 1) & ~(kHugePage - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  // A host without huge pages gives small ones.
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  std::free(block);
}

}  // namespace

void* operator new[](std::size_t bytes) {
  const std::size_t whole = (bytes + kHugePage - 1) & ~(kHugePage - 1);
  if (bytes >= kHugePage && whole >= bytes) {
    if (void* const block = std::aligned_alloc(kHugePage, whole)) {
      ::madvise(block, whole, MADV_HUGEPAGE);  // a host without huge pages gives small ones
      return block;
    }
  }
  // malloc(0) may return a null pointer, which new may not.
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}

void operator delete[](void* block) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
