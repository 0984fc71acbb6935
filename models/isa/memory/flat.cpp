// FLAT: generic addresses; from gfx9 on also its segments GLOBAL and SCRATCH, whose address space is fixed. Semantics: GCN3 ISA
// manual, "Flat memory instructions", and CDNA2 ISA manual, "Flat memory instructions"; apertures and scratch layout: LLVM,
// "User Guide for AMDGPU Backend" (Memory Spaces, Flat Scratch).
#include <array>

#include "models/isa/memory/vector_memory.h"
#include "models/isa/row_sets.h"

namespace lacuna::isa {
namespace flat {
namespace {

using namespace vector_memory;

constexpr U64 kApertureSize = U64{1} << 32;

bool overlaps(const MemoryWindow& window, U64 aperture) {
  return aperture != 0 && window.base < aperture + kApertureSize && aperture < window.base + window.size;
}

// Lanes whose address lies in the aperture.
U64 lanes_in(const Wavefront& w, U64 lanes, U64 aperture) {
  U64 inside = 0;
  if (aperture == 0) return 0;
  for_lanes(lanes,
            [&](unsigned l) { inside |= static_cast<U64>(w.addresses->global[l] - aperture < kApertureSize ? 1 : 0) << l; });
  return inside;
}

// gfx8: FLAT_SCRATCH_HI is the wavefront's offset in units of 256 bytes and FLAT_SCRATCH_LO the bytes of one lane; gfx9: the
// pair is the address.
U64 private_base(const Wavefront& w) {
  if (w.target == Target::gfx803) return w.scratch_base + U64{w.sgpr[kFlatScratchHi]} * 256;
  return w.read64(kFlatScratchLo);
}

// Number of bytes of private memory that a lane may access. On gfx8 FLAT_SCRATCH_LO holds this number. On gfx9 there is no
// bound if FLAT_SCRATCH is not the wavefront's part of the queue's scratch memory: the kernel then manages private memory.
U64 private_bytes(const Wavefront& w, U64 base) {
  if (w.target == Target::gfx803) return w.sgpr[kFlatScratchLo];
  const PrivateSegment& segment = w.private_segment;
  return segment.pool_bytes != 0 && base == segment.base ? segment.lane_bytes : ~U64{0};
}

// Resolves the lanes' private memory at `offsets`.
bool resolve_private(Wavefront& w, LaneTargets& targets, U64 lanes, const U32* offsets, unsigned bytes, Access wanted) {
  const U64 base = private_base(w);
  const U64 limit = private_bytes(w, base);
  for (U64 left = lanes; left != 0; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    if (U64{offsets[l]} + bytes <= limit) continue;
    report_private(w, l, static_cast<U64>(std::int64_t{static_cast<std::int32_t>(offsets[l])}), bytes, wanted);
    return false;
  }
  return targets.resolve_private(w, lanes, offsets, base, bytes, wanted);
}

// The last source of GLOBAL and SCRATCH instructions: an SGPR, or none.
const Operand& scalar_address(const Instruction& i) { return i.src.at(i.sources - 1U); }

// Address of a lane: a 64-bit VGPR pair, or (GLOBAL) an SGPR pair and a 32-bit VGPR; `constant` is the sum of the parts that
// all lanes share.
struct LaneAddresses {
  U64 constant;
  const U32* low;
  const U32* high;  // nullptr: the lanes have 32-bit offsets

