// Host memory in huge pages, for state that is accessed as a whole: with 4 KiB pages, each access to the registers of another
// compute unit would miss the host's TLB.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace lacuna {

/// Allocates separate mappings, zeroed and aligned to 2 MiB, and requests huge pages for them. Small objects should be
/// allocated through a std::pmr::monotonic_buffer_resource on top of this resource. Throws std::bad_alloc.
class HugePageResource : public std::pmr::memory_resource {
 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;
};

/// The resource shared by all users whose state is not part of a larger arena.
HugePageResource& huge_page_resource();

}  // namespace lacuna
