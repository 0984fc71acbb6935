// Buffer of stores that compute units have made within a time window and that other units cannot see yet: bytes by host
// address, in lines.
//
// Stores are written here, loads of the same units see them here, and flush() writes them to memory at the end of the window.
// Lines for which an operation has been deferred to the end of the window (models/isa/memory/deferred_access.h) are marked:
// later accesses to them are deferred as well, so that each access sees the effects of earlier accesses.
//
// The owner handles time and locking: the buffer has no notion of time and is not thread-safe. It does not allocate in steady
// state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lacuna::isa {

class StoreBuffer {
 public:
  static constexpr std::size_t kLineBytes = 64;

  StoreBuffer();

  /// Whether [at, at + bytes) overlaps the range of host addresses from the lowest to the highest line of the buffer. A cheap
  /// test, false for most loads.
  bool may_hold(const std::byte* at, std::size_t bytes) const { return may_hold(address(at), address(at) + bytes); }
  bool may_hold(std::uintptr_t first, std::uintptr_t end) const { return first < end_ && end > first_; }

  /// Whether a line that contains bytes of [at, at + bytes) may have been stored to. A finer test than may_hold(), for
  /// scattered lanes.
  bool may_meet(const std::byte* at, std::size_t bytes) const {
    const std::uintptr_t number = address(at) / kLineBytes;
    return table_[place_of(number)] != kFree || (address(at) + bytes - 1) / kLineBytes != number;
  }

  void store(std::byte* at, const std::byte* data, std::size_t bytes);
  /// Overwrites `data`, which holds memory's bytes of [at, at + bytes), with the bytes that have been stored. False: none have
  /// been stored.
  bool overlay(const std::byte* at, std::byte* data, std::size_t bytes) const;

  /// Records that an operation on [at, at + bytes) has been deferred.
  void mark_deferred(const std::byte* at, std::size_t bytes);
  /// Whether any line is marked; deferred(): whether a line of [at, at + bytes) is marked.
  bool any_deferred() const { return any_deferred_; }
  bool deferred(const std::byte* at, std::size_t bytes) const;

  /// Writes all bytes to memory, in the order in which lines were first stored to, and clears the buffer and all marks. Aligned
  /// words of 64 and 32 bits that are complete are written by one access, since other threads of the host may read them
  /// concurrently.
  void flush();
  bool empty() const { return count_ == 0; }
  /// Number of lines with stored bytes or marks.
  std::size_t lines() const { return count_; }

 private:
  struct Line {
    std::uintptr_t number = 0;  ///< host address / kLineBytes
    std::uint64_t mask = 0;     ///< bit i: byte i has been stored, and its data are valid
    bool deferred = false;
    std::array<std::byte, kLineBytes> data;
  };
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};

  static std::uintptr_t address(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); }
  /// Mask of the bytes [offset, offset + count) of a line.
  static std::uint64_t bytes_mask(std::size_t offset, std::size_t count) {
    return (~std::uint64_t{0} >> (64 - count)) << offset;
  }
  std::size_t place_of(std::uintptr_t number) const { return (number * kHashFactor) >> shift_; }
  /// Calls `body(line number, offset in the line, offset in the range, count)` for the part of a range in each line.
  template <typename Body>
  static void for_parts(std::uintptr_t first, std::size_t bytes, Body&& body);

  const Line* find(std::uintptr_t number) const;
  Line& line(std::uintptr_t number);
  void grow();

  // Fibonacci hashing: 2^64 / golden ratio (Knuth, The Art of Computer Programming, volume 3, 6.4).
  static constexpr std::uint64_t kHashFactor = 0x9e3779b97f4a7c15;

  std::vector<Line> lines_;  ///< half as many as table entries; the first count_ are in use
  std::size_t count_ = 0;
  std::vector<std::uint32_t> table_;  ///< index of a line or kFree; open addressing, a power of two, at most half full
  unsigned shift_ = 0;                ///< 64 - log2(size of table_)
  std::uintptr_t first_ = ~std::uintptr_t{0};
  std::uintptr_t end_ = 0;
  bool any_deferred_ = false;
};

}  // namespace lacuna::isa
