// FLAT: generic addresses; from gfx9 on also its segments GLOBAL and SCRATCH, which know where they go. Semantics: GCN3 ISA
// manual, "Flat memory instructions", and CDNA2 ISA manual, "Flat memory instructions"; apertures and scratch layout: LLVM,
// "User Guide for AMDGPU Backend" (Memory Spaces, Flat Scratch).
#include <algorithm>
#include <array>
#include <string_view>

#include "models/isa/atomic_operations.h"
#include "models/isa/memory_lanes.h"
#include "models/isa/row_sets.h"

namespace lacuna::isa {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using T = OperandType;
using Operation = MemoryAccess::Operation;

constexpr U64 kApertureSize = U64{1} << 32;

bool overlaps(const MemoryWindow& window, U64 aperture) {
  return aperture != 0 && window.base < aperture + kApertureSize && aperture < window.base + window.size;
}

// Lanes whose address lies in the aperture.
U64 lanes_in(const Wavefront& w, U64 lanes, U64 aperture) {
  U64 inside = 0;
  if (aperture == 0) return 0;
  for_lanes(lanes,
            [&](unsigned l) { inside |= static_cast<U64>(w.access.address[l] - aperture < kApertureSize ? 1 : 0) << l; });
  return inside;
}

// gfx8: FLAT_SCRATCH_HI is the wavefront's offset in units of 256 bytes and FLAT_SCRATCH_LO the bytes of one lane; gfx9: the
// pair is the address.
U64 private_base(const Wavefront& w) {
  if (w.target == Target::gfx803) return w.scratch_base + U64{w.sgpr[kFlatScratchHi]} * 256;
  return w.read64(kFlatScratchLo);
}

bool resolve_private(Wavefront& w, LaneTargets& targets, U64 lanes, unsigned bytes, Access wanted) {
  std::array<U32, kLanes> offsets;
  for (U64 left = lanes; left != 0; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    offsets[l] = static_cast<U32>(w.access.address[l]);
    if (w.target == Target::gfx803 && U64{offsets[l]} + bytes > w.sgpr[kFlatScratchLo]) {
      w.fault = {MemoryFault::Reason::not_mapped, wanted, l, w.access.address[l], bytes};
      w.raise(Event::memory_fault);
      return false;
    }
  }
  return targets.resolve_private(w, lanes, offsets.data(), private_base(w), bytes, wanted);
}

void note_access(const Instruction& i, Wavefront& w, Operation operation, unsigned bytes) {
  MemoryAccess& access = w.access;
  access.space = MemoryAccess::Space::global;
  access.operation = operation;
  access.returns_data = i.destinations != 0;
  access.glc = i.mem.glc;
  access.slc = i.mem.slc;
  access.dual = false;
  access.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  access.lanes = w.exec();
  access.lds_lanes = 0;
}

// GLOBAL and SCRATCH name an SGPR or none in the last source.
const Operand& scalar_address(const Instruction& i) { return i.src.at(i.sources - 1U); }

// Address of a lane: a 64-bit VGPR pair, or (GLOBAL) an SGPR pair and a 32-bit VGPR; `constant` has the rest.
struct LaneAddresses {
  U64 constant;
  const U32* low;
  const U32* high;  // nullptr: 32-bit offsets

