// FLAT: generic addresses. Semantics: GCN3 ISA manual, "Flat memory instructions"; apertures and scratch layout: LLVM, "User
// Guide for AMDGPU Backend" (Memory Spaces, Flat Scratch).
#include <array>

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

// The commonest access by far: all lanes active, neighbours side by side, all in the mapping used last. Returns where lane 0's
// bytes are, or nullptr when the general way must be taken.
template <unsigned kBytes>
std::byte* neighbours(const Instruction& i, Wavefront& w, Operation operation, Access wanted) {
  const U32* low = w.v(i.src[0].index);
  const U32* high = w.v(i.src[0].index + 1U);
  if (w.exec() != kAllLanes) return nullptr;
  U32 differs = 0;
  for (unsigned l = 0; l < kLanes; ++l) differs |= (high[l] ^ high[0]) | (low[l] - low[0] - l * kBytes);
  if (differs != 0) return nullptr;
  check_epoch(w);
  const U64 first = low[0] | U64{high[0]} << 32;
  const MemoryWindow& window = w.window;
  if (!window.contains(first, U64{kLanes} * kBytes) || !allows(window.granted, wanted)) return nullptr;
  if (overlaps(window, w.shared_aperture) || overlaps(window, w.private_aperture)) return nullptr;
  note_access(i, w, operation, kBytes);
  for (unsigned l = 0; l < kLanes; ++l) w.access.address[l] = first + U64{l} * kBytes;
  return window.host + (first - window.base);
}

