// Places the program's heap and large arrays in huge pages of the host.
//
// With 4 KiB pages, page faults of the host dominate the start-up time: SystemC's library allocates and clears a heap of 3 MiB
// when it is loaded (768 pages), and the models of an R9 Nano use 8 MiB of small objects (2,000 pages).
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Initial size of the heap: more than the models of the largest GPU use. Pages that are not accessed use no memory.
constexpr int kHeap = 64 << 20;
// Increment by which the heap grows beyond its initial size: the C library's default.
constexpr int kStep = 128 << 10;
// Minimum size of blocks that are mapped separately, and so returned to the host when they are freed.
constexpr int kOwnMapping = 1 << 20;

[[gnu::constructor]] void lay_heap_in_huge_pages() {
  mallopt(M_TOP_PAD, kHeap);
  mallopt(M_TRIM_THRESHOLD, 2 * kHeap);
  mallopt(M_MMAP_THRESHOLD, kOwnMapping);
  // Larger than the rest of the initial heap, so that this allocation makes the heap grow to kHeap.
  void* const block = std::malloc(kOwnMapping / 2);
  mallopt(M_TOP_PAD, kStep);
  if (block == nullptr) return;  // the process may be limited to less memory
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(block) + kHugePage - 1) & ~(kHugePage - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  // A host without huge pages uses small pages.
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  std::free(block);
}

}  // namespace

void* operator new[](std::size_t bytes) {
  const std::size_t whole = (bytes + kHugePage - 1) & ~(kHugePage - 1);
  if (bytes >= kHugePage && whole >= bytes) {
    if (void* const block = std::aligned_alloc(kHugePage, whole)) {
      ::madvise(block, whole, MADV_HUGEPAGE);  // a host without huge pages uses small pages
      return block;
    }
  }
  // malloc(0) may return a null pointer, which new may not.
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}

void operator delete[](void* block) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