  LaneAddresses(const Instruction& i, const Wavefront& w)
      : constant(static_cast<U64>(std::int64_t{i.mem.offset})), low(w.vgpr + i.src[0].index * kLanes), high(low + kLanes) {
    if (i.format != Format::global || scalar_address(i).kind != OperandKind::sgpr) return;
    constant += w.read64(scalar_address(i).index);
    high = nullptr;
  }
  U64 of(unsigned l) const { return constant + (high != nullptr ? low[l] | U64{high[l]} << 32 : U64{low[l]}); }
};

// The commonest access by far: all lanes active, neighbours side by side, all in the mapping used last. Returns where lane 0's
// bytes are, or nullptr when the general way must be taken.
template <unsigned kBytes>
std::byte* neighbours(const Instruction& i, Wavefront& w, Operation operation, Access wanted) {
  if (w.exec() != kAllLanes || i.format == Format::scratch) return nullptr;
  const LaneAddresses lanes(i, w);
  const U32* low = lanes.low;
  U32 differs = 0;
  if (lanes.high != nullptr) {
    for (unsigned l = 0; l < kLanes; ++l) differs |= (lanes.high[l] ^ lanes.high[0]) | (low[l] - low[0] - l * kBytes);
  } else {
    for (unsigned l = 0; l < kLanes; ++l) differs |= low[l] - low[0] - l * kBytes;
  }
  if (differs != 0 || low[0] > ~U32{0} - kLanes * kBytes) return nullptr;
  check_epoch(w);
  const U64 first = lanes.of(0);
  const MemoryWindow& window = w.window;
  if (!window.contains(first, U64{kLanes} * kBytes) || !allows(window.granted, wanted)) return nullptr;
  if (i.format == Format::flat && (overlaps(window, w.shared_aperture) || overlaps(window, w.private_aperture))) return nullptr;
  note_access(i, w, operation, kBytes);
  for (unsigned l = 0; l < kLanes; ++l) w.access.address[l] = first + U64{l} * kBytes;
  return window.host + (first - window.base);
}

// SCRATCH: offsets into the lane's private memory, from a VGPR or an SGPR.
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
  return targets.resolve_private(w, w.access.lanes, offsets.data(), private_base(w), bytes, wanted);
}

// Fills wave.access and finds every active lane's bytes. Returns false after reporting a fault.
bool resolve(const Instruction& i, Wavefront& w, LaneTargets& targets, Operation operation, unsigned bytes, Access wanted) {
  note_access(i, w, operation, bytes);
  check_epoch(w);
  if (i.format == Format::scratch) return resolve_scratch(i, w, targets, bytes, wanted);
  MemoryAccess& access = w.access;
  const LaneAddresses addresses(i, w);
  for (unsigned l = 0; l < kLanes; ++l) access.address[l] = addresses.of(l);
  if (i.format == Format::global) return targets.resolve_global(w, access.lanes, bytes, wanted);

  const U64 lanes = access.lanes;
  if (lanes == 0) return true;
  // Addresses inside a mapping that touches neither aperture need no classification.
  const U64 first = access.address[static_cast<unsigned>(std::countr_zero(lanes))];
  if (w.window.contains(first, 1) && !overlaps(w.window, w.shared_aperture) && !overlaps(w.window, w.private_aperture)) {
    if (targets.resolve_in_window(w, lanes, bytes, wanted)) return true;
  }
  const U64 shared = lanes_in(w, lanes, w.shared_aperture);
  const U64 in_private = lanes_in(w, lanes, w.private_aperture);
  if (!targets.resolve_global(w, lanes & ~shared & ~in_private, bytes, wanted)) return false;
  if (in_private != 0 && !resolve_private(w, targets, in_private, bytes, wanted)) return false;
  if (shared != 0) {
    for_lanes(shared, [&](unsigned l) { access.address[l] &= kApertureSize - 1; });
    targets.resolve_lds(w, shared, access.address.data(), bytes, w.lds_bytes);
    access.lds_lanes = shared;
    access.lanes = lanes & ~shared;
    if (access.lanes == 0) access.space = MemoryAccess::Space::lds;
  } else if (in_private == lanes) {
    access.space = MemoryAccess::Space::scratch;
  }
  return true;
}

// LDS = 1: lane l's dword goes to LDS address M0 + offset + 4 l instead of a register (CDNA2 ISA manual, "Memory buffer load to
// LDS"; FLAT's form is the same).
template <typename M>
void load_to_lds(const Instruction& i, Wavefront& w, const LaneTargets& targets) {
  std::array<U32, kLanes> data{};
  load_lanes<M, 1>(targets, w.exec(), data.data());
  for_lanes(w.exec(), [&](unsigned l) {
    const U64 at = U64{w.sgpr[kM0] & 0xffffU} + static_cast<U32>(i.mem.offset) + 4 * l;
    if (at + 4 <= w.lds_bytes) std::memcpy(w.lds + at, &data[l], 4);
  });
}

