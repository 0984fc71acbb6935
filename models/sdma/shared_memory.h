// Accesses to memory that host threads and other engines access concurrently.
#pragma once

#include <atomic>
#include <cstddef>

namespace lacuna {

/// Loads with acquire order. `at` is aligned to sizeof(T).
template <class T>
T load_shared(const std::byte* at) {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(const_cast<std::byte*>(at))).load(std::memory_order_acquire);
}
/// Stores with release order. `at` is aligned to sizeof(T).
template <class T>
void store_shared(std::byte* at, T value) {
  std::atomic_ref<T>(*reinterpret_cast<T*>(at)).store(value, std::memory_order_release);
}

}  // namespace lacuna
