#include "models/common/host/zeroed_array.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "models/common/host/huge_page_resource.h"

namespace lacuna {
namespace {

/// Size in bytes from which an array has a separate mapping.
constexpr std::size_t kMapped = 128 * 1024;
/// Alignment of small arrays: elements share cache lines as in a separate mapping.
constexpr std::size_t kAlignment = 64;

/// Places smaller arrays one after another in mappings with the size of a huge page. A system call for each array would cost
/// more than clearing it, and clearing is unnecessary for most tags of a large GPU's caches, which are never accessed. Memory
/// is not reused before its mapping is unmapped, so it is always zero.
class SharedMappings {
 public:
  void* allocate(std::size_t bytes) {
    const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const std::lock_guard lock(mutex_);
    if (whole > left_) begin_mapping();
    ++arrays_[current_];
    left_ -= whole;
    return std::exchange(next_, next_ + whole);
  }
  void free(void* memory) {
    const std::lock_guard lock(mutex_);
    release(reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(memory) & ~(kMapping - 1)));
  }

 private:
  static constexpr std::size_t kMapping = std::size_t{2}
                                          << 20;  // size and alignment of a mapping; free() finds the mapping by its alignment

  // The current mapping is counted as an array, so that it is kept while it holds no arrays.
  void begin_mapping() {
    auto* const mapping = static_cast<std::byte*>(huge_page_resource().allocate(kMapping, kMapping));
    madvise(mapping, kMapping, MADV_NOHUGEPAGE);  // a small kernel accesses few tags of a large GPU
    if (current_ != nullptr) release(current_);
    arrays_[mapping] = 1;
    current_ = next_ = mapping;
    left_ = kMapping;
  }
  void release(std::byte* mapping) {
    const auto found = arrays_.find(mapping);
    if (--found->second != 0) return;
    arrays_.erase(found);
    huge_page_resource().deallocate(mapping, kMapping, kMapping);
  }

  std::mutex mutex_;
  std::unordered_map<std::byte*, unsigned> arrays_;  ///< number of arrays in each mapping
  std::byte* current_ = nullptr;
  std::byte* next_ = nullptr;  ///< beginning of the free memory in current_
  std::size_t left_ = 0;       ///< bytes of free memory in current_
};

// Never destroyed: arrays may outlive static objects.
SharedMappings& shared_mappings() {
  static auto* const instance = new SharedMappings;
  return *instance;
}

}  // namespace

void* allocate_zeroed(std::size_t bytes) {
  if (bytes < kMapped) return shared_mappings().allocate(bytes);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void free_zeroed(void* memory, std::size_t bytes) {
  if (bytes >= kMapped) {
    munmap(memory, bytes);
  } else {
    shared_mappings().free(memory);
  }
}

void zero_again(void* memory, std::size_t bytes) {
  // Anonymous private memory that has been returned to the host reads as zeros.
  if (bytes >= kMapped && madvise(memory, bytes, MADV_DONTNEED) == 0) return;
  std::memset(memory, 0, bytes);
}

}  // namespace lacuna
