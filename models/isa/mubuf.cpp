// MUBUF: memory through a buffer descriptor. Semantics: GCN3 ISA manual, "Vector memory buffer instructions", "Buffer resource
// descriptor" and "Buffer addressing".
#include <algorithm>
#include <array>

#include "models/isa/atomic_operations.h"
#include "models/isa/memory_lanes.h"
#include "models/isa/operand.h"
#include "models/isa/row_sets.h"

namespace lacuna::isa {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using T = OperandType;
using Operation = MemoryAccess::Operation;

// The buffer resource descriptor (V#). Sizes of elements and of index groups are powers of two.
struct Descriptor {
  U64 base;
  U32 stride;
  U64 records;
  unsigned element_shift;
  unsigned index_shift;
  bool swizzle;
  bool add_thread_id;

  explicit Descriptor(const U32* v)
      : base(U64{v[0]} | U64{v[1] & 0xffff} << 32),
        stride(v[1] >> 16 & 0x3fff),
        records(v[2]),
        element_shift(1 + (v[3] >> 19 & 3)),
        index_shift(3 + (v[3] >> 21 & 3)),
        swizzle((v[1] >> 31) != 0),
        add_thread_id((v[3] >> 23 & 1) != 0) {
    // With ADD_TID_ENABLE the data format field holds four more bits of the stride.
    if (add_thread_id) stride |= (v[3] >> 15 & 0xf) << 14;
  }
  U64 element_mask() const { return (U64{1} << element_shift) - 1; }

  // Offset into the buffer. Swizzled buffers are arrays of structures turned into structures of arrays: groups of records are
  // interleaved element by element.
  U64 linear_offset(U64 index, U64 offset) const { return index * stride + offset; }
  U64 swizzled_offset(U64 index, U64 offset) const {
    const U64 row = (index >> index_shift) * stride + (offset & ~element_mask());
    return (row << index_shift) + ((index & ((U64{1} << index_shift) - 1)) << element_shift) + (offset & element_mask());
  }
};

// Index and offset of every lane, before the descriptor comes into play. Loops over all lanes, so that they vectorise.
struct LaneOffsets {
  std::array<U64, kLanes> index;
  std::array<U64, kLanes> offset;

  LaneOffsets(const Instruction& i, Wavefront& w, const Descriptor& d) {
    const Operand& address = i.src[0];
    const U64 step = d.add_thread_id ? 1 : 0;
    const auto constant = static_cast<U64>(i.mem.offset);
    if (i.mem.idxen) {
      const U32* from = w.v(address.index);
      for (unsigned l = 0; l < kLanes; ++l) index[l] = from[l] + l * step;
    } else {
      for (unsigned l = 0; l < kLanes; ++l) index[l] = l * step;
    }
    if (i.mem.offen) {
      const U32* from = w.v(address.index + (i.mem.idxen ? 1U : 0U));
      for (unsigned l = 0; l < kLanes; ++l) offset[l] = from[l] + constant;
    } else {
      offset.fill(constant);
    }
  }
};

// Fills the lanes' addresses; returns the lanes that are inside the buffer, and in `split` those whose bytes, being more than
// an element holds, lie in several places.
U64 address_lanes(const Descriptor& d, const LaneOffsets& lanes, U64 soffset, unsigned bytes, std::array<U64, kLanes>& address,
                  U64& split) {
  const U64 base = d.base + soffset;
  U64 outside = 0;
  split = 0;
  if (!d.swizzle) {
    for (unsigned l = 0; l < kLanes; ++l) {
      const U64 at = d.linear_offset(lanes.index[l], lanes.offset[l]);
      address[l] = base + at;
      outside |= U64{soffset + at + bytes > d.records} << l;
    }
    return ~outside;
  }
  for (unsigned l = 0; l < kLanes; ++l) {
    const U64 at = d.swizzled_offset(lanes.index[l], lanes.offset[l]);
    address[l] = base + at;
    outside |= U64{soffset + at + bytes > d.records} << l;
    split |= U64{(lanes.offset[l] & d.element_mask()) + bytes > d.element_mask() + 1} << l;
  }
  // NUM_RECORDS counts structures in a swizzled buffer with a stride, else bytes.
  if (d.stride != 0 && !d.add_thread_id) {
    outside = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
      outside |= U64{lanes.index[l] >= d.records || lanes.offset[l] + bytes > d.stride} << l;
    }
  }
  return ~outside;
}

