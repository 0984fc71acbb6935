// An array that is initially zero and costs host memory and time only where it is accessed. Intended for large tables of which
// a run accesses a small part, such as the tags of a TLB with a million entries.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace lacuna {

/// Allocates zeroed memory. A page occupies host memory only from its first access on. Throws std::bad_alloc.
void* allocate_zeroed(std::size_t bytes);
/// Frees memory that allocate_zeroed() has returned.
void free_zeroed(void* memory, std::size_t bytes);
/// Zeroes memory that allocate_zeroed() has returned. The pages of large arrays are returned to the host, so that only accessed
/// pages cost time.
void zero_again(void* memory, std::size_t bytes);

/// T: any type for which all-zero bytes are a valid value, which is the initial value of the elements.
template <class T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  ZeroedArray() = default;
  explicit ZeroedArray(std::size_t size)
      : size_(size), elements_(size == 0 ? nullptr : static_cast<T*>(allocate_zeroed(size * sizeof(T)))) {}
  ~ZeroedArray() {
    if (elements_ != nullptr) free_zeroed(elements_, size_ * sizeof(T));
  }
  ZeroedArray(ZeroedArray&& other) noexcept
      : size_(std::exchange(other.size_, 0)), elements_(std::exchange(other.elements_, nullptr)) {}
  ZeroedArray& operator=(ZeroedArray&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(elements_, other.elements_);
    return *this;
  }
  ZeroedArray(const ZeroedArray&) = delete;
  ZeroedArray& operator=(const ZeroedArray&) = delete;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return elements_[i]; }
  const T& operator[](std::size_t i) const { return elements_[i]; }
  /// Sets all elements to zero.
  void clear() {
    if (elements_ != nullptr) zero_again(elements_, size_ * sizeof(T));
  }

 private:
  std::size_t size_ = 0;
  T* elements_ = nullptr;
};

}  // namespace lacuna
