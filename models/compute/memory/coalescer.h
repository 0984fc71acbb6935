// Turns the lanes' addresses of one vector memory instruction into line transactions.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "models/common/transport/byte_mask.h"
#include "models/isa/memory/memory_interface.h"

namespace lacuna {

/// A transaction: GPU virtual address of a line, and the bytes of the line that the lanes access.
struct CoalescedLine {
  std::uint64_t address = 0;
  ByteMask byte_mask{};
};

/// All 64 lanes of one instruction are coalesced together; each distinct line becomes one transaction. Transactions are in the
/// order of the first lanes that access their lines (as in MGPUSim's coalescer; hardware works on groups of 16 lanes,
/// docs/deviations/compute.md).
class Coalescer {
 public:
  /// `line_bytes`: 32, 64 or 128; otherwise std::invalid_argument.
  explicit Coalescer(unsigned line_bytes);
  using Addresses = std::array<std::uint64_t, isa::kLanes>;

  /// Lines touched by the active lanes of a global or scratch access. Valid until the next call.
  std::span<const CoalescedLine> coalesce(const isa::MemoryAccess& access, const Addresses& addresses);
  unsigned line_bytes() const { return line_bytes_; }

  // begin() and add() are an alternative to coalesce() for accesses that are added one by one.
  void begin() {
    count_ = 0;
    call_ += kNextCall;
  }
  void add(std::uint64_t address, std::uint64_t bytes);
  /// Lines added since begin(), or by the last coalesce().
  std::span<const CoalescedLine> lines() const { return {lines_.data(), count_}; }
  /// contains(), meets(): whether lines() has all, or any, of the lines of [address, address + bytes).
  bool contains(std::uint64_t address, std::uint64_t bytes) const;
  bool meets(std::uint64_t address, std::uint64_t bytes) const;

 private:
  /// Adds the bytes of a lane; `mask`: bytes 0 to `bytes` - 1.
  void add_lane(std::uint64_t address, std::uint64_t bytes, ByteMask mask) {
    const std::uint64_t within = address & (line_bytes_ - 1);
    if (within + bytes <= line_bytes_) [[likely]] {
      add_to_line(address - within, mask << static_cast<unsigned>(within));
    } else {
      add(address, bytes);
    }
  }
  void add_to_line(std::uint64_t line, ByteMask mask);
  bool has(std::uint64_t line) const;
  /// Bucket at which the search for a line begins.
  unsigned bucket_of(std::uint64_t line) const;
  std::uint64_t line_of(std::uint64_t address) const { return address & ~std::uint64_t{line_bytes_ - 1}; }

  // Open-addressing hash table of the lines so far. An entry holds the number of the call that made it and, in its low byte,
  // the line's index. Entries of earlier calls are treated as empty, so the table is never cleared.
  static constexpr unsigned kBuckets = 4 * isa::kLanes;
  static constexpr std::uint64_t kNextCall = 256;

  unsigned line_bytes_;
  unsigned line_shift_;
  unsigned count_ = 0;
  std::uint64_t call_ = 0;
  std::array<std::uint64_t, kBuckets> buckets_{};
  // A lane touches at most 16 bytes: two lines when unaligned (32-byte lines and b128 included).
  std::array<CoalescedLine, 2 * isa::kLanes> lines_{};
};

}  // namespace lacuna
