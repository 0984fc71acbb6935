#include "models/isa/memory/ds_lane_moves.h"

#include <algorithm>
#include <array>
#include <bit>

#include "models/isa/memory/memory_lanes.h"

namespace lacuna::isa {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

// Source lanes of the modes that gfx9 adds (Vega ISA manual, "DS_SWIZZLE_B32"): an FFT step and rotation. Both move lanes
// within groups of 32 and keep the bits of a lane's number that are set in `mask`.
unsigned fft_source(unsigned lane, unsigned mask) {
  unsigned reversed = 0;
  for (unsigned bit = 0; bit < 5; ++bit) reversed |= (lane >> bit & 1) << (4 - bit);
  return (reversed >> std::popcount(mask)) | (lane & mask) | (lane & 32);
}
unsigned rotated_source(unsigned lane, unsigned pattern) {
  const unsigned mask = pattern & 0x1f;
  const unsigned amount = pattern >> 5 & 0x1f;
  const bool down = (pattern >> 10 & 1) != 0;
  const unsigned moved = down ? lane - amount : lane + amount;
  return (lane & mask) | (moved & ~mask & 0x1f) | (lane & 32);
}

// Lane that `lane` reads from (GCN3 ISA manual, "DS_SWIZZLE_B32"): a permutation of each quad, or AND, OR and XOR masks applied
// to the lane number within groups of 32 lanes.
unsigned swizzle_source(unsigned lane, unsigned pattern, Target target) {
  if (target != Target::gfx803 && pattern >= 0xe000) return fft_source(lane, pattern & 0x1f);
  if (target != Target::gfx803 && pattern >= 0xc000) return rotated_source(lane, pattern);
  if ((pattern & 0x8000) != 0) return (lane & ~3U) | (pattern >> ((lane & 3) * 2) & 3);
  const unsigned and_mask = pattern & 0x1f;
  const unsigned or_mask = pattern >> 5 & 0x1f;
  const unsigned xor_mask = pattern >> 10 & 0x1f;
  return (lane & 32) | ((((lane & 31) & and_mask) | or_mask) ^ xor_mask);
}

}  // namespace

void ds_swizzle(const Instruction& i, Wavefront& w) {
  note_no_access(w);
  const U64 exec = w.exec();
  std::array<U32, kLanes> source;
  std::copy_n(w.v(i.src[0].index), kLanes, source.begin());
  U32* dst = w.planes(i.dst[0]);
  for_lanes(exec, [&](unsigned l) {
    const unsigned from = swizzle_source(l, static_cast<unsigned>(i.mem.offset), w.target);
    dst[l] = (exec >> from & 1) != 0 ? source[from] : 0;
  });
}

void ds_permute(const Instruction& i, Wavefront& w) {
  note_no_access(w);
  std::array<U32, kLanes> result{};
  const U32* address = w.v(i.src[0].index);
  const U32* data = w.planes(i.src[1]);
  for_lanes(w.exec(), [&](unsigned l) { result[(address[l] + static_cast<unsigned>(i.mem.offset)) / 4 % kLanes] = data[l]; });
  U32* dst = w.planes(i.dst[0]);
  for_lanes(w.exec(), [&](unsigned l) { dst[l] = result[l]; });
}

void ds_permute_backward(const Instruction& i, Wavefront& w) {
  note_no_access(w);
  const U64 exec = w.exec();
  std::array<U32, kLanes> source;
  std::copy_n(w.planes(i.src[1]), kLanes, source.begin());
  const U32* address = w.v(i.src[0].index);
  U32* dst = w.planes(i.dst[0]);
  for_lanes(exec, [&](unsigned l) {
    const unsigned from = (address[l] + static_cast<unsigned>(i.mem.offset)) / 4 % kLanes;
    dst[l] = (exec >> from & 1) != 0 ? source[from] : 0;
  });
}

}  // namespace lacuna::isa