  LaneAddresses(const Instruction& i, const Wavefront& w)
      : constant(static_cast<U64>(std::int64_t{i.mem.offset})), low(w.vgpr + i.src[0].index * kLanes), high(low + kLanes) {
    if (i.format != Format::global || scalar_address(i).kind != OperandKind::sgpr) return;
    constant += w.read64(scalar_address(i).index);
    high = nullptr;
  }
  U64 of(unsigned l) const { return constant + (high != nullptr ? low[l] | U64{high[l]} << 32 : U64{low[l]}); }
  void fill(std::array<U64, kLanes>& addresses) const {
    // A local copy, so that the compiler moves the test out of the loop.
    const LaneAddresses from = *this;
    if (from.high != nullptr) {
      for (unsigned l = 0; l < kLanes; ++l) addresses[l] = from.constant + (from.low[l] | U64{from.high[l]} << 32);
    } else {
      for (unsigned l = 0; l < kLanes; ++l) addresses[l] = from.constant + U64{from.low[l]};
    }
  }
};

// Fast path for the most common access: all lanes active, adjacent, and in the mapping used last. Returns the position of lane
// 0's bytes, or nullptr if the general path must be taken.
template <unsigned kBytes>
std::byte* neighbours(const Instruction& i, Wavefront& w, MemoryAccess::Operation operation, Access wanted) {
  if (w.exec() != kAllLanes || i.format == Format::scratch) return nullptr;
  const LaneAddresses lanes(i, w);
  const U32* low = lanes.low;
  if (low[kLanes - 1] - low[0] != (kLanes - 1) * kBytes) return nullptr;
  U32 differs = 0;
  if (lanes.high != nullptr) {
    for (unsigned l = 0; l < kLanes; ++l) differs |= (lanes.high[l] ^ lanes.high[0]) | (low[l] - low[0] - l * kBytes);
  } else {
    for (unsigned l = 0; l < kLanes; ++l) differs |= low[l] - low[0] - l * kBytes;
  }
  if (differs != 0 || low[0] > ~U32{0} - kLanes * kBytes) return nullptr;
  check_epoch(w);
  const U64 first = lanes.of(0);
  recall(w, first);
  const MemoryWindow& window = w.window;
  if (!window.contains(first, U64{kLanes} * kBytes) || !allows(window.granted, wanted)) return nullptr;
  if (i.format == Format::flat && (overlaps(window, w.shared_aperture) || overlaps(window, w.private_aperture))) return nullptr;
  note_access(i, w, operation, kBytes);
  for (unsigned l = 0; l < kLanes; ++l) w.addresses->global[l] = first + U64{l} * kBytes;
  return window.host + (first - window.base);
}

// Resolves the lanes of a SCRATCH instruction, whose offset into private memory is in a VGPR or an SGPR.
bool resolve_scratch(const Instruction& i, Wavefront& w, LaneTargets& targets, unsigned bytes, Access wanted) {
  const Operand& scalar = scalar_address(i);
  const auto constant = static_cast<U32>(i.mem.offset);
  std::array<U32, kLanes> offsets;
  if (scalar.kind == OperandKind::sgpr) {
    offsets.fill(w.sgpr[scalar.index] + constant);
  } else {
    const U32* from = w.v(i.src[0].index);
    for (unsigned l = 0; l < kLanes; ++l) offsets[l] = from[l] + constant;
  }
  w.access.space = MemoryAccess::Space::scratch;
  return resolve_private(w, targets, w.access.lanes, offsets.data(), bytes, wanted);
}

// Fills wave.access and resolves the position of every active lane's bytes. Returns false after reporting a fault.
bool resolve(const Instruction& i, Wavefront& w, LaneTargets& targets, MemoryAccess::Operation operation, unsigned bytes,
             Access wanted) {
  note_access(i, w, operation, bytes);
  check_epoch(w);
  if (i.format == Format::scratch) return resolve_scratch(i, w, targets, bytes, wanted);
  MemoryAccess& access = w.access;
  const LaneAddresses addresses(i, w);
  addresses.fill(w.addresses->global);
  if (i.format == Format::global) return targets.resolve_global(w, access.lanes, bytes, wanted);

  const U64 lanes = access.lanes;
  if (lanes == 0) return true;
  // Addresses inside a mapping that touches neither aperture need no classification.
  const U64 first = w.addresses->global[static_cast<unsigned>(std::countr_zero(lanes))];
  if (recall(w, first) && !overlaps(w.window, w.shared_aperture) && !overlaps(w.window, w.private_aperture)) {
    if (targets.resolve_in_window(w, lanes, bytes, wanted)) return true;
  }
  const U64 shared = lanes_in(w, lanes, w.shared_aperture);
  const U64 in_private = lanes_in(w, lanes, w.private_aperture);
  if (!targets.resolve_global(w, lanes & ~shared & ~in_private, bytes, wanted)) return false;
  if (in_private != 0) {
    std::array<U32, kLanes> offsets;
    for_lanes(in_private, [&](unsigned l) { offsets[l] = static_cast<U32>(w.addresses->global[l]); });
    if (!resolve_private(w, targets, in_private, offsets.data(), bytes, wanted)) return false;
  }
  if (shared != 0) {
    std::array<U32, kLanes>& offsets = w.addresses->lds;
    for_lanes(shared, [&](unsigned l) { offsets[l] = static_cast<U32>(w.addresses->global[l]); });
    targets.resolve_lds(w, shared, offsets.data(), bytes, w.lds_bytes);
    access.lds_lanes = shared;
    access.lanes = lanes & ~shared;
    if (access.lanes == 0) access.space = MemoryAccess::Space::lds;
  } else if (in_private == lanes) {
    access.space = MemoryAccess::Space::scratch;
  }
  return true;
}

bool is_aligned_address(const Instruction& i, Wavefront& w, unsigned bytes) {
  const LaneAddresses addresses(i, w);
  for (U64 left = w.exec(); left != 0; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    if (addresses.of(l) % bytes == 0) continue;
    report_misaligned(w, l, addresses.of(l), bytes, Access::read_write);
    return false;
  }
  return true;
}

struct FlatPath {
  static constexpr unsigned kData = 1;
  static bool resolve(const Instruction& i, Wavefront& w, LaneTargets& targets, MemoryAccess::Operation operation,
                      unsigned bytes, Access wanted) {
    return flat::resolve(i, w, targets, operation, bytes, wanted);
  }
  template <unsigned kBytes>
  static std::byte* neighbours(const Instruction& i, Wavefront& w, MemoryAccess::Operation operation, Access wanted) {
    return flat::neighbours<kBytes>(i, w, operation, wanted);
  }
  static bool is_aligned(const Instruction& i, Wavefront& w, unsigned bytes) { return is_aligned_address(i, w, bytes); }
};

// The address operand has 64 bits; in SCRATCH it is a 32-bit offset.
template <Format kFormat, unsigned kPath>
constexpr auto segment_rows() {
  constexpr unsigned kName = kFormat == Format::flat ? 0 : kFormat == Format::global ? 1 : 2;
  constexpr T kAddress = kFormat == Format::scratch ? T::b32 : T::b64;
  std::array<InstructionRow, count_entries<FlatPath>(kPath)> rows{};
  std::size_t n = 0;
  for_entries<FlatPath>(kPath, [&](const Entry& e) {
    InstructionRow& row = rows[n++];
    row.mnemonic = e.names[kName];
    row.format = kFormat;
    row.opcode = kFormat == Format::flat ? e.opcode : gfx9_only(e.opcode.gfx90a);
    if (e.result != T::none) row.dst = {e.result};
    row.src = e.data != T::none ? OperandTypes{kAddress, e.data} : OperandTypes{kAddress};
    row.unit = Unit::vmem;
    row.latency = e.latency;
    row.flags = kFormat == Format::flat ? e.flags & ~static_cast<std::uint64_t>(kLdsForm) : e.flags;
    row.execute = e.execute;
  });
  return rows;
}

constexpr auto kFlatRows = segment_rows<Format::flat, kFlat>();
constexpr auto kGlobalRows = segment_rows<Format::global, kGlobal>();
constexpr auto kScratchRows = segment_rows<Format::scratch, kScratch>();

}  // namespace
}  // namespace flat

std::span<const InstructionRow> flat_rows() { return flat::kFlatRows; }
std::span<const InstructionRow> global_rows() { return flat::kGlobalRows; }
std::span<const InstructionRow> scratch_rows() { return flat::kScratchRows; }

}  // namespace lacuna::isa