template <typename M, unsigned kWords = 1>
void load(const Instruction& i, Wavefront& w) {
  constexpr unsigned kBytes = kWords == 1 ? sizeof(M) : kWords * 4;
  if (!i.mem.lds) {
    if (const std::byte* host = neighbours<kBytes>(i, w, Operation::load, Access::read); host != nullptr) {
      return load_neighbours<M, kWords>(host, w.planes(i.dst[0]));
    }
  }
  LaneTargets targets;
  if (!resolve(i, w, targets, Operation::load, kBytes, Access::read)) return;
  if constexpr (kWords == 1) {
    if (i.mem.lds) return load_to_lds<M>(i, w, targets);
  }
  load_lanes<M, kWords>(targets, w.exec(), w.planes(i.dst[0]));
}

template <typename M, unsigned kWords = 1>
void store(const Instruction& i, Wavefront& w) {
  constexpr unsigned kBytes = kWords == 1 ? sizeof(M) : kWords * 4;
  if (std::byte* host = neighbours<kBytes>(i, w, Operation::store, Access::write); host != nullptr) {
    return store_neighbours<M, kWords>(host, w.planes(i.src[1]));
  }
  LaneTargets targets;
  if (!resolve(i, w, targets, Operation::store, kBytes, Access::write)) return;
  store_lanes<M, kWords>(targets, w.exec(), w.planes(i.src[1]));
  targets.write_back(kBytes);
}

/// 16 bits of the register; the others stay.
template <typename M, bool kHigh>
void load_half(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  if (!resolve(i, w, targets, Operation::load, sizeof(M), Access::read)) return;
  load_half_lanes<M, kHigh>(targets, w.exec(), w.planes(i.dst[0]));
}

template <typename M>
void store_high_half(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  if (!resolve(i, w, targets, Operation::store, sizeof(M), Access::write)) return;
  store_high_half_lanes<M>(targets, w.exec(), w.planes(i.src[1]));
  targets.write_back(sizeof(M));
}

template <typename U, auto F, bool kCompare = false>
void atomic_operation(const Instruction& i, Wavefront& w) {
  const LaneAddresses addresses(i, w);
  for (U64 left = w.exec(); left != 0; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    if (addresses.of(l) % sizeof(U) != 0) return report_misaligned(w, l, addresses.of(l), sizeof(U), Access::read_write);
  }
  LaneTargets targets;
  if (!resolve(i, w, targets, Operation::atomic, sizeof(U), Access::read_write)) return;
  const U32* data = w.planes(i.src[1]);
  atomic_lanes<U, F>(targets, w.exec(), data, kCompare ? data + sizeof(U) / 4 * kLanes : nullptr,
                     i.destinations != 0 ? w.planes(i.dst[0]) : nullptr, w);
  targets.write_back(sizeof(U));
}

// -- rows: what a segment has is a flag, what an instruction does is written once

enum Segments : unsigned { kFlat = 1, kGlobal = 2, kScratch = 4, kAllSegments = 7, kAtomics = kFlat | kGlobal };

struct Entry {
  std::string_view names[3];  // flat, global, scratch
  Opcodes opcode;             // of FLAT; the segments exist on gfx9 only
  unsigned segments;
  T data;
  T result;  // none for stores
  LatencyClass latency;
  ExecuteFn execute;
  std::uint32_t flags;
};

// "flat_" "load_dword" as one string at compile time.
template <std::size_t kSize>
struct Text {
  char letters[kSize];
  constexpr Text(const char (&text)[kSize]) { std::copy_n(text, kSize, letters); }  // NOLINT(google-explicit-constructor)
};
template <Text kFirst, Text kSecond>
struct Joined {
  static constexpr std::size_t kLength = sizeof kFirst.letters + sizeof kSecond.letters - 2;
  static constexpr std::array<char, kLength> kLetters = [] {
    std::array<char, kLength> letters{};
    auto* to = std::copy_n(kFirst.letters, sizeof kFirst.letters - 1, letters.begin());
    std::copy_n(kSecond.letters, sizeof kSecond.letters - 1, to);
    return letters;
  }();
  static constexpr std::string_view kText{kLetters.data(), kLength};
};

