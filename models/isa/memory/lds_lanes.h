// Positions of a DS instruction's lanes in the workgroup's LDS, and loads and stores of whole wavefronts. The instructions are
// in ds.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "models/isa/decode/instruction.h"
#include "models/isa/memory/memory_lanes.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa::lds {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using Operation = MemoryAccess::Operation;

inline std::uint32_t limit_of(const Wavefront& w) {
  return w.target == Target::gfx803 ? std::min(w.lds_bytes, w.sgpr[kM0]) : w.lds_bytes;
}

inline void note_access(Wavefront& w, Operation operation, bool returns, unsigned bytes) {
  MemoryAccess& access = w.access;
  access.space = MemoryAccess::Space::lds;
  access.operation = operation;
  access.returns_data = returns;
  access.glc = false;
  access.slc = false;
  access.dual = false;
  access.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  access.lanes = w.exec();
  access.lds_lanes = 0;
}

using Offsets = std::array<U32, kLanes>;

// Computes the byte offset of every lane; those of inactive lanes have no effect.
inline void fill_offsets(const std::uint32_t* base, std::uint32_t offset, Offsets& out) {
  for (unsigned l = 0; l < kLanes; ++l) out[l] = base[l] + offset;
}

// Resolves the addresses of the one-address form, whose encoding has a byte offset.
inline void resolve(const Instruction& i, Wavefront& w, LaneTargets& targets, unsigned bytes) {
  Offsets& offsets = w.addresses->lds;
  fill_offsets(w.v(i.src[0].index), static_cast<std::uint32_t>(i.mem.offset), offsets);
  targets.resolve_lds(w, w.access.lanes, offsets.data(), bytes, limit_of(w));
}

// Records the distance between the two addresses of a two-address form, whose encoding has two 8-bit offsets in units of the
// element or of 64 elements. Returns the first offset in bytes.
template <unsigned kBytes, unsigned kStride>
U32 note_pair(const Instruction& i, Wavefront& w) {
  const auto offset = static_cast<std::uint32_t>(i.mem.offset);
  const U32 first = (offset & 0xff) * kBytes * kStride;
  w.access.dual = true;
  w.access.dual_distance = (offset >> 8) * kBytes * kStride - first;
  return first;
}
template <unsigned kBytes, unsigned kStride>
void resolve_pair(const Instruction& i, Wavefront& w, LaneTargets& first, LaneTargets& second) {
  fill_offsets(w.v(i.src[0].index), note_pair<kBytes, kStride>(i, w), w.addresses->lds);
  Offsets behind;
  fill_offsets(w.addresses->lds.data(), w.access.dual_distance, behind);
  first.resolve_lds(w, w.access.lanes, w.addresses->lds.data(), kBytes, limit_of(w));
  second.resolve_lds(w, w.access.lanes, behind.data(), kBytes, limit_of(w));
}

// Position of lane 0's bytes if all lanes are active and adjacent in the allocation, else nullptr.
template <unsigned kBytes>
std::byte* neighbours(const Instruction& i, Wavefront& w, Operation operation) {
  const std::uint32_t* base = w.v(i.src[0].index);
  if (w.exec() != kAllLanes || base[kLanes - 1] - base[0] != (kLanes - 1) * kBytes) return nullptr;
  std::uint32_t differs = 0;
  for (unsigned l = 0; l < kLanes; ++l) differs |= base[l] - base[0] - l * kBytes;
  const U64 first = U64{base[0]} + static_cast<std::uint32_t>(i.mem.offset);
  if (differs != 0 || first + kLanes * kBytes > limit_of(w)) return nullptr;
  note_access(w, operation, operation == Operation::load, kBytes);
  for (unsigned l = 0; l < kLanes; ++l) w.addresses->lds[l] = static_cast<U32>(first) + l * kBytes;
  return w.lds + first;
}

// Properties of the offsets of 64 active lanes. In nearly every access all offsets are inside the allocation, so no check per
// lane is needed.
struct Survey {
  bool inside = false;                  ///< all addresses, including second addresses, are inside the allocation
  RowShape rows = RowShape::scattered;  ///< common shape of all rows of dwords; scattered: rows differ
};

// Whether all offsets are at least `lowest`; if so, second addresses below them do not wrap. Rarely called, and not inlined,
// because inlining would cost the common case registers.
[[gnu::noinline]] inline bool all_from(const Offsets& offsets, U32 lowest) {
  return *std::min_element(offsets.begin(), offsets.end()) >= lowest;
}

