// An array of zeros in memory that is already zero: construction accesses no element, so an element costs host memory and time
// only from its first use on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <type_traits>

namespace lacuna {

/// T: a type for which all-zero bytes are a valid value. The elements are aligned to a cache line of the host.
template <class T>
class ZeroedBlock {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  /// `zeroed`: a resource that allocates zeroed memory, such as HugePageResource. It must outlive the block.
  ZeroedBlock(std::size_t size, std::pmr::memory_resource& zeroed)
      : size_(size), zeroed_(zeroed), elements_(static_cast<T*>(zeroed.allocate(bytes(), kAlignment))) {}
  ~ZeroedBlock() { zeroed_.deallocate(elements_, bytes(), kAlignment); }
  ZeroedBlock(const ZeroedBlock&) = delete;
  ZeroedBlock& operator=(const ZeroedBlock&) = delete;

  std::size_t size() const { return size_; }
  T* data() { return elements_; }
  const T* data() const { return elements_; }

 private:
  static constexpr std::size_t kAlignment = std::max(std::size_t{64}, alignof(T));
  std::size_t bytes() const { return size_ * sizeof(T); }

  std::size_t size_;
  std::pmr::memory_resource& zeroed_;
  T* elements_;
};

}  // namespace lacuna
