// Records that are named by their number and used again when they are done with: what is under way in a model, without an
// allocation for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lacuna {

/// A number from `free`, or that of a new record at the end of `all`. References into `all` do not outlive it.
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

/// The same with both of them in one place, for records whose numbers come and go in the hottest loops.
template <typename T>
class RecordPool {
 public:
  T& operator[](std::uint32_t number) { return all_[number]; }
  const T& operator[](std::uint32_t number) const { return all_[number]; }
  /// A number that is free, the one freed last; the record is as it was left. References do not outlive the call.
  [[gnu::always_inline]] std::uint32_t take() {
    if (count_ == 0) [[unlikely]]
      grow();
    return free_[--count_];
  }
  void release(std::uint32_t number) { free_[count_++] = number; }
  /// The one that is taken after `count` others, if there are so many.
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
  std::vector<std::uint32_t> free_;  // room for all; those up to count_ are
  std::size_t count_ = 0;
};

/// Records that stay where they are, so that pointers to them may be kept.
template <typename T>
class StableRecords {
 public:
  /// One that is free; it is as it was left.
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