// Fills the offsets of all lanes and surveys them in one pass; `distance`: distance of the second address.
template <unsigned kBytes>
[[gnu::always_inline]] inline Survey survey(const Wavefront& w, const U32* base, U32 offset, Offsets& out, U32 distance = 0) {
  using Row [[gnu::vector_size(kRowLanes * sizeof(U32)), gnu::aligned(4), gnu::may_alias]] = U32;
  using Whole [[gnu::vector_size(kRowLanes * sizeof(U32))]] = U32;
  // In rows of regular shape, lane n is n times as far from the row's first lane as lane 1.
  const Whole apart = Whole{0, 1, 2, 3, 4, 5, 6, 7} * (base[1] - base[0]);
  Whole highest{};
  Whole differs{};
#pragma GCC unroll 8
  for (unsigned first = 0; first < kLanes; first += kRowLanes) {
    const Whole at = *reinterpret_cast<const Row*>(base + first) + offset;
    highest = highest > at ? highest : at;
    // The first lane is loaded again from the register: GCC would otherwise extract it through a scalar register, which is
    // slower.
    differs |= (at - __builtin_shufflevector(at, at, 0, 0, 0, 0, 0, 0, 0, 0)) ^ apart;
    *reinterpret_cast<Row*>(out.data() + first) = at;
  }
  Survey found;
  if (is_zero(differs)) {
    if (base[1] == base[0]) found.rows = RowShape::one_place;
    if (base[1] - base[0] == sizeof(U32)) found.rows = RowShape::neighbours;
  }
  const auto behind = static_cast<std::int32_t>(distance);
  const std::int64_t last = std::int64_t{limit_of(w)} - kBytes - std::max(behind, 0);
  if (last < 0) return found;
  const Whole most = Whole{} + static_cast<U32>(last);
  found.inside = is_zero((highest > most ? highest : most) ^ most);
  if (behind < 0) [[unlikely]]
    found.inside &= all_from(out, 0 - distance);
  return found;
}

// Loads the dwords of every lane at its offset and, with kPair, at `distance` after it. `rows`: common shape of all rows;
// scattered if they differ.
template <unsigned kWords, bool kPair = false>
void gather(const std::byte* lds, const Offsets& offsets, RowShape rows, U32* dst, std::int32_t distance = 0) {
  // The shape is tested once, not once per word.
  const auto load_words = [&](unsigned first, auto load) {
    for (unsigned word = 0; word < kWords; ++word) {
      const std::byte* from = lds + word * 4;
      load(from, dst + word * kLanes + first);
      if constexpr (kPair) load(from + distance, dst + (kWords + word) * kLanes + first);
    }
  };
  const auto copy = [&](unsigned first) {
    load_words(first, [at = offsets[first]](const std::byte* from, U32* to) { copy_row(from + at, to); });
  };
  const auto fill = [&](unsigned first) {
    load_words(first, [at = offsets[first]](const std::byte* from, U32* to) { fill_row(from + at, to); });
  };
  // A row of adjacent lanes can be copied as a block only if each lane has one word; several words per lane must be rearranged.
  constexpr bool kCopies = kWords == 1;
  if (kCopies && rows == RowShape::neighbours) {
#pragma GCC unroll 8
    for (unsigned first = 0; first < kLanes; first += kRowLanes) copy(first);
  } else if (rows == RowShape::one_place) {
#pragma GCC unroll 8
    for (unsigned first = 0; first < kLanes; first += kRowLanes) fill(first);
  } else {
    for (unsigned first = 0; first < kLanes; first += kRowLanes) {
      const U32* at = offsets.data() + first;
      const RowShape shape = shape_of_row<U32>(at, kWords * 4);
      if (kCopies && shape == RowShape::neighbours) {
        copy(first);
      } else if (shape == RowShape::one_place) {
        fill(first);
      } else {
        load_words(first, [at](const std::byte* from, U32* to) {
          for (unsigned l = 0; l < kRowLanes; ++l) std::memcpy(to + l, from + at[l], 4);
        });
      }
    }
  }
}

// Stores the lanes' dwords in ascending order of lanes: if several lanes write the same position, the data of the last of these
// lanes remain.
template <unsigned kWords>
void scatter(std::byte* lds, const Offsets& offsets, const U32* src) {
  for (unsigned first = 0; first < kLanes; first += kRowLanes) {
    const U32* at = offsets.data() + first;
    if (kWords == 1 && shape_of_row<U32>(at, 4) == RowShape::neighbours) {
      std::memcpy(lds + at[0], src + first, kRowLanes * 4);
      continue;
    }
    for (unsigned l = 0; l < kRowLanes; ++l) {
      for (unsigned word = 0; word < kWords; ++word) std::memcpy(lds + at[l] + word * 4, src + word * kLanes + first + l, 4);
    }
  }
}

}  // namespace lacuna::isa::lds
