// DS: local data share. Semantics: GCN3 ISA manual, "Data share" and "DS instructions". An access beyond the workgroup's
// allocation (on gfx8 also beyond M0) reads zero and writes nothing.
#include <array>
#include <bit>
#include <cstring>

#include "models/isa/memory/atomic_operations.h"
#include "models/isa/memory/ds_lane_moves.h"
#include "models/isa/memory/lds_lanes.h"
#include "models/isa/memory/memory_lanes.h"
#include "models/isa/memory/wave_sync.h"
#include "models/isa/row_sets.h"

namespace lacuna::isa {
namespace lds {
namespace {

using T = OperandType;

// The general paths are separate functions: their LaneTargets take several KiB of stack.
template <typename M, unsigned kWords>
[[gnu::noinline]] void read_lane_by_lane(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  resolve(i, w, targets, kWords == 1 ? sizeof(M) : kWords * 4);
  load_lanes<M, kWords>(targets, w.access.lanes, w.planes(i.dst[0]));
}
template <typename M, unsigned kWords>
[[gnu::noinline]] void write_lane_by_lane(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  resolve(i, w, targets, kWords == 1 ? sizeof(M) : kWords * 4);
  store_lanes<M, kWords>(targets, w.access.lanes, w.planes(i.src[1]));
}
template <unsigned kWords, unsigned kStride>
[[gnu::noinline]] void read_pair_lane_by_lane(const Instruction& i, Wavefront& w) {
  LaneTargets first;
  LaneTargets second;
  resolve_pair<kWords * 4, kStride>(i, w, first, second);
  load_lanes<U32, kWords>(first, w.access.lanes, w.planes(i.dst[0]));
  load_lanes<U32, kWords>(second, w.access.lanes, w.planes(i.dst[0]) + kWords * kLanes);
}

template <typename M, unsigned kWords = 1>
void read(const Instruction& i, Wavefront& w) {
  constexpr unsigned kBytes = kWords == 1 ? sizeof(M) : kWords * 4;
  if (const std::byte* host = neighbours<kBytes>(i, w, Operation::load); host != nullptr) {
    return load_neighbours<M, kWords>(host, w.planes(i.dst[0]));
  }
  note_access(w, Operation::load, true, kBytes);
  if constexpr (sizeof(M) == 4) {
    if (w.exec() == kAllLanes) {
      Offsets& offsets = w.addresses->lds;
      const Survey found = survey<kBytes>(w, w.v(i.src[0].index), static_cast<U32>(i.mem.offset), offsets);
      if (found.inside) return gather<kWords>(w.lds, offsets, found.rows, w.planes(i.dst[0]));
    }
  }
  read_lane_by_lane<M, kWords>(i, w);
}

template <typename M, unsigned kWords = 1>
void write(const Instruction& i, Wavefront& w) {
  constexpr unsigned kBytes = kWords == 1 ? sizeof(M) : kWords * 4;
  if (std::byte* host = neighbours<kBytes>(i, w, Operation::store); host != nullptr) {
    return store_neighbours<M, kWords>(host, w.planes(i.src[1]));
  }
  note_access(w, Operation::store, false, kBytes);
  if constexpr (sizeof(M) == 4) {
    if (w.exec() == kAllLanes) {
      Offsets& offsets = w.addresses->lds;
      const Survey found = survey<kBytes>(w, w.v(i.src[0].index), static_cast<U32>(i.mem.offset), offsets);
      if (found.inside) return scatter<kWords>(w.lds, offsets, w.planes(i.src[1]));
    }
  }
  write_lane_by_lane<M, kWords>(i, w);
}

template <unsigned kWords, unsigned kStride>
void read_pair(const Instruction& i, Wavefront& w) {
  note_access(w, Operation::load, true, kWords * 4);
  const U32 first = note_pair<kWords * 4, kStride>(i, w);
  if (w.exec() == kAllLanes) {
    Offsets& offsets = w.addresses->lds;
    const U32 distance = w.access.dual_distance;
    const Survey found = survey<kWords * 4>(w, w.v(i.src[0].index), first, offsets, distance);
    // `offset + distance` wraps at 2^32; the host address must not wrap.
    if (found.inside) {
      return gather<kWords, true>(w.lds, offsets, found.rows, w.planes(i.dst[0]), static_cast<std::int32_t>(distance));
    }
  }
  read_pair_lane_by_lane<kWords, kStride>(i, w);
}

template <unsigned kWords, unsigned kStride>
void write_pair(const Instruction& i, Wavefront& w) {
  LaneTargets first;
  LaneTargets second;
  note_access(w, Operation::store, false, kWords * 4);
  resolve_pair<kWords * 4, kStride>(i, w, first, second);
  store_lanes<U32, kWords>(first, w.access.lanes, w.planes(i.src[1]));
  store_lanes<U32, kWords>(second, w.access.lanes, w.planes(i.src[2]));
}

template <typename U, unsigned kStride>
void exchange_pair(const Instruction& i, Wavefront& w) {
  constexpr unsigned kWords = sizeof(U) / 4;
  LaneTargets first;
  LaneTargets second;
  note_access(w, Operation::atomic, true, sizeof(U));
  resolve_pair<sizeof(U), kStride>(i, w, first, second);
  std::uint32_t* dst = w.planes(i.dst[0]);
  const std::uint32_t* data0 = w.planes(i.src[1]);
  const std::uint32_t* data1 = w.planes(i.src[2]);
  for_lanes(w.access.lanes, [&](unsigned l) {
    const U new0 = lane_value<U>(data0, l);
    const U new1 = lane_value<U>(data1, l);
    U old0;
    U old1;
    std::memcpy(&old0, first[l], sizeof old0);
    std::memcpy(first[l], &new0, sizeof new0);
    std::memcpy(&old1, second[l], sizeof old1);
    std::memcpy(second[l], &new1, sizeof new1);
    set_lane_value<U>(dst, l, old0);
    set_lane_value<U>(dst + kWords * kLanes, l, old1);
  });
}

template <typename U, auto F>
void atomic_operation(const Instruction& i, Wavefront& w) {
  const bool returns = i.destinations != 0;
  LaneTargets targets;
  note_access(w, Operation::atomic, returns, sizeof(U));
  resolve(i, w, targets, sizeof(U));
  for (U64 left = w.access.lanes; left != 0; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    if (const U32 at = w.addresses->lds[l]; at % sizeof(U) != 0) {
      return report_misaligned(w, l, at, sizeof(U), Access::read_write);
    }
  }
  atomic_lanes<U, F>(targets, w.access.lanes, w.planes(i.src[1]), i.sources > 2 ? w.planes(i.src[2]) : nullptr,
                     returns ? w.planes(i.dst[0]) : nullptr, w);
}

// Loads one half of a register; the other half is unchanged.
template <typename M, bool kHigh>
void read_half(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  note_access(w, Operation::load, true, sizeof(M));
  resolve(i, w, targets, sizeof(M));
  load_half_lanes<M, kHigh>(targets, w.access.lanes, w.planes(i.dst[0]));
}

template <typename M>
void write_high_half(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  note_access(w, Operation::store, false, sizeof(M));
  resolve(i, w, targets, sizeof(M));
  store_high_half_lanes<M>(targets, w.access.lanes, w.planes(i.src[1]));
}

// Lane l's dword is at M0 + offset + 4 l (Vega ISA manual, "DS_READ_ADDTID_B32").
void resolve_by_lane(const Instruction& i, Wavefront& w, LaneTargets& targets) {
  const std::uint32_t base = (w.sgpr[kM0] & 0xffff) + static_cast<std::uint32_t>(i.mem.offset);
  for (unsigned l = 0; l < kLanes; ++l) w.addresses->lds[l] = base + 4 * l;
  targets.resolve_lds(w, w.access.lanes, w.addresses->lds.data(), 4, w.lds_bytes);
}
void read_by_lane(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  note_access(w, Operation::load, true, 4);
  resolve_by_lane(i, w, targets);
  load_lanes<U32, 1>(targets, w.access.lanes, w.planes(i.dst[0]));
}
void write_by_lane(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  note_access(w, Operation::store, false, 4);
  resolve_by_lane(i, w, targets);
  store_lanes<U32, 1>(targets, w.access.lanes, w.planes(i.src[1]));
}

// One counter for all lanes, at M0 + offset: the number of active lanes is added or subtracted, and all receive the previous
// value (GCN3 ISA manual, "DS_APPEND", "DS_CONSUME"; LLVM puts the LDS address in M0).
template <bool kAppend>
void count_lanes(const Instruction& i, Wavefront& w) {
  note_access(w, Operation::atomic, true, 4);
  const U64 at = U64{w.sgpr[kM0]} + static_cast<std::uint32_t>(i.mem.offset);
  w.access.lanes = w.exec() & (0 - w.exec());  // one access, by the first lane
  w.addresses->lds.fill(static_cast<U32>(at));
  if (w.exec() == 0) return;
  U32 old = 0;
  if (at + 4 <= w.lds_bytes) {
    const auto active = static_cast<U32>(std::popcount(w.exec()));
    std::memcpy(&old, w.lds + at, 4);
    const U32 now = kAppend ? old + active : old - active;
    std::memcpy(w.lds + at, &now, 4);
  }
  std::uint32_t* dst = w.planes(i.dst[0]);
  for_lanes(w.exec(), [&](unsigned l) { dst[l] = old; });
}

// LDS[A] = LDS[A] op LDS[B], where B = A + 4 x a signed distance: the offset's 15 low bits, or with the top bit set the address
// register's upper half (GCN3 ISA manual, "DS_ADD_SRC2_U32"). Lanes are processed in order.
template <typename U, auto F>
void combine(const Instruction& i, Wavefront& w) {
  note_access(w, Operation::atomic, false, sizeof(U));
  const std::uint32_t* address = w.v(i.src[0].index);
  const auto offset = static_cast<unsigned>(i.mem.offset);
  const U64 limit = limit_of(w);
  const auto word = [&](U64 at) { return at + sizeof(U) <= limit ? w.lds + at : nullptr; };
  for_lanes(w.exec(), [&](unsigned l) {
    const bool from_register = (offset & 0x8000) != 0;
    // The distance is signed: 16 bits in the register, 15 bits in the offset.
    const std::int32_t distance = from_register ? static_cast<std::int16_t>(address[l] >> 16)
                                                : static_cast<std::int32_t>((offset & 0x7fff) ^ 0x4000) - 0x4000;
    const U64 a = from_register ? address[l] & 0xffffU : address[l];
    w.addresses->lds[l] = static_cast<U32>(a);
    std::byte* to = word(a);
    const std::byte* from = word(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(distance * 4));
    U old{};
    U data{};
    if (to != nullptr) std::memcpy(&old, to, sizeof old);
    if (from != nullptr) std::memcpy(&data, from, sizeof data);
    const U now = F(old, data, U{0}, w);
    if (to != nullptr) std::memcpy(to, &now, sizeof now);
  });
}

// Each of the two dwords of the data is written only if its top bit is set, and with that bit cleared; both old values are
// returned (RDNA ISA manuals, "DS_CONDXCHG32_RTN_B64"; the GCN3 manual only names it).
void exchange_where_marked(const Instruction& i, Wavefront& w) {
  note_access(w, Operation::atomic, true, 8);
  const std::uint32_t* address = w.v(i.src[0].index);
  const std::uint32_t* data = w.planes(i.src[1]);
  std::uint32_t* dst = w.planes(i.dst[0]);
  const U64 limit = limit_of(w);
  for_lanes(w.exec(), [&](unsigned l) {
    const U64 first = (U64{address[l]} + static_cast<std::uint32_t>(i.mem.offset)) & ~U64{7};
    w.addresses->lds[l] = static_cast<U32>(first);
    std::array<U32, 2> marked{data[l], data[l + kLanes]};
    for (unsigned half = 0; half < 2; ++half) {
      const U64 at = first + 4 * half;
      U32 old = 0;
      if (at + 4 <= limit) {
        std::memcpy(&old, w.lds + at, 4);
        const U32 now = marked[half] & 0x7fffffffU;
        if (marked[half] != now) std::memcpy(w.lds + at, &now, 4);
      }
      dst[l + half * kLanes] = old;
    }
  });
}

void no_operation(const Instruction&, Wavefront& w) { note_no_access(w); }

// -- rows

constexpr InstructionRow row(std::string_view mnemonic, Opcodes opcode, OperandTypes dst, OperandTypes src,
                             LatencyClass latency, ExecuteFn execute, std::uint32_t flags = kReadsM0) {
  return {mnemonic, Format::ds, opcode, dst, src, Unit::lds, latency, flags, execute};
}
constexpr InstructionRow read_row(std::string_view mnemonic, Opcodes opcode, OperandType data, ExecuteFn execute,
                                  std::uint32_t flags = kReadsM0) {
  return row(mnemonic, opcode, {data}, {T::u32}, LatencyClass::lds_load, execute, flags);
}
constexpr InstructionRow write_row(std::string_view mnemonic, Opcodes opcode, OperandTypes src, ExecuteFn execute,
                                   std::uint32_t flags = kReadsM0) {
  return row(mnemonic, opcode, {}, src, LatencyClass::lds_store, execute, flags);
}
constexpr InstructionRow atomic_row(std::string_view mnemonic, Opcodes opcode, OperandType data, ExecuteFn execute) {
  return row(mnemonic, opcode, {}, {T::u32, data}, LatencyClass::lds_atomic, execute);
}
constexpr InstructionRow atomic2_row(std::string_view mnemonic, Opcodes opcode, OperandType data, ExecuteFn execute) {
  return row(mnemonic, opcode, {}, {T::u32, data, data}, LatencyClass::lds_atomic, execute);
}
constexpr InstructionRow return_row(std::string_view mnemonic, Opcodes opcode, OperandType data, ExecuteFn execute) {
  return row(mnemonic, opcode, {data}, {T::u32, data}, LatencyClass::lds_atomic, execute);
}
constexpr InstructionRow return2_row(std::string_view mnemonic, Opcodes opcode, OperandType data, ExecuteFn execute) {
  return row(mnemonic, opcode, {data}, {T::u32, data, data}, LatencyClass::lds_atomic, execute);
}
template <typename U, auto F>
constexpr InstructionRow src2_row(std::string_view mnemonic, int opcode) {
  return row(mnemonic, gfx8_only(opcode), {}, {T::u32}, LatencyClass::lds_atomic, combine<U, F>);
}
// GWS instructions always have GDS = 1. Of the GDS, only global wave sync is modelled.
constexpr InstructionRow gws_row(std::string_view mnemonic, Opcodes opcode, OperandTypes dst, OperandTypes src,
                                 ExecuteFn execute) {
  return row(mnemonic, opcode, dst, src, LatencyClass::lds_atomic, execute, kReadsM0 | kGdsOnly);
}

namespace op = atomic;

constexpr std::array kRows{
    atomic_row("ds_add_u32", both(0x00), T::u32, atomic_operation<U32, op::add<U32>>),
    atomic_row("ds_sub_u32", both(0x01), T::u32, atomic_operation<U32, op::sub<U32>>),
    atomic_row("ds_rsub_u32", both(0x02), T::u32, atomic_operation<U32, op::rsub<U32>>),
    atomic_row("ds_inc_u32", both(0x03), T::u32, atomic_operation<U32, op::inc<U32>>),
    atomic_row("ds_dec_u32", both(0x04), T::u32, atomic_operation<U32, op::dec<U32>>),
    atomic_row("ds_min_i32", both(0x05), T::i32, atomic_operation<U32, op::min_signed<U32>>),
    atomic_row("ds_max_i32", both(0x06), T::i32, atomic_operation<U32, op::max_signed<U32>>),
    atomic_row("ds_min_u32", both(0x07), T::u32, atomic_operation<U32, op::min_unsigned<U32>>),
    atomic_row("ds_max_u32", both(0x08), T::u32, atomic_operation<U32, op::max_unsigned<U32>>),
    atomic_row("ds_and_b32", both(0x09), T::b32, atomic_operation<U32, op::bit_and<U32>>),
    atomic_row("ds_or_b32", both(0x0a), T::b32, atomic_operation<U32, op::bit_or<U32>>),
    atomic_row("ds_xor_b32", both(0x0b), T::b32, atomic_operation<U32, op::bit_xor<U32>>),
    atomic2_row("ds_mskor_b32", both(0x0c), T::b32, atomic_operation<U32, op::masked_or<U32>>),
    write_row("ds_write_b32", both(0x0d), {T::u32, T::b32}, write<U32>),
    write_row("ds_write2_b32", both(0x0e), {T::u32, T::b32, T::b32}, write_pair<1, 1>, kReadsM0 | kTwoOffsets),
    write_row("ds_write2st64_b32", both(0x0f), {T::u32, T::b32, T::b32}, write_pair<1, 64>, kReadsM0 | kTwoOffsets),
    atomic2_row("ds_cmpst_b32", both(0x10), T::b32, atomic_operation<U32, op::compare_store<U32>>),
    atomic2_row("ds_cmpst_f32", both(0x11), T::f32, atomic_operation<U32, op::compare_store_float<U32>>),
    atomic_row("ds_min_f32", both(0x12), T::f32, atomic_operation<U32, op::min_float<U32>>),
    atomic_row("ds_max_f32", both(0x13), T::f32, atomic_operation<U32, op::max_float<U32>>),
    row("ds_nop", both(0x14), {}, {}, LatencyClass::lds_store, no_operation, kNoGds),
    atomic_row("ds_add_f32", both(0x15), T::f32, atomic_operation<U32, op::add_float<U32>>),
    write_row("ds_write_addtid_b32", gfx9_only(0x1d), {T::none, T::b32}, write_by_lane),
    write_row("ds_write_b8", both(0x1e), {T::u32, T::b8}, write<std::uint8_t>),
    write_row("ds_write_b16", both(0x1f), {T::u32, T::b16}, write<std::uint16_t>),
    return_row("ds_add_rtn_u32", both(0x20), T::u32, atomic_operation<U32, op::add<U32>>),
    return_row("ds_sub_rtn_u32", both(0x21), T::u32, atomic_operation<U32, op::sub<U32>>),
    return_row("ds_rsub_rtn_u32", both(0x22), T::u32, atomic_operation<U32, op::rsub<U32>>),
    return_row("ds_inc_rtn_u32", both(0x23), T::u32, atomic_operation<U32, op::inc<U32>>),
    return_row("ds_dec_rtn_u32", both(0x24), T::u32, atomic_operation<U32, op::dec<U32>>),
    return_row("ds_min_rtn_i32", both(0x25), T::i32, atomic_operation<U32, op::min_signed<U32>>),
    return_row("ds_max_rtn_i32", both(0x26), T::i32, atomic_operation<U32, op::max_signed<U32>>),
    return_row("ds_min_rtn_u32", both(0x27), T::u32, atomic_operation<U32, op::min_unsigned<U32>>),
    return_row("ds_max_rtn_u32", both(0x28), T::u32, atomic_operation<U32, op::max_unsigned<U32>>),
    return_row("ds_and_rtn_b32", both(0x29), T::b32, atomic_operation<U32, op::bit_and<U32>>),
    return_row("ds_or_rtn_b32", both(0x2a), T::b32, atomic_operation<U32, op::bit_or<U32>>),
    return_row("ds_xor_rtn_b32", both(0x2b), T::b32, atomic_operation<U32, op::bit_xor<U32>>),
    return2_row("ds_mskor_rtn_b32", both(0x2c), T::b32, atomic_operation<U32, op::masked_or<U32>>),
    return_row("ds_wrxchg_rtn_b32", both(0x2d), T::b32, atomic_operation<U32, op::exchange<U32>>),
    row("ds_wrxchg2_rtn_b32", both(0x2e), {T::b64}, {T::u32, T::b32, T::b32}, LatencyClass::lds_atomic, exchange_pair<U32, 1>,
        kReadsM0 | kTwoOffsets),
    row("ds_wrxchg2st64_rtn_b32", both(0x2f), {T::b64}, {T::u32, T::b32, T::b32}, LatencyClass::lds_atomic,
        exchange_pair<U32, 64>, kReadsM0 | kTwoOffsets),
    return2_row("ds_cmpst_rtn_b32", both(0x30), T::b32, atomic_operation<U32, op::compare_store<U32>>),
    return2_row("ds_cmpst_rtn_f32", both(0x31), T::f32, atomic_operation<U32, op::compare_store_float<U32>>),
    return_row("ds_min_rtn_f32", both(0x32), T::f32, atomic_operation<U32, op::min_float<U32>>),
    return_row("ds_max_rtn_f32", both(0x33), T::f32, atomic_operation<U32, op::max_float<U32>>),
    return2_row("ds_wrap_rtn_b32", both(0x34), T::b32, atomic_operation<U32, op::wrap<U32>>),
    return_row("ds_add_rtn_f32", both(0x35), T::f32, atomic_operation<U32, op::add_float<U32>>),
    read_row("ds_read_b32", both(0x36), T::b32, read<U32>),
    read_row("ds_read2_b32", both(0x37), T::b64, read_pair<1, 1>, kReadsM0 | kTwoOffsets),
    read_row("ds_read2st64_b32", both(0x38), T::b64, read_pair<1, 64>, kReadsM0 | kTwoOffsets),
    read_row("ds_read_i8", both(0x39), T::b32, read<std::int8_t>),
    read_row("ds_read_u8", both(0x3a), T::b32, read<std::uint8_t>),
    read_row("ds_read_i16", both(0x3b), T::b32, read<std::int16_t>),
    read_row("ds_read_u16", both(0x3c), T::b32, read<std::uint16_t>),
    row("ds_swizzle_b32", both(0x3d), {T::b32}, {T::b32}, LatencyClass::lds_permute, ds_swizzle, kNoFlags),
    row("ds_permute_b32", both(0x3e), {T::b32}, {T::u32, T::b32}, LatencyClass::lds_permute, ds_permute, kNoGds),
    row("ds_bpermute_b32", both(0x3f), {T::b32}, {T::u32, T::b32}, LatencyClass::lds_permute, ds_permute_backward, kNoGds),
    atomic_row("ds_add_u64", both(0x40), T::u64, atomic_operation<U64, op::add<U64>>),
    atomic_row("ds_sub_u64", both(0x41), T::u64, atomic_operation<U64, op::sub<U64>>),
    atomic_row("ds_rsub_u64", both(0x42), T::u64, atomic_operation<U64, op::rsub<U64>>),
    atomic_row("ds_inc_u64", both(0x43), T::u64, atomic_operation<U64, op::inc<U64>>),
    atomic_row("ds_dec_u64", both(0x44), T::u64, atomic_operation<U64, op::dec<U64>>),
    atomic_row("ds_min_i64", both(0x45), T::i64, atomic_operation<U64, op::min_signed<U64>>),
    atomic_row("ds_max_i64", both(0x46), T::i64, atomic_operation<U64, op::max_signed<U64>>),
    atomic_row("ds_min_u64", both(0x47), T::u64, atomic_operation<U64, op::min_unsigned<U64>>),
    atomic_row("ds_max_u64", both(0x48), T::u64, atomic_operation<U64, op::max_unsigned<U64>>),
    atomic_row("ds_and_b64", both(0x49), T::b64, atomic_operation<U64, op::bit_and<U64>>),
    atomic_row("ds_or_b64", both(0x4a), T::b64, atomic_operation<U64, op::bit_or<U64>>),
    atomic_row("ds_xor_b64", both(0x4b), T::b64, atomic_operation<U64, op::bit_xor<U64>>),
    atomic2_row("ds_mskor_b64", both(0x4c), T::b64, atomic_operation<U64, op::masked_or<U64>>),
    write_row("ds_write_b64", both(0x4d), {T::u32, T::b64}, write<U32, 2>),
    write_row("ds_write2_b64", both(0x4e), {T::u32, T::b64, T::b64}, write_pair<2, 1>, kReadsM0 | kTwoOffsets),
    write_row("ds_write2st64_b64", both(0x4f), {T::u32, T::b64, T::b64}, write_pair<2, 64>, kReadsM0 | kTwoOffsets),
    atomic2_row("ds_cmpst_b64", both(0x50), T::b64, atomic_operation<U64, op::compare_store<U64>>),
    atomic2_row("ds_cmpst_f64", both(0x51), T::f64, atomic_operation<U64, op::compare_store_float<U64>>),
    atomic_row("ds_min_f64", both(0x52), T::f64, atomic_operation<U64, op::min_float<U64>>),
    atomic_row("ds_max_f64", both(0x53), T::f64, atomic_operation<U64, op::max_float<U64>>),
    write_row("ds_write_b8_d16_hi", gfx9_only(0x54), {T::u32, T::b32}, write_high_half<std::uint8_t>),
    write_row("ds_write_b16_d16_hi", gfx9_only(0x55), {T::u32, T::b32}, write_high_half<std::uint16_t>),
    read_row("ds_read_u8_d16", gfx9_only(0x56), T::b32, read_half<std::uint8_t, false>, kReadsM0 | kReadsDst),
    read_row("ds_read_u8_d16_hi", gfx9_only(0x57), T::b32, read_half<std::uint8_t, true>, kReadsM0 | kReadsDst),
    read_row("ds_read_i8_d16", gfx9_only(0x58), T::b32, read_half<std::int8_t, false>, kReadsM0 | kReadsDst),
    read_row("ds_read_i8_d16_hi", gfx9_only(0x59), T::b32, read_half<std::int8_t, true>, kReadsM0 | kReadsDst),
    read_row("ds_read_u16_d16", gfx9_only(0x5a), T::b32, read_half<std::uint16_t, false>, kReadsM0 | kReadsDst),
    read_row("ds_read_u16_d16_hi", gfx9_only(0x5b), T::b32, read_half<std::uint16_t, true>, kReadsM0 | kReadsDst),
    atomic_row("ds_add_f64", gfx9_only(0x5c), T::f64, atomic_operation<U64, op::add_float<U64>>),
    return_row("ds_add_rtn_u64", both(0x60), T::u64, atomic_operation<U64, op::add<U64>>),
    return_row("ds_sub_rtn_u64", both(0x61), T::u64, atomic_operation<U64, op::sub<U64>>),
    return_row("ds_rsub_rtn_u64", both(0x62), T::u64, atomic_operation<U64, op::rsub<U64>>),
    return_row("ds_inc_rtn_u64", both(0x63), T::u64, atomic_operation<U64, op::inc<U64>>),
    return_row("ds_dec_rtn_u64", both(0x64), T::u64, atomic_operation<U64, op::dec<U64>>),
    return_row("ds_min_rtn_i64", both(0x65), T::i64, atomic_operation<U64, op::min_signed<U64>>),
    return_row("ds_max_rtn_i64", both(0x66), T::i64, atomic_operation<U64, op::max_signed<U64>>),
    return_row("ds_min_rtn_u64", both(0x67), T::u64, atomic_operation<U64, op::min_unsigned<U64>>),
    return_row("ds_max_rtn_u64", both(0x68), T::u64, atomic_operation<U64, op::max_unsigned<U64>>),
    return_row("ds_and_rtn_b64", both(0x69), T::b64, atomic_operation<U64, op::bit_and<U64>>),
    return_row("ds_or_rtn_b64", both(0x6a), T::b64, atomic_operation<U64, op::bit_or<U64>>),
    return_row("ds_xor_rtn_b64", both(0x6b), T::b64, atomic_operation<U64, op::bit_xor<U64>>),
    return2_row("ds_mskor_rtn_b64", both(0x6c), T::b64, atomic_operation<U64, op::masked_or<U64>>),
    return_row("ds_wrxchg_rtn_b64", both(0x6d), T::b64, atomic_operation<U64, op::exchange<U64>>),
    row("ds_wrxchg2_rtn_b64", both(0x6e), {T::b128}, {T::u32, T::b64, T::b64}, LatencyClass::lds_atomic, exchange_pair<U64, 1>,
        kReadsM0 | kTwoOffsets),
    row("ds_wrxchg2st64_rtn_b64", both(0x6f), {T::b128}, {T::u32, T::b64, T::b64}, LatencyClass::lds_atomic,
        exchange_pair<U64, 64>, kReadsM0 | kTwoOffsets),
    return2_row("ds_cmpst_rtn_b64", both(0x70), T::b64, atomic_operation<U64, op::compare_store<U64>>),
    return2_row("ds_cmpst_rtn_f64", both(0x71), T::f64, atomic_operation<U64, op::compare_store_float<U64>>),
    return_row("ds_min_rtn_f64", both(0x72), T::f64, atomic_operation<U64, op::min_float<U64>>),
    return_row("ds_max_rtn_f64", both(0x73), T::f64, atomic_operation<U64, op::max_float<U64>>),
    read_row("ds_read_b64", both(0x76), T::b64, read<U32, 2>),
    read_row("ds_read2_b64", both(0x77), T::b128, read_pair<2, 1>, kReadsM0 | kTwoOffsets),
    read_row("ds_read2st64_b64", both(0x78), T::b128, read_pair<2, 64>, kReadsM0 | kTwoOffsets),
    return_row("ds_add_rtn_f64", gfx9_only(0x7c), T::f64, atomic_operation<U64, op::add_float<U64>>),
    return_row("ds_condxchg32_rtn_b64", both(0x7e), T::b64, exchange_where_marked),
    src2_row<U32, op::add<U32>>("ds_add_src2_u32", 0x80),
    src2_row<U32, op::sub<U32>>("ds_sub_src2_u32", 0x81),
    src2_row<U32, op::rsub<U32>>("ds_rsub_src2_u32", 0x82),
    src2_row<U32, op::inc<U32>>("ds_inc_src2_u32", 0x83),
    src2_row<U32, op::dec<U32>>("ds_dec_src2_u32", 0x84),
    src2_row<U32, op::min_signed<U32>>("ds_min_src2_i32", 0x85),
    src2_row<U32, op::max_signed<U32>>("ds_max_src2_i32", 0x86),
    src2_row<U32, op::min_unsigned<U32>>("ds_min_src2_u32", 0x87),
    src2_row<U32, op::max_unsigned<U32>>("ds_max_src2_u32", 0x88),
    src2_row<U32, op::bit_and<U32>>("ds_and_src2_b32", 0x89),
    src2_row<U32, op::bit_or<U32>>("ds_or_src2_b32", 0x8a),
    src2_row<U32, op::bit_xor<U32>>("ds_xor_src2_b32", 0x8b),
    src2_row<U32, op::exchange<U32>>("ds_write_src2_b32", 0x8d),
    src2_row<U32, op::min_float<U32>>("ds_min_src2_f32", 0x92),
    src2_row<U32, op::max_float<U32>>("ds_max_src2_f32", 0x93),
    src2_row<U32, op::add_float<U32>>("ds_add_src2_f32", 0x95),
    gws_row("ds_gws_sema_release_all", both(0x98), {}, {}, execute_wave_sync<WaveSync::semaphore_release_all>),
    gws_row("ds_gws_init", both(0x99), {}, {T::b32}, execute_wave_sync<WaveSync::init>),
    gws_row("ds_gws_sema_v", both(0x9a), {}, {}, execute_wave_sync<WaveSync::semaphore_v>),
    gws_row("ds_gws_sema_br", both(0x9b), {}, {T::b32}, execute_wave_sync<WaveSync::semaphore_add>),
    gws_row("ds_gws_sema_p", both(0x9c), {}, {}, execute_wave_sync<WaveSync::semaphore_p>),
    gws_row("ds_gws_barrier", both(0x9d), {}, {T::b32}, execute_wave_sync<WaveSync::barrier>),
    row("ds_read_addtid_b32", gfx9_only(0xb6), {T::b32}, {}, LatencyClass::lds_load, read_by_lane),
    row("ds_consume", both(0xbd), {T::b32}, {}, LatencyClass::lds_atomic, count_lanes<false>),
    row("ds_append", both(0xbe), {T::b32}, {}, LatencyClass::lds_atomic, count_lanes<true>),
    gws_row("ds_ordered_count", gfx8_only(0xbf), {T::b32}, {T::b32}, nullptr),
    src2_row<U64, op::add<U64>>("ds_add_src2_u64", 0xc0),
    src2_row<U64, op::sub<U64>>("ds_sub_src2_u64", 0xc1),
    src2_row<U64, op::rsub<U64>>("ds_rsub_src2_u64", 0xc2),
    src2_row<U64, op::inc<U64>>("ds_inc_src2_u64", 0xc3),
    src2_row<U64, op::dec<U64>>("ds_dec_src2_u64", 0xc4),
    src2_row<U64, op::min_signed<U64>>("ds_min_src2_i64", 0xc5),
    src2_row<U64, op::max_signed<U64>>("ds_max_src2_i64", 0xc6),
    src2_row<U64, op::min_unsigned<U64>>("ds_min_src2_u64", 0xc7),
    src2_row<U64, op::max_unsigned<U64>>("ds_max_src2_u64", 0xc8),
    src2_row<U64, op::bit_and<U64>>("ds_and_src2_b64", 0xc9),
    src2_row<U64, op::bit_or<U64>>("ds_or_src2_b64", 0xca),
    src2_row<U64, op::bit_xor<U64>>("ds_xor_src2_b64", 0xcb),
    src2_row<U64, op::exchange<U64>>("ds_write_src2_b64", 0xcd),
    src2_row<U64, op::min_float<U64>>("ds_min_src2_f64", 0xd2),
    src2_row<U64, op::max_float<U64>>("ds_max_src2_f64", 0xd3),
    write_row("ds_write_b96", both(0xde), {T::u32, T::b96}, write<U32, 3>),
    write_row("ds_write_b128", both(0xdf), {T::u32, T::b128}, write<U32, 4>),
    read_row("ds_read_b96", both(0xfe), T::b96, read<U32, 3>),
    read_row("ds_read_b128", both(0xff), T::b128, read<U32, 4>),
};

}  // namespace
}  // namespace lds

std::span<const InstructionRow> ds_rows() { return lds::kRows; }

}  // namespace lacuna::isa
