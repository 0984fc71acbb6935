// SMEM: scalar memory. Semantics: GCN3 ISA manual, "Scalar memory operations"; scratch accesses, atomics and two offsets: Vega
// ISA manual, "Scalar memory operations".
#include <algorithm>
#include <array>
#include <span>

#include "models/isa/decode/operand.h"
#include "models/isa/memory/atomic_operations.h"
#include "models/isa/memory/memory_lanes.h"
#include "models/isa/row_sets.h"

namespace lacuna::isa {
namespace smem {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using T = OperandType;

constexpr unsigned kMaxWords = 16;

// gfx9 can add an SGPR and an immediate.
U64 offset_of(const Instruction& i, const Wavefront& w) {
  const auto immediate = static_cast<U64>(std::int64_t{i.mem.offset});
  return i.src[1].kind == OperandKind::sgpr ? w.sgpr[i.src[1].index] + immediate : immediate;
}

void note_access(const Instruction& i, Wavefront& w, U64 address, unsigned words, MemoryAccess::Operation operation) {
  MemoryAccess& access = w.access;
  access.space = MemoryAccess::Space::scalar;
  access.operation = operation;
  access.returns_data = operation == MemoryAccess::Operation::load;
  access.glc = i.mem.glc;
  access.slc = false;
  access.deferred = false;
  access.dual = false;
  access.bytes_per_lane = static_cast<std::uint8_t>(words * 4);
  access.lanes = 1;
  access.lds_lanes = 0;
  access.scalar_address = address;
}

// Copies `words` dwords between each of the positions in memory and `data`. With a store buffer, writes go to it and reads
// search it first. False: the access has been deferred.
bool move(Wavefront& w, std::span<std::byte* const> places, unsigned words, U32* data, Access wanted) {
  if (w.stores != nullptr && w.stores->any_deferred()) {
    const auto deferred = [&](std::byte* at) { return w.stores->deferred(at, words * 4); };
    if (std::any_of(places.begin(), places.end(), deferred)) {
      for (std::byte* at : places) w.stores->mark_deferred(at, words * 4);
      w.access.deferred = true;
      return false;
    }
  }
  for (std::byte* at : places) {
    auto* bytes = reinterpret_cast<std::byte*>(data);
    if (wanted == Access::read) {
      std::memcpy(data, at, words * 4);
      if (w.stores != nullptr && w.stores->may_hold(at, words * 4)) w.stores->overlay(at, bytes, words * 4);
    } else if (w.stores != nullptr) {
      w.stores->store(at, bytes, words * 4);
    } else {
      std::memcpy(at, data, words * 4);
    }
    data += words;
  }
  return true;
}

// Copies `words` dwords between memory and `data`; dword by dword if no single mapping contains them all. False: `data` is
// invalid, after a fault or because the access has been deferred.
bool transfer(Wavefront& w, U64 address, U32* data, unsigned words, Access wanted) {
  check_epoch(w);
  if (std::byte* host = translate(w, address, words * 4, wanted); host != nullptr)
    return move(w, {&host, 1}, words, data, wanted);
  std::array<std::byte*, kMaxWords> at{};
  for (unsigned k = 0; k < words; ++k) {
    at[k] = translate(w, address + k * 4, 4, wanted);
    if (at[k] == nullptr) {
      report_fault(w, 0, address + k * 4, 4, wanted);
      return false;
    }
  }
  return move(w, {at.data(), words}, 1, data, wanted);
}

// The two low bits of the address are ignored.
U64 address_of(const Instruction& i, const Wavefront& w) { return (w.read64(i.src[0].index) + offset_of(i, w)) & ~U64{3}; }

// Scratch accesses: an SGPR offset counts in units of 64 bytes.
U64 scratch_address(const Instruction& i, const Wavefront& w) {
  const auto immediate = static_cast<U64>(std::int64_t{i.mem.offset});
  const U64 scalar = i.src[1].kind == OperandKind::sgpr ? U64{w.sgpr[i.src[1].index]} * 64 : 0;
  return (w.read64(i.src[0].index) + scalar + immediate) & ~U64{3};
}

template <unsigned kWords, auto kAddress = address_of>
void load(const Instruction& i, Wavefront& w) {
  const U64 address = kAddress(i, w);
  note_access(i, w, address, kWords, MemoryAccess::Operation::load);
  std::array<U32, kWords> data;
  if (transfer(w, address, data.data(), kWords, Access::read)) std::copy(data.begin(), data.end(), &w.sgpr[i.dst[0].index]);
}

template <unsigned kWords, auto kAddress = address_of>
void store(const Instruction& i, Wavefront& w) {
  const U64 address = kAddress(i, w);
  note_access(i, w, address, kWords, MemoryAccess::Operation::store);
  transfer(w, address, &w.sgpr[i.src[2].index], kWords, Access::write);
}

// A scalar buffer access uses base, STRIDE and NUM_RECORDS of the descriptor. NUM_RECORDS counts bytes if STRIDE is 0,
// otherwise records of STRIDE bytes.
struct ScalarBuffer {
  U64 base;
  U64 bytes;
};
ScalarBuffer buffer_of(const Instruction& i, const Wavefront& w) {
  const U32* v = &w.sgpr[i.src[0].index];
  const U64 stride = v[1] >> 16 & 0x3fff;
  return {(U64{v[0]} | U64{v[1] & 0xffff} << 32) & ~U64{3}, stride == 0 ? v[2] : stride * v[2]};
}

// Number of words from `offset` on that lie inside the buffer; the remaining words read zero and are not written.
unsigned words_inside(const ScalarBuffer& buffer, U64 offset, unsigned words) {
  if (offset >= buffer.bytes) return 0;
  return static_cast<unsigned>(std::min<U64>(words, (buffer.bytes - offset) / 4));
}

template <unsigned kWords>
void buffer_load(const Instruction& i, Wavefront& w) {
  const ScalarBuffer buffer = buffer_of(i, w);
  const U64 offset = offset_of(i, w) & ~U64{3};
  const unsigned inside = words_inside(buffer, offset, kWords);
  std::array<U32, kWords> data{};
  note_access(i, w, buffer.base + offset, kWords, MemoryAccess::Operation::load);
  if (inside == 0 || transfer(w, buffer.base + offset, data.data(), inside, Access::read)) {
    std::copy(data.begin(), data.end(), &w.sgpr[i.dst[0].index]);
  }
}

template <unsigned kWords>
void buffer_store(const Instruction& i, Wavefront& w) {
  const ScalarBuffer buffer = buffer_of(i, w);
  const U64 offset = offset_of(i, w) & ~U64{3};
  const unsigned inside = words_inside(buffer, offset, kWords);
  note_access(i, w, buffer.base + offset, kWords, MemoryAccess::Operation::store);
  if (inside != 0) transfer(w, buffer.base + offset, &w.sgpr[i.src[2].index], inside, Access::write);
}

// The data are in SGPRs, followed by the comparand; with GLC the old value replaces the data.
template <typename U, auto F>
void atomic_at(const Instruction& i, Wavefront& w, U64 address) {
  constexpr unsigned kWords = sizeof(U) / 4;
  note_access(i, w, address, kWords, MemoryAccess::Operation::atomic);
  w.access.returns_data = i.mem.glc;
  check_epoch(w);
  if (address % sizeof(U) != 0) return report_misaligned(w, 0, address, sizeof(U), Access::read_write);
  std::byte* host = translate(w, address, sizeof(U), Access::read_write);
  if (host == nullptr) return report_fault(w, 0, address, sizeof(U), Access::read_write);
  if (w.stores != nullptr) {
    w.stores->mark_deferred(host, sizeof(U));
    w.access.deferred = true;
    return;
  }
  const unsigned data = i.src[2].index;
  const auto operand = [&](unsigned first) {
    return kWords == 1 ? static_cast<U>(w.sgpr[first]) : static_cast<U>(w.read64(first));
  };
  const U first = operand(data);
  const U second = i.src[2].words > kWords ? operand(data + kWords) : U{0};
  U old;
  if (w.window.sharing == Sharing::device) {
    std::memcpy(&old, host, sizeof old);
    const U now = F(old, first, second, w);
    std::memcpy(host, &now, sizeof now);
  } else {
    old = replace_shared<U>(host, [&](U value) { return F(value, first, second, w); });
  }
  if (!i.mem.glc) return;
  if constexpr (kWords == 1) {
    w.sgpr[data] = old;
  } else {
    w.write64(data, old);
  }
}

template <typename U, auto F>
void atomic_operation(const Instruction& i, Wavefront& w) {
  atomic_at<U, F>(i, w, address_of(i, w));
}

template <typename U, auto F>
void buffer_atomic(const Instruction& i, Wavefront& w) {
  const ScalarBuffer buffer = buffer_of(i, w);
  const U64 offset = offset_of(i, w) & ~U64{3};
  if (words_inside(buffer, offset, sizeof(U) / 4) == sizeof(U) / 4) return atomic_at<U, F>(i, w, buffer.base + offset);
  // Outside of the buffer: nothing is changed, and zero is returned.
  note_access(i, w, buffer.base + offset, 0, MemoryAccess::Operation::atomic);
  w.access.lanes = 0;
  if (i.mem.glc) std::fill_n(&w.sgpr[i.src[2].index], sizeof(U) / 4, 0U);
}

// In this model memory always holds the current data, so discarding cache lines has no effect.
void discard(const Instruction& i, Wavefront& w) {
  note_access(i, w, address_of(i, w), 0, MemoryAccess::Operation::store);
  w.access.lanes = 0;
}

void cache_control(const Instruction&, Wavefront& w) {
  w.access.space = MemoryAccess::Space::scalar;
  w.access.lanes = 0;
  w.access.bytes_per_lane = 0;
  w.raise(Event::cache_invalidate);
}

template <auto kCounter>
void read_counter(const Instruction& i, Wavefront& w) {
  note_access(i, w, 0, 2, MemoryAccess::Operation::load);
  w.access.lanes = 0;
  w.access.bytes_per_lane = 0;
  w.write64(i.dst[0].index, w.*kCounter);
}

constexpr InstructionRow row(std::string_view mnemonic, Opcodes opcode, OperandTypes dst, OperandTypes src,
                             LatencyClass latency, ExecuteFn execute) {
  return {mnemonic, Format::smem, opcode, dst, src, Unit::smem, latency, kNoFlags, execute};
}
constexpr InstructionRow load_row(std::string_view mnemonic, int opcode, OperandType data, OperandType base,
                                  ExecuteFn execute) {
  return row(mnemonic, both(opcode), {data}, {base, T::b32}, LatencyClass::smem_load, execute);
}
constexpr InstructionRow store_row(std::string_view mnemonic, int opcode, OperandType data, OperandType base,
                                   ExecuteFn execute) {
  return row(mnemonic, both(opcode), {}, {base, T::b32, data}, LatencyClass::smem_store, execute);
}
constexpr InstructionRow control_row(std::string_view mnemonic, int opcode) {
  return row(mnemonic, both(opcode), {}, {}, LatencyClass::smem_control, cache_control);
}

// An atomic's data are its source and, with GLC, its destination.
constexpr InstructionRow atomic_row(std::string_view mnemonic, int opcode, OperandType base, OperandType data,
                                    ExecuteFn execute) {
  return row(mnemonic, gfx9_only(opcode), {}, {base, T::b32, data}, LatencyClass::smem_load, execute);
}

namespace op = atomic;

constexpr std::array kRows{
    load_row("s_load_dword", 0x00, T::b32, T::b64, load<1>),
    load_row("s_load_dwordx2", 0x01, T::b64, T::b64, load<2>),
    load_row("s_load_dwordx4", 0x02, T::b128, T::b64, load<4>),
    load_row("s_load_dwordx8", 0x03, T::b256, T::b64, load<8>),
    load_row("s_load_dwordx16", 0x04, T::b512, T::b64, load<16>),
    load_row("s_buffer_load_dword", 0x08, T::b32, T::b128, buffer_load<1>),
    load_row("s_buffer_load_dwordx2", 0x09, T::b64, T::b128, buffer_load<2>),
    load_row("s_buffer_load_dwordx4", 0x0a, T::b128, T::b128, buffer_load<4>),
    load_row("s_buffer_load_dwordx8", 0x0b, T::b256, T::b128, buffer_load<8>),
    load_row("s_buffer_load_dwordx16", 0x0c, T::b512, T::b128, buffer_load<16>),
    store_row("s_store_dword", 0x10, T::b32, T::b64, store<1>),
    store_row("s_store_dwordx2", 0x11, T::b64, T::b64, store<2>),
    store_row("s_store_dwordx4", 0x12, T::b128, T::b64, store<4>),
    store_row("s_buffer_store_dword", 0x18, T::b32, T::b128, buffer_store<1>),
    store_row("s_buffer_store_dwordx2", 0x19, T::b64, T::b128, buffer_store<2>),
    store_row("s_buffer_store_dwordx4", 0x1a, T::b128, T::b128, buffer_store<4>),
    control_row("s_dcache_inv", 0x20),
    control_row("s_dcache_wb", 0x21),
    control_row("s_dcache_inv_vol", 0x22),
    control_row("s_dcache_wb_vol", 0x23),
    row("s_memtime", both(0x24), {T::b64}, {}, LatencyClass::smem_load, read_counter<&Wavefront::clock>),
    row("s_memrealtime", both(0x25), {T::b64}, {}, LatencyClass::smem_load, read_counter<&Wavefront::real_time>),
    row("s_scratch_load_dword", gfx9_only(0x05), {T::b32}, {T::b64, T::b32}, LatencyClass::smem_load, load<1, scratch_address>),
    row("s_scratch_load_dwordx2", gfx9_only(0x06), {T::b64}, {T::b64, T::b32}, LatencyClass::smem_load,
        load<2, scratch_address>),
    row("s_scratch_load_dwordx4", gfx9_only(0x07), {T::b128}, {T::b64, T::b32}, LatencyClass::smem_load,
        load<4, scratch_address>),
    row("s_scratch_store_dword", gfx9_only(0x15), {}, {T::b64, T::b32, T::b32}, LatencyClass::smem_store,
        store<1, scratch_address>),
    row("s_scratch_store_dwordx2", gfx9_only(0x16), {}, {T::b64, T::b32, T::b64}, LatencyClass::smem_store,
        store<2, scratch_address>),
    row("s_scratch_store_dwordx4", gfx9_only(0x17), {}, {T::b64, T::b32, T::b128}, LatencyClass::smem_store,
        store<4, scratch_address>),
    row("s_dcache_discard", gfx9_only(0x28), {}, {T::b64, T::b32}, LatencyClass::smem_control, discard),
    row("s_dcache_discard_x2", gfx9_only(0x29), {}, {T::b64, T::b32}, LatencyClass::smem_control, discard),
    atomic_row("s_buffer_atomic_swap", 0x40, T::b128, T::b32, buffer_atomic<U32, op::exchange<U32>>),
    atomic_row("s_buffer_atomic_cmpswap", 0x41, T::b128, T::b64, buffer_atomic<U32, op::compare_swap<U32>>),
    atomic_row("s_buffer_atomic_add", 0x42, T::b128, T::b32, buffer_atomic<U32, op::add<U32>>),
    atomic_row("s_buffer_atomic_sub", 0x43, T::b128, T::b32, buffer_atomic<U32, op::sub<U32>>),
    atomic_row("s_buffer_atomic_smin", 0x44, T::b128, T::b32, buffer_atomic<U32, op::min_signed<U32>>),
    atomic_row("s_buffer_atomic_umin", 0x45, T::b128, T::b32, buffer_atomic<U32, op::min_unsigned<U32>>),
    atomic_row("s_buffer_atomic_smax", 0x46, T::b128, T::b32, buffer_atomic<U32, op::max_signed<U32>>),
    atomic_row("s_buffer_atomic_umax", 0x47, T::b128, T::b32, buffer_atomic<U32, op::max_unsigned<U32>>),
    atomic_row("s_buffer_atomic_and", 0x48, T::b128, T::b32, buffer_atomic<U32, op::bit_and<U32>>),
    atomic_row("s_buffer_atomic_or", 0x49, T::b128, T::b32, buffer_atomic<U32, op::bit_or<U32>>),
    atomic_row("s_buffer_atomic_xor", 0x4a, T::b128, T::b32, buffer_atomic<U32, op::bit_xor<U32>>),
    atomic_row("s_buffer_atomic_inc", 0x4b, T::b128, T::b32, buffer_atomic<U32, op::inc<U32>>),
    atomic_row("s_buffer_atomic_dec", 0x4c, T::b128, T::b32, buffer_atomic<U32, op::dec<U32>>),
    atomic_row("s_buffer_atomic_swap_x2", 0x60, T::b128, T::b64, buffer_atomic<U64, op::exchange<U64>>),
    atomic_row("s_buffer_atomic_cmpswap_x2", 0x61, T::b128, T::b128, buffer_atomic<U64, op::compare_swap<U64>>),
    atomic_row("s_buffer_atomic_add_x2", 0x62, T::b128, T::b64, buffer_atomic<U64, op::add<U64>>),
    atomic_row("s_buffer_atomic_sub_x2", 0x63, T::b128, T::b64, buffer_atomic<U64, op::sub<U64>>),
    atomic_row("s_buffer_atomic_smin_x2", 0x64, T::b128, T::b64, buffer_atomic<U64, op::min_signed<U64>>),
    atomic_row("s_buffer_atomic_umin_x2", 0x65, T::b128, T::b64, buffer_atomic<U64, op::min_unsigned<U64>>),
    atomic_row("s_buffer_atomic_smax_x2", 0x66, T::b128, T::b64, buffer_atomic<U64, op::max_signed<U64>>),
    atomic_row("s_buffer_atomic_umax_x2", 0x67, T::b128, T::b64, buffer_atomic<U64, op::max_unsigned<U64>>),
    atomic_row("s_buffer_atomic_and_x2", 0x68, T::b128, T::b64, buffer_atomic<U64, op::bit_and<U64>>),
    atomic_row("s_buffer_atomic_or_x2", 0x69, T::b128, T::b64, buffer_atomic<U64, op::bit_or<U64>>),
    atomic_row("s_buffer_atomic_xor_x2", 0x6a, T::b128, T::b64, buffer_atomic<U64, op::bit_xor<U64>>),
    atomic_row("s_buffer_atomic_inc_x2", 0x6b, T::b128, T::b64, buffer_atomic<U64, op::inc<U64>>),
    atomic_row("s_buffer_atomic_dec_x2", 0x6c, T::b128, T::b64, buffer_atomic<U64, op::dec<U64>>),
    atomic_row("s_atomic_swap", 0x80, T::b64, T::b32, atomic_operation<U32, op::exchange<U32>>),
    atomic_row("s_atomic_cmpswap", 0x81, T::b64, T::b64, atomic_operation<U32, op::compare_swap<U32>>),
    atomic_row("s_atomic_add", 0x82, T::b64, T::b32, atomic_operation<U32, op::add<U32>>),
    atomic_row("s_atomic_sub", 0x83, T::b64, T::b32, atomic_operation<U32, op::sub<U32>>),
    atomic_row("s_atomic_smin", 0x84, T::b64, T::b32, atomic_operation<U32, op::min_signed<U32>>),
    atomic_row("s_atomic_umin", 0x85, T::b64, T::b32, atomic_operation<U32, op::min_unsigned<U32>>),
    atomic_row("s_atomic_smax", 0x86, T::b64, T::b32, atomic_operation<U32, op::max_signed<U32>>),
    atomic_row("s_atomic_umax", 0x87, T::b64, T::b32, atomic_operation<U32, op::max_unsigned<U32>>),
    atomic_row("s_atomic_and", 0x88, T::b64, T::b32, atomic_operation<U32, op::bit_and<U32>>),
    atomic_row("s_atomic_or", 0x89, T::b64, T::b32, atomic_operation<U32, op::bit_or<U32>>),
    atomic_row("s_atomic_xor", 0x8a, T::b64, T::b32, atomic_operation<U32, op::bit_xor<U32>>),
    atomic_row("s_atomic_inc", 0x8b, T::b64, T::b32, atomic_operation<U32, op::inc<U32>>),
    atomic_row("s_atomic_dec", 0x8c, T::b64, T::b32, atomic_operation<U32, op::dec<U32>>),
    atomic_row("s_atomic_swap_x2", 0xa0, T::b64, T::b64, atomic_operation<U64, op::exchange<U64>>),
    atomic_row("s_atomic_cmpswap_x2", 0xa1, T::b64, T::b128, atomic_operation<U64, op::compare_swap<U64>>),
    atomic_row("s_atomic_add_x2", 0xa2, T::b64, T::b64, atomic_operation<U64, op::add<U64>>),
    atomic_row("s_atomic_sub_x2", 0xa3, T::b64, T::b64, atomic_operation<U64, op::sub<U64>>),
    atomic_row("s_atomic_smin_x2", 0xa4, T::b64, T::b64, atomic_operation<U64, op::min_signed<U64>>),
    atomic_row("s_atomic_umin_x2", 0xa5, T::b64, T::b64, atomic_operation<U64, op::min_unsigned<U64>>),
    atomic_row("s_atomic_smax_x2", 0xa6, T::b64, T::b64, atomic_operation<U64, op::max_signed<U64>>),
    atomic_row("s_atomic_umax_x2", 0xa7, T::b64, T::b64, atomic_operation<U64, op::max_unsigned<U64>>),
    atomic_row("s_atomic_and_x2", 0xa8, T::b64, T::b64, atomic_operation<U64, op::bit_and<U64>>),
    atomic_row("s_atomic_or_x2", 0xa9, T::b64, T::b64, atomic_operation<U64, op::bit_or<U64>>),
    atomic_row("s_atomic_xor_x2", 0xaa, T::b64, T::b64, atomic_operation<U64, op::bit_xor<U64>>),
    atomic_row("s_atomic_inc_x2", 0xab, T::b64, T::b64, atomic_operation<U64, op::inc<U64>>),
    atomic_row("s_atomic_dec_x2", 0xac, T::b64, T::b64, atomic_operation<U64, op::dec<U64>>),
    row("s_atc_probe", both(0x26), {}, {T::b64, T::b32, T::simm16}, LatencyClass::smem_control, discard),
    row("s_atc_probe_buffer", both(0x27), {}, {T::b128, T::b32, T::simm16}, LatencyClass::smem_control, discard),
};

}  // namespace
}  // namespace smem

std::span<const InstructionRow> smem_rows() { return smem::kRows; }

}  // namespace lacuna::isa
