#include "models/gpu/coalescer.h"

#include <bit>
#include <stdexcept>

namespace lacuna {

namespace {
/// Mask of bytes [first, first + count) of a line.
std::uint64_t mask_of(std::uint64_t first, std::uint64_t count) {
  const std::uint64_t ones = count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  return ones << first;
}
}  // namespace

Coalescer::Coalescer(unsigned line_bytes) : line_bytes_(line_bytes) {
  if (line_bytes != 32 && line_bytes != 64) throw std::invalid_argument("Coalescer: a transaction is 32 or 64 bytes");
}

std::span<const LineRequest> Coalescer::coalesce(const isa::MemoryAccess& access) {
  count_ = 0;
  if (access.bytes_per_lane == 0) return {};
  if (!coalesce_contiguous(access)) {
    for (std::uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
      add(access.address[static_cast<unsigned>(std::countr_zero(lanes))], access.bytes_per_lane);
    }
  }
  return {lines_.data(), count_};
}

// The usual case, a full wavefront that walks an array: found without a search per lane.
bool Coalescer::coalesce_contiguous(const isa::MemoryAccess& access) {
  if (access.lanes != ~std::uint64_t{0}) return false;
  const std::uint64_t first = access.address[0];
  const std::uint64_t step = access.bytes_per_lane;
  std::uint64_t difference = 0;
  for (unsigned l = 0; l < isa::kLanes; ++l) difference |= access.address[l] ^ (first + l * step);
  if (difference != 0) return false;
  const std::uint64_t end = first + isa::kLanes * step;
  for (std::uint64_t at = first; at < end;) {
    const std::uint64_t line = at & ~std::uint64_t{line_bytes_ - 1};
    const std::uint64_t stop = line + line_bytes_ < end ? line + line_bytes_ : end;
    lines_[count_++] = {line, mask_of(at - line, stop - at)};
    at = stop;
  }
  return true;
}

void Coalescer::add(std::uint64_t address, unsigned bytes) {
  while (bytes > 0) {
    const std::uint64_t line = address & ~std::uint64_t{line_bytes_ - 1};
    const std::uint64_t offset = address - line;
    const auto here = static_cast<unsigned>(offset + bytes <= line_bytes_ ? bytes : line_bytes_ - offset);
    unsigned i = count_;
    while (i > 0 && lines_[i - 1].address != line) --i;  // neighbours share lines: search from the latest
    if (i == 0) {
      lines_[count_++] = {line, mask_of(offset, here)};
    } else {
      lines_[i - 1].byte_mask |= mask_of(offset, here);
    }
    address += here;
    bytes -= here;
  }
}

}  // namespace lacuna