bool resolve(const Instruction& i, Wavefront& w, LaneTargets& targets, Operation operation, unsigned bytes, Access wanted) {
  MemoryAccess& access = w.access;
  access.space = MemoryAccess::Space::global;
  access.operation = operation;
  access.returns_data = i.destinations != 0;
  access.glc = i.mem.glc;
  access.slc = i.mem.slc;
  access.dual = false;
  access.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  access.lds_lanes = 0;
  check_epoch(w);

  const Descriptor descriptor(&w.sgpr[i.src[1].index]);
  const LaneOffsets lanes(i, w, descriptor);
  const U64 soffset = read_scalar32(i.src[2], w);
  const U64 exec = w.exec();
  U64 split = 0;
  access.lanes = exec & address_lanes(descriptor, lanes, soffset, bytes, access.address, split);
  split &= access.lanes;
  if (!targets.resolve_global(w, access.lanes & ~split, bytes, wanted)) return false;
  for_lanes(exec & ~access.lanes, [&](unsigned l) { targets.set_nowhere(l, bytes); });
  for (; split != 0; split &= split - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(split));
    const auto address_of = [&](unsigned k) {
      return descriptor.base + soffset + descriptor.swizzled_offset(lanes.index[l], lanes.offset[l] + k);
    };
    if (!targets.bounce(w, l, bytes, wanted, address_of)) return false;
  }
  return true;
}

template <typename M, unsigned kWords = 1>
void load(const Instruction& i, Wavefront& w) {
  constexpr unsigned kBytes = kWords == 1 ? sizeof(M) : kWords * 4;
  LaneTargets targets;
  if (!resolve(i, w, targets, Operation::load, kBytes, Access::read)) return;
  load_lanes<M, kWords>(targets, w.exec(), w.v(i.dst[0].index));
}

template <typename M, unsigned kWords = 1>
void store(const Instruction& i, Wavefront& w) {
  constexpr unsigned kBytes = kWords == 1 ? sizeof(M) : kWords * 4;
  LaneTargets targets;
  if (!resolve(i, w, targets, Operation::store, kBytes, Access::write)) return;
  store_lanes<M, kWords>(targets, w.exec(), w.v(i.src[3].index));
  targets.write_back(kBytes);
}

template <typename U, auto F, bool kCompare = false>
void atomic_operation(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  if (!resolve(i, w, targets, Operation::atomic, sizeof(U), Access::read_write)) return;
  for (U64 left = w.access.lanes; left != 0; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    if (w.access.address[l] % sizeof(U) != 0) {
      return report_misaligned(w, l, w.access.address[l], sizeof(U), Access::read_write);
    }
  }
  const U32* data = w.v(i.src[3].index);
  atomic_lanes<U, F>(targets, w.exec(), data, kCompare ? data + sizeof(U) / 4 * kLanes : nullptr,
                     i.destinations != 0 ? w.v(i.dst[0].index) : nullptr, w);
  targets.write_back(sizeof(U));
}

void invalidate_l1(const Instruction&, Wavefront& w) {
  w.access.space = MemoryAccess::Space::global;
  w.access.lanes = 0;
  w.access.lds_lanes = 0;
  w.access.bytes_per_lane = 0;
  w.raise(Event::cache_invalidate);
}

