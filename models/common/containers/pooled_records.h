// Pools of records for operations in flight in a model: freed records are reused, nothing is allocated in steady state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lacuna {

/// Allocates a record and returns its number, which is taken from `free` or, if `free` is empty, is that of a new record at the
/// end of `all`. Invalidates references into `all`.
template <typename T>
[[gnu::always_inline]] inline std::uint32_t take_record(std::vector<T>& all, std::vector<std::uint32_t>& free) {
  if (free.empty()) [[unlikely]] {
    all.emplace_back();
    return static_cast<std::uint32_t>(all.size() - 1);
  }
  const std::uint32_t number = free.back();
  free.pop_back();
  return number;
}

/// A pool of records that are identified by their numbers, for the hottest loops.
template <typename T>
class RecordPool {
 public:
  T& operator[](std::uint32_t number) { return all_[number]; }
  const T& operator[](std::uint32_t number) const { return all_[number]; }
  /// Allocates the record that was released last, with its contents unchanged, and returns its number. If no record is free,
  /// creates records, which invalidates references.
  [[gnu::always_inline]] std::uint32_t take() {
    if (count_ == 0) [[unlikely]]
      grow();
    return free_[--count_];
  }
  void release(std::uint32_t number) { free_[count_++] = number; }
  /// The free record that take() returns after `count` further calls; null if fewer records are free.
  const T* ahead(std::size_t count) const { return count < count_ ? &all_[free_[count_ - 1 - count]] : nullptr; }
  std::size_t taken() const { return all_.size() - count_; }
  void clear() {
    all_.clear();
    count_ = 0;
  }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }

 private:
  static constexpr std::size_t kFirst = 16;

  [[gnu::noinline]] void grow() {
    const std::size_t before = all_.size();
    all_.resize(before == 0 ? kFirst : 2 * before);
    free_.resize(all_.size());
    for (std::size_t i = all_.size(); i > before; --i) release(static_cast<std::uint32_t>(i - 1));
  }

  std::vector<T> all_;
  std::vector<std::uint32_t> free_;  // stack of free numbers: the first count_ elements; sized for all records
  std::size_t count_ = 0;            // number of free records
};

/// A pool of records with stable addresses.
template <typename T>
class StableRecords {
 public:
  /// Allocates a record; a reused record has the contents that it had when it was released.
  T* take() {
    if (free_.empty()) [[unlikely]]
      grow();
    T* const record = free_.back();
    free_.pop_back();
    return record;
  }
  void release(T* record) { free_.push_back(record); }
  void clear() {
    blocks_.clear();
    free_.clear();
  }

 private:
  static constexpr std::size_t kBlock = 64;

  [[gnu::noinline]] void grow() {
    blocks_.push_back(std::make_unique<T[]>(kBlock));
    for (std::size_t i = kBlock; i > 0; --i) free_.push_back(&blocks_.back()[i - 1]);
  }

  std::vector<std::unique_ptr<T[]>> blocks_;
  std::vector<T*> free_;
};

}  // namespace lacuna
