#include "models/common/host/huge_page_resource.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#include "models/common/host/huge_pages.h"

namespace lacuna {

namespace {
std::size_t whole_pages(std::size_t bytes) { return (bytes + kHugePage - 1) & ~(kHugePage - 1); }
}  // namespace

void* HugePageResource::do_allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t wanted = whole_pages(bytes);
  if (alignment > kHugePage || wanted < bytes) throw std::bad_alloc();
  // Map one huge page more than requested, then unmap the unaligned ends.
  void* mapping =
      ::mmap(nullptr, wanted + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  auto* begin = static_cast<std::byte*>(mapping);
  const std::size_t before = whole_pages(reinterpret_cast<std::uintptr_t>(begin)) - reinterpret_cast<std::uintptr_t>(begin);
  if (before != 0) ::munmap(begin, before);
  ::munmap(begin + before + wanted, kHugePage - before);
  ::madvise(begin + before, wanted, MADV_HUGEPAGE);  // a host without huge pages uses small pages
  return begin + before;
}

void HugePageResource::do_deallocate(void* memory, std::size_t bytes, std::size_t) { ::munmap(memory, whole_pages(bytes)); }

bool HugePageResource::do_is_equal(const std::pmr::memory_resource& other) const noexcept {
  return dynamic_cast<const HugePageResource*>(&other) != nullptr;
}

HugePageResource& huge_page_resource() {
  // Never destroyed: memory may be freed after the destruction of static objects.
  static auto& resource = *new HugePageResource;
  return resource;
}

}  // namespace lacuna