constexpr InstructionRow row(std::string_view mnemonic, Opcodes opcode, OperandTypes dst, OperandTypes src,
                             LatencyClass latency, ExecuteFn execute, std::uint32_t flags = kNoFlags) {
  return {mnemonic, Format::mubuf, opcode, dst, src, Unit::vmem, latency, flags, execute};
}
constexpr InstructionRow load_row(std::string_view mnemonic, Opcodes opcode, OperandType data, ExecuteFn execute,
                                  std::uint32_t flags = kNoFlags) {
  return row(mnemonic, opcode, {data}, {T::b64, T::b128, T::b32}, LatencyClass::vmem_load, execute, flags);
}
constexpr InstructionRow store_row(std::string_view mnemonic, Opcodes opcode, OperandType data, ExecuteFn execute) {
  return row(mnemonic, opcode, {}, {T::b64, T::b128, T::b32, data}, LatencyClass::vmem_store, execute);
}
constexpr InstructionRow atomic_row(std::string_view mnemonic, Opcodes opcode, OperandType result, OperandType data,
                                    ExecuteFn execute) {
  return row(mnemonic, opcode, {result}, {T::b64, T::b128, T::b32, data}, LatencyClass::vmem_atomic, execute);
}
template <auto F>
constexpr InstructionRow atomic32(std::string_view mnemonic, Opcodes opcode) {
  return atomic_row(mnemonic, opcode, T::b32, T::b32, atomic_operation<U32, F>);
}
template <auto F>
constexpr InstructionRow atomic64(std::string_view mnemonic, Opcodes opcode) {
  return atomic_row(mnemonic, opcode, T::b64, T::b64, atomic_operation<U64, F>);
}

namespace op = atomic;

