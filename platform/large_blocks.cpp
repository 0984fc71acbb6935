// Large arrays of the program lie in huge pages of the host.
//
// SystemC's library makes and clears a heap of 3 MiB when it is loaded. In small pages that is 768 page faults, more than all
// else that a start costs; in huge ones it is two.
#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

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
