#include "models/compute/memory/coalescer.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "models/isa/memory/memory_lanes.h"

namespace lacuna {

namespace {
/// Mask of bytes [first, first + count) of a line.
ByteMask mask_of(std::uint64_t first, std::uint64_t count) {
  return ByteMask::first(static_cast<unsigned>(count)) << static_cast<unsigned>(first);
}
}  // namespace

Coalescer::Coalescer(unsigned line_bytes)
    : line_bytes_(line_bytes), line_shift_(static_cast<unsigned>(std::countr_zero(line_bytes))) {
  if (line_bytes != 32 && line_bytes != 64 && line_bytes != 128)
    throw std::invalid_argument("Coalescer: a transaction is 32, 64 or 128 bytes");
}

inline unsigned Coalescer::bucket_of(std::uint64_t line) const {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio: spreads strides (Knuth, vol. 3, 6.4)
  return static_cast<unsigned>((line >> line_shift_) * kGolden >> (64 - std::countr_zero(kBuckets)));
}

[[gnu::always_inline]] inline void Coalescer::add_to_line(std::uint64_t line, ByteMask mask) {
  // Adjacent lanes often share a line.
  const unsigned count = count_;
  if (count > 0 && lines_[count - 1].address == line) {
    lines_[count - 1].byte_mask |= mask;
    return;
  }
  for (unsigned bucket = bucket_of(line);; bucket = (bucket + 1) % kBuckets) {
    const std::uint64_t index = buckets_[bucket] - call_;  // wraps to a huge value if an earlier call made the entry
    if (index >= count) {
      buckets_[bucket] = call_ + count;
      lines_[count] = {line, mask};
      count_ = count + 1;
      return;
    }
    if (lines_[index].address == line) {
      lines_[index].byte_mask |= mask;
      return;
    }
  }
}

// Fast path for the usual case: a full wavefront whose lanes access consecutive elements in rows is coalesced row by row.
std::span<const CoalescedLine> Coalescer::coalesce(const isa::MemoryAccess& access, const Addresses& addresses) {
  begin();
  const std::uint64_t bytes = access.bytes_per_lane;
  if (bytes == 0) return {};
  const ByteMask mask = mask_of(0, bytes);
  if (access.lanes != ~std::uint64_t{0}) {
    for (std::uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
      add_lane(addresses[static_cast<unsigned>(std::countr_zero(lanes))], bytes, mask);
    }
    return {lines_.data(), count_};
  }
  // [begin, end): bytes covered by the adjacent rows seen so far.
  std::uint64_t begin = addresses[0];
  std::uint64_t end = begin;
  for (unsigned first = 0; first < isa::kLanes; first += isa::kRowLanes) {
    const std::uint64_t* row = &addresses[first];
    const isa::RowShape shape = isa::shape_of_row(row, bytes);
    if (shape != isa::RowShape::neighbours || row[0] != end) {
      add(begin, end - begin);
      begin = end = row[0];
    }
    if (shape == isa::RowShape::neighbours) {
      end += isa::kRowLanes * bytes;
    } else if (shape == isa::RowShape::one_place) {
      end += bytes;
    } else {
      for (unsigned l = 0; l < isa::kRowLanes; ++l) add_lane(row[l], bytes, mask);
    }
  }
  add(begin, end - begin);
  return {lines_.data(), count_};
}

void Coalescer::add(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  while (address != end) {
    const std::uint64_t line = line_of(address);
    const std::uint64_t stop = std::min(line + line_bytes_, end);
    add_to_line(line, mask_of(address - line, stop - address));
    address = stop;
  }
}

bool Coalescer::has(std::uint64_t line) const {
  for (unsigned bucket = bucket_of(line);; bucket = (bucket + 1) % kBuckets) {
    const std::uint64_t index = buckets_[bucket] - call_;
    if (index >= count_) return false;
    if (lines_[index].address == line) return true;
  }
}

bool Coalescer::contains(std::uint64_t address, std::uint64_t bytes) const {
  for (std::uint64_t line = line_of(address); line < address + bytes; line += line_bytes_) {
    if (!has(line)) return false;
  }
  return true;
}

bool Coalescer::meets(std::uint64_t address, std::uint64_t bytes) const {
  for (std::uint64_t line = line_of(address); line < address + bytes; line += line_bytes_) {
    if (has(line)) return true;
  }
  return false;
}

}  // namespace lacuna
