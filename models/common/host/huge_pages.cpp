#include "models/common/host/huge_pages.h"

#include <sys/mman.h>

namespace lacuna {

namespace {

std::uintptr_t number(const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address); }
std::uintptr_t down(std::uintptr_t n) { return n & ~(kHugePage - 1); }
std::uintptr_t up(std::uintptr_t n) { return down(n + kHugePage - 1); }

}  // namespace

void expect_writes(std::byte* begin, std::uint64_t bytes, std::byte* low, std::byte* high) {
  if (bytes < kHugePage) return;
  std::uintptr_t first = down(number(begin));
  std::uintptr_t last = up(number(begin) + bytes);
  if (first < number(low)) first += kHugePage;
  if (last > number(high)) last -= kHugePage;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace lacuna