constexpr std::array kRows{
    load_row("buffer_load_format_x", both(0x00), T::b32, nullptr, kLdsForm),
    load_row("buffer_load_format_xy", both(0x01), T::b64, nullptr),
    load_row("buffer_load_format_xyz", both(0x02), T::b96, nullptr),
    load_row("buffer_load_format_xyzw", both(0x03), T::b128, nullptr),
    store_row("buffer_store_format_x", both(0x04), T::b32, nullptr),
    store_row("buffer_store_format_xy", both(0x05), T::b64, nullptr),
    store_row("buffer_store_format_xyz", both(0x06), T::b96, nullptr),
    store_row("buffer_store_format_xyzw", both(0x07), T::b128, nullptr),
    // 16-bit components: one per register on gfx803, packed from gfx9 on.
    load_row("buffer_load_format_d16_x", both(0x08), T::b32, nullptr),
    load_row("buffer_load_format_d16_xy", gfx8_only(0x09), T::b64, nullptr),
    load_row("buffer_load_format_d16_xyz", gfx8_only(0x0a), T::b96, nullptr),
    load_row("buffer_load_format_d16_xyzw", gfx8_only(0x0b), T::b128, nullptr),
    load_row("buffer_load_format_d16_xy", gfx9_only(0x09), T::b32, nullptr),
    load_row("buffer_load_format_d16_xyz", gfx9_only(0x0a), T::b64, nullptr),
    load_row("buffer_load_format_d16_xyzw", gfx9_only(0x0b), T::b64, nullptr),
    store_row("buffer_store_format_d16_x", both(0x0c), T::b32, nullptr),
    store_row("buffer_store_format_d16_xy", gfx8_only(0x0d), T::b64, nullptr),
    store_row("buffer_store_format_d16_xyz", gfx8_only(0x0e), T::b96, nullptr),
    store_row("buffer_store_format_d16_xyzw", gfx8_only(0x0f), T::b128, nullptr),
    store_row("buffer_store_format_d16_xy", gfx9_only(0x0d), T::b32, nullptr),
    store_row("buffer_store_format_d16_xyz", gfx9_only(0x0e), T::b64, nullptr),
    store_row("buffer_store_format_d16_xyzw", gfx9_only(0x0f), T::b64, nullptr),
    load_row("buffer_load_ubyte", both(0x10), T::b32, load<std::uint8_t>, kLdsForm),
    load_row("buffer_load_sbyte", both(0x11), T::b32, load<std::int8_t>, kLdsForm),
    load_row("buffer_load_ushort", both(0x12), T::b32, load<std::uint16_t>, kLdsForm),
    load_row("buffer_load_sshort", both(0x13), T::b32, load<std::int16_t>, kLdsForm),
    load_row("buffer_load_dword", both(0x14), T::b32, load<U32>, kLdsForm),
    load_row("buffer_load_dwordx2", both(0x15), T::b64, load<U32, 2>),
    load_row("buffer_load_dwordx3", both(0x16), T::b96, load<U32, 3>),
    load_row("buffer_load_dwordx4", both(0x17), T::b128, load<U32, 4>),
    store_row("buffer_store_byte", both(0x18), T::b8, store<std::uint8_t>),
    store_row("buffer_store_short", both(0x1a), T::b16, store<std::uint16_t>),
    store_row("buffer_store_dword", both(0x1c), T::b32, store<U32>),
    store_row("buffer_store_dwordx2", both(0x1d), T::b64, store<U32, 2>),
    store_row("buffer_store_dwordx3", both(0x1e), T::b96, store<U32, 3>),
    store_row("buffer_store_dwordx4", both(0x1f), T::b128, store<U32, 4>),
    row("buffer_store_lds_dword", both(0x3d), {}, {T::none, T::b128, T::b32}, LatencyClass::vmem_store, nullptr),
    row("buffer_wbinvl1", both(0x3e), {}, {}, LatencyClass::vmem_control, invalidate_l1),
    row("buffer_wbinvl1_vol", both(0x3f), {}, {}, LatencyClass::vmem_control, invalidate_l1),
    atomic32<op::exchange<U32>>("buffer_atomic_swap", both(0x40)),
    atomic_row("buffer_atomic_cmpswap", both(0x41), T::b64, T::b64, atomic_operation<U32, op::compare_swap<U32>, true>),
    atomic32<op::add<U32>>("buffer_atomic_add", both(0x42)),
    atomic32<op::sub<U32>>("buffer_atomic_sub", both(0x43)),
    atomic32<op::min_signed<U32>>("buffer_atomic_smin", both(0x44)),
    atomic32<op::min_unsigned<U32>>("buffer_atomic_umin", both(0x45)),
    atomic32<op::max_signed<U32>>("buffer_atomic_smax", both(0x46)),
    atomic32<op::max_unsigned<U32>>("buffer_atomic_umax", both(0x47)),
    atomic32<op::bit_and<U32>>("buffer_atomic_and", both(0x48)),
    atomic32<op::bit_or<U32>>("buffer_atomic_or", both(0x49)),
    atomic32<op::bit_xor<U32>>("buffer_atomic_xor", both(0x4a)),
    atomic32<op::inc<U32>>("buffer_atomic_inc", both(0x4b)),
    atomic32<op::dec<U32>>("buffer_atomic_dec", both(0x4c)),
    atomic32<op::add_float<U32>>("buffer_atomic_add_f32", gfx9_only(0x4d)),
    atomic64<op::add_float<U64>>("buffer_atomic_add_f64", gfx9_only(0x4f)),
    atomic64<op::min_float<U64>>("buffer_atomic_min_f64", gfx9_only(0x50)),
    atomic64<op::max_float<U64>>("buffer_atomic_max_f64", gfx9_only(0x51)),
    atomic64<op::exchange<U64>>("buffer_atomic_swap_x2", both(0x60)),
    atomic_row("buffer_atomic_cmpswap_x2", both(0x61), T::b128, T::b128, atomic_operation<U64, op::compare_swap<U64>, true>),
    atomic64<op::add<U64>>("buffer_atomic_add_x2", both(0x62)),
    atomic64<op::sub<U64>>("buffer_atomic_sub_x2", both(0x63)),
    atomic64<op::min_signed<U64>>("buffer_atomic_smin_x2", both(0x64)),
    atomic64<op::min_unsigned<U64>>("buffer_atomic_umin_x2", both(0x65)),
    atomic64<op::max_signed<U64>>("buffer_atomic_smax_x2", both(0x66)),
    atomic64<op::max_unsigned<U64>>("buffer_atomic_umax_x2", both(0x67)),
    atomic64<op::bit_and<U64>>("buffer_atomic_and_x2", both(0x68)),
    atomic64<op::bit_or<U64>>("buffer_atomic_or_x2", both(0x69)),
    atomic64<op::bit_xor<U64>>("buffer_atomic_xor_x2", both(0x6a)),
    atomic64<op::inc<U64>>("buffer_atomic_inc_x2", both(0x6b)),
    atomic64<op::dec<U64>>("buffer_atomic_dec_x2", both(0x6c)),
};

}  // namespace

std::span<const InstructionRow> mubuf_rows() { return kRows; }

}  // namespace lacuna::isa