template <Text kName>
constexpr Entry entry(Opcodes opcode, unsigned segments, T result, T data, LatencyClass latency, ExecuteFn execute,
                      std::uint32_t flags = kNoFlags) {
  return {{Joined<"flat_", kName>::kText, Joined<"global_", kName>::kText, Joined<"scratch_", kName>::kText},
          opcode,
          segments,
          data,
          result,
          latency,
          execute,
          flags};
}
template <Text kName>
constexpr Entry load_entry(Opcodes opcode, T data, ExecuteFn execute, std::uint32_t flags = kNoFlags) {
  return entry<kName>(opcode, kAllSegments, data, T::none, LatencyClass::vmem_load, execute, flags);
}
template <Text kName>
constexpr Entry store_entry(Opcodes opcode, T data, ExecuteFn execute) {
  return entry<kName>(opcode, kAllSegments, T::none, data, LatencyClass::vmem_store, execute);
}
template <Text kName>
constexpr Entry atomic_entry(Opcodes opcode, T result, T data, ExecuteFn execute, unsigned segments = kAtomics) {
  return entry<kName>(opcode, segments, result, data, LatencyClass::vmem_atomic, execute);
}
template <Text kName, auto F>
constexpr Entry atomic32(Opcodes opcode, unsigned segments = kAtomics) {
  return atomic_entry<kName>(opcode, T::b32, T::b32, atomic_operation<U32, F>, segments);
}
template <Text kName, auto F>
constexpr Entry atomic64(Opcodes opcode) {
  return atomic_entry<kName>(opcode, T::b64, T::b64, atomic_operation<U64, F>);
}

namespace op = atomic;

constexpr std::array kEntries{
    load_entry<"load_ubyte">(both(0x10), T::b32, load<std::uint8_t>, kLdsForm),
    load_entry<"load_sbyte">(both(0x11), T::b32, load<std::int8_t>, kLdsForm),
    load_entry<"load_ushort">(both(0x12), T::b32, load<std::uint16_t>, kLdsForm),
    load_entry<"load_sshort">(both(0x13), T::b32, load<std::int16_t>, kLdsForm),
    load_entry<"load_dword">(both(0x14), T::b32, load<U32>, kLdsForm),
    load_entry<"load_dwordx2">(both(0x15), T::b64, load<U32, 2>),
    load_entry<"load_dwordx3">(both(0x16), T::b96, load<U32, 3>),
    load_entry<"load_dwordx4">(both(0x17), T::b128, load<U32, 4>),
    store_entry<"store_byte">(both(0x18), T::b8, store<std::uint8_t>),
    store_entry<"store_byte_d16_hi">(gfx9_only(0x19), T::b32, store_high_half<std::uint8_t>),
    store_entry<"store_short">(both(0x1a), T::b16, store<std::uint16_t>),
    store_entry<"store_short_d16_hi">(gfx9_only(0x1b), T::b32, store_high_half<std::uint16_t>),
    store_entry<"store_dword">(both(0x1c), T::b32, store<U32>),
    store_entry<"store_dwordx2">(both(0x1d), T::b64, store<U32, 2>),
    store_entry<"store_dwordx3">(both(0x1e), T::b96, store<U32, 3>),
    store_entry<"store_dwordx4">(both(0x1f), T::b128, store<U32, 4>),
    load_entry<"load_ubyte_d16">(gfx9_only(0x20), T::b32, load_half<std::uint8_t, false>, kReadsDst),
    load_entry<"load_ubyte_d16_hi">(gfx9_only(0x21), T::b32, load_half<std::uint8_t, true>, kReadsDst),
    load_entry<"load_sbyte_d16">(gfx9_only(0x22), T::b32, load_half<std::int8_t, false>, kReadsDst),
    load_entry<"load_sbyte_d16_hi">(gfx9_only(0x23), T::b32, load_half<std::int8_t, true>, kReadsDst),
    load_entry<"load_short_d16">(gfx9_only(0x24), T::b32, load_half<std::uint16_t, false>, kReadsDst),
    load_entry<"load_short_d16_hi">(gfx9_only(0x25), T::b32, load_half<std::uint16_t, true>, kReadsDst),
    atomic32<"atomic_swap", op::exchange<U32>>(both(0x40)),
    atomic_entry<"atomic_cmpswap">(both(0x41), T::b32, T::b64, atomic_operation<U32, op::compare_swap<U32>, true>),
    atomic32<"atomic_add", op::add<U32>>(both(0x42)),
    atomic32<"atomic_sub", op::sub<U32>>(both(0x43)),
    atomic32<"atomic_smin", op::min_signed<U32>>(both(0x44)),
    atomic32<"atomic_umin", op::min_unsigned<U32>>(both(0x45)),
    atomic32<"atomic_smax", op::max_signed<U32>>(both(0x46)),
    atomic32<"atomic_umax", op::max_unsigned<U32>>(both(0x47)),
    atomic32<"atomic_and", op::bit_and<U32>>(both(0x48)),
    atomic32<"atomic_or", op::bit_or<U32>>(both(0x49)),
    atomic32<"atomic_xor", op::bit_xor<U32>>(both(0x4a)),
    atomic32<"atomic_inc", op::inc<U32>>(both(0x4b)),
    atomic32<"atomic_dec", op::dec<U32>>(both(0x4c)),
    atomic32<"atomic_add_f32", op::add_float<U32>>(gfx9_only(0x4d), kGlobal),
    atomic32<"atomic_pk_add_f16", op::add_packed_f16>(gfx9_only(0x4e), kGlobal),
    atomic64<"atomic_add_f64", op::add_float<U64>>(gfx9_only(0x4f)),
    atomic64<"atomic_min_f64", op::min_float<U64>>(gfx9_only(0x50)),
    atomic64<"atomic_max_f64", op::max_float<U64>>(gfx9_only(0x51)),
    atomic64<"atomic_swap_x2", op::exchange<U64>>(both(0x60)),
    atomic_entry<"atomic_cmpswap_x2">(both(0x61), T::b64, T::b128, atomic_operation<U64, op::compare_swap<U64>, true>),
    atomic64<"atomic_add_x2", op::add<U64>>(both(0x62)),
    atomic64<"atomic_sub_x2", op::sub<U64>>(both(0x63)),
    atomic64<"atomic_smin_x2", op::min_signed<U64>>(both(0x64)),
    atomic64<"atomic_umin_x2", op::min_unsigned<U64>>(both(0x65)),
    atomic64<"atomic_smax_x2", op::max_signed<U64>>(both(0x66)),
    atomic64<"atomic_umax_x2", op::max_unsigned<U64>>(both(0x67)),
    atomic64<"atomic_and_x2", op::bit_and<U64>>(both(0x68)),
    atomic64<"atomic_or_x2", op::bit_or<U64>>(both(0x69)),
    atomic64<"atomic_xor_x2", op::bit_xor<U64>>(both(0x6a)),
    atomic64<"atomic_inc_x2", op::inc<U64>>(both(0x6b)),
    atomic64<"atomic_dec_x2", op::dec<U64>>(both(0x6c)),
};

