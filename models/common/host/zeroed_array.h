// An array that begins as zero bytes and costs the host memory and time only where it is used: large tables of which a run
// touches a small part, such as the tags of a TLB with a million entries.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace lacuna {

/// Zeroed memory in whole pages of the host, none of which exists before it is touched. std::bad_alloc when there is none.
void* allocate_zeroed(std::size_t bytes);
/// Of allocate_zeroed().
void free_zeroed(void* memory, std::size_t bytes);
/// Makes it zero again. Of large memory the pages are given back, so that this costs no more than what was touched.
void zero_again(void* memory, std::size_t bytes);

/// T: any type of which zero bytes are a value, the one that elements begin with.
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
  /// All elements are zero bytes again.
  void clear() {
    if (elements_ != nullptr) zero_again(elements_, size_ * sizeof(T));
  }

 private:
  std::size_t size_ = 0;
  T* elements_ = nullptr;
};

}  // namespace lacuna