// Fills wave.access and finds every active lane's bytes. Returns false after reporting a fault.
bool resolve(const Instruction& i, Wavefront& w, LaneTargets& targets, Operation operation, unsigned bytes, Access wanted) {
  note_access(i, w, operation, bytes);
  MemoryAccess& access = w.access;
  const U32* low = w.v(i.src[0].index);
  const U32* high = w.v(i.src[0].index + 1U);
  for (unsigned l = 0; l < kLanes; ++l) access.address[l] = low[l] | U64{high[l]} << 32;

  check_epoch(w);
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

template <typename M, unsigned kWords = 1>
void load(const Instruction& i, Wavefront& w) {
  constexpr unsigned kBytes = kWords == 1 ? sizeof(M) : kWords * 4;
  if (const std::byte* host = neighbours<kBytes>(i, w, Operation::load, Access::read); host != nullptr) {
    return load_neighbours<M, kWords>(host, w.v(i.dst[0].index));
  }
  LaneTargets targets;
  if (!resolve(i, w, targets, Operation::load, kBytes, Access::read)) return;
  load_lanes<M, kWords>(targets, w.exec(), w.v(i.dst[0].index));
}

template <typename M, unsigned kWords = 1>
void store(const Instruction& i, Wavefront& w) {
  constexpr unsigned kBytes = kWords == 1 ? sizeof(M) : kWords * 4;
  if (std::byte* host = neighbours<kBytes>(i, w, Operation::store, Access::write); host != nullptr) {
    return store_neighbours<M, kWords>(host, w.v(i.src[1].index));
  }
  LaneTargets targets;
  if (!resolve(i, w, targets, Operation::store, kBytes, Access::write)) return;
  store_lanes<M, kWords>(targets, w.exec(), w.v(i.src[1].index));
  targets.write_back(kBytes);
}

template <typename U, auto F, bool kCompare = false>
void atomic_operation(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  const U32* low = w.v(i.src[0].index);
  for (U64 left = w.exec(); left != 0; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    if (low[l] % sizeof(U) == 0) continue;
    return report_misaligned(w, l, low[l] | U64{w.v(i.src[0].index + 1U)[l]} << 32, sizeof(U), Access::read_write);
  }
  if (!resolve(i, w, targets, Operation::atomic, sizeof(U), Access::read_write)) return;
  const U32* data = w.v(i.src[1].index);
  atomic_lanes<U, F>(targets, w.exec(), data, kCompare ? data + sizeof(U) / 4 * kLanes : nullptr,
                     i.destinations != 0 ? w.v(i.dst[0].index) : nullptr, w);
  targets.write_back(sizeof(U));
}

constexpr InstructionRow row(std::string_view mnemonic, Opcodes opcode, OperandTypes dst, OperandTypes src,
                             LatencyClass latency, ExecuteFn execute) {
  return {mnemonic, Format::flat, opcode, dst, src, Unit::vmem, latency, kNoFlags, execute};
}
constexpr InstructionRow load_row(std::string_view mnemonic, int opcode, OperandType data, ExecuteFn execute) {
  return row(mnemonic, both(opcode), {data}, {T::b64}, LatencyClass::vmem_load, execute);
}
constexpr InstructionRow store_row(std::string_view mnemonic, int opcode, OperandType data, ExecuteFn execute) {
  return row(mnemonic, both(opcode), {}, {T::b64, data}, LatencyClass::vmem_store, execute);
}
constexpr InstructionRow atomic_row(std::string_view mnemonic, Opcodes opcode, OperandType result, OperandType data,
                                    ExecuteFn execute) {
  return row(mnemonic, opcode, {result}, {T::b64, data}, LatencyClass::vmem_atomic, execute);
}
template <auto F>
constexpr InstructionRow atomic32(std::string_view mnemonic, int opcode) {
  return atomic_row(mnemonic, both(opcode), T::b32, T::b32, atomic_operation<U32, F>);
}
template <auto F>
constexpr InstructionRow atomic64(std::string_view mnemonic, Opcodes opcode) {
  return atomic_row(mnemonic, opcode, T::b64, T::b64, atomic_operation<U64, F>);
}

namespace op = atomic;

constexpr std::array kRows{
    load_row("flat_load_ubyte", 0x10, T::b32, load<std::uint8_t>),
    load_row("flat_load_sbyte", 0x11, T::b32, load<std::int8_t>),
    load_row("flat_load_ushort", 0x12, T::b32, load<std::uint16_t>),
    load_row("flat_load_sshort", 0x13, T::b32, load<std::int16_t>),
    load_row("flat_load_dword", 0x14, T::b32, load<U32>),
    load_row("flat_load_dwordx2", 0x15, T::b64, load<U32, 2>),
    load_row("flat_load_dwordx3", 0x16, T::b96, load<U32, 3>),
    load_row("flat_load_dwordx4", 0x17, T::b128, load<U32, 4>),
    store_row("flat_store_byte", 0x18, T::b8, store<std::uint8_t>),
    store_row("flat_store_short", 0x1a, T::b16, store<std::uint16_t>),
    store_row("flat_store_dword", 0x1c, T::b32, store<U32>),
    store_row("flat_store_dwordx2", 0x1d, T::b64, store<U32, 2>),
    store_row("flat_store_dwordx3", 0x1e, T::b96, store<U32, 3>),
    store_row("flat_store_dwordx4", 0x1f, T::b128, store<U32, 4>),
    atomic32<op::exchange<U32>>("flat_atomic_swap", 0x40),
    atomic_row("flat_atomic_cmpswap", both(0x41), T::b32, T::b64, atomic_operation<U32, op::compare_swap<U32>, true>),
    atomic32<op::add<U32>>("flat_atomic_add", 0x42),
    atomic32<op::sub<U32>>("flat_atomic_sub", 0x43),
    atomic32<op::min_signed<U32>>("flat_atomic_smin", 0x44),
    atomic32<op::min_unsigned<U32>>("flat_atomic_umin", 0x45),
    atomic32<op::max_signed<U32>>("flat_atomic_smax", 0x46),
    atomic32<op::max_unsigned<U32>>("flat_atomic_umax", 0x47),
    atomic32<op::bit_and<U32>>("flat_atomic_and", 0x48),
    atomic32<op::bit_or<U32>>("flat_atomic_or", 0x49),
    atomic32<op::bit_xor<U32>>("flat_atomic_xor", 0x4a),
    atomic32<op::inc<U32>>("flat_atomic_inc", 0x4b),
    atomic32<op::dec<U32>>("flat_atomic_dec", 0x4c),
    atomic64<op::add_float<U64>>("flat_atomic_add_f64", gfx9_only(0x4f)),
    atomic64<op::min_float<U64>>("flat_atomic_min_f64", gfx9_only(0x50)),
    atomic64<op::max_float<U64>>("flat_atomic_max_f64", gfx9_only(0x51)),
    atomic64<op::exchange<U64>>("flat_atomic_swap_x2", both(0x60)),
    atomic_row("flat_atomic_cmpswap_x2", both(0x61), T::b64, T::b128, atomic_operation<U64, op::compare_swap<U64>, true>),
    atomic64<op::add<U64>>("flat_atomic_add_x2", both(0x62)),
    atomic64<op::sub<U64>>("flat_atomic_sub_x2", both(0x63)),
    atomic64<op::min_signed<U64>>("flat_atomic_smin_x2", both(0x64)),
    atomic64<op::min_unsigned<U64>>("flat_atomic_umin_x2", both(0x65)),
    atomic64<op::max_signed<U64>>("flat_atomic_smax_x2", both(0x66)),
    atomic64<op::max_unsigned<U64>>("flat_atomic_umax_x2", both(0x67)),
    atomic64<op::bit_and<U64>>("flat_atomic_and_x2", both(0x68)),
    atomic64<op::bit_or<U64>>("flat_atomic_or_x2", both(0x69)),
    atomic64<op::bit_xor<U64>>("flat_atomic_xor_x2", both(0x6a)),
    atomic64<op::inc<U64>>("flat_atomic_inc_x2", both(0x6b)),
    atomic64<op::dec<U64>>("flat_atomic_dec_x2", both(0x6c)),
};

}  // namespace

std::span<const InstructionRow> flat_rows() { return kRows; }

}  // namespace lacuna::isa