constexpr std::size_t count(unsigned segment) {
  return static_cast<std::size_t>(
      std::count_if(kEntries.begin(), kEntries.end(), [=](const Entry& e) { return (e.segments & segment) != 0; }));
}

// Addresses are 64 bits wide; in SCRATCH, offsets of 32.
template <Format kFormat, unsigned kSegment>
constexpr auto segment_rows() {
  constexpr unsigned kName = kFormat == Format::flat ? 0 : kFormat == Format::global ? 1 : 2;
  std::array<InstructionRow, count(kSegment)> rows{};
  std::size_t n = 0;
  for (const Entry& e : kEntries) {
    if ((e.segments & kSegment) == 0) continue;
    const T address = kFormat == Format::scratch ? T::b32 : T::b64;
    InstructionRow& row = rows[n++];
    row.mnemonic = e.names[kName];
    row.format = kFormat;
    row.opcode = kFormat == Format::flat ? e.opcode : gfx9_only(e.opcode.gfx90a);
    if (e.result != T::none) row.dst = {e.result};
    row.src = e.data != T::none ? OperandTypes{address, e.data} : OperandTypes{address};
    row.unit = Unit::vmem;
    row.latency = e.latency;
    row.flags = kFormat == Format::flat ? e.flags & ~static_cast<std::uint32_t>(kLdsForm) : e.flags;
    row.execute = e.execute;
  }
  return rows;
}

constexpr auto kFlatRows = segment_rows<Format::flat, kFlat>();
constexpr auto kGlobalRows = segment_rows<Format::global, kGlobal>();
constexpr auto kScratchRows = segment_rows<Format::scratch, kScratch>();

}  // namespace

std::span<const InstructionRow> flat_rows() { return kFlatRows; }
std::span<const InstructionRow> global_rows() { return kGlobalRows; }
std::span<const InstructionRow> scratch_rows() { return kScratchRows; }

}  // namespace lacuna::isa
