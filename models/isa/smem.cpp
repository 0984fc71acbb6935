// SMEM: scalar memory. Semantics: GCN3 ISA manual, "Scalar memory operations".
#include <algorithm>
#include <array>

#include "models/isa/memory_lanes.h"
#include "models/isa/operand.h"
#include "models/isa/row_sets.h"

namespace lacuna::isa {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using T = OperandType;

constexpr unsigned kMaxWords = 16;

U64 offset_of(const Instruction& i, const Wavefront& w) {
  return i.mem.imm ? static_cast<U64>(std::int64_t{i.mem.offset}) : w.sgpr[i.src[1].index];
}

void note_access(const Instruction& i, Wavefront& w, U64 address, unsigned words, MemoryAccess::Operation operation) {
  MemoryAccess& access = w.access;
  access.space = MemoryAccess::Space::scalar;
  access.operation = operation;
  access.returns_data = operation == MemoryAccess::Operation::load;
  access.glc = i.mem.glc;
  access.slc = false;
  access.dual = false;
  access.bytes_per_lane = static_cast<std::uint8_t>(words * 4);
  access.lanes = 1;
  access.lds_lanes = 0;
  access.address[0] = address;
}

// Copies `words` between memory and `data`; dword by dword when no single mapping holds them all.
bool transfer(Wavefront& w, U64 address, U32* data, unsigned words, Access wanted) {
  check_epoch(w);
  if (std::byte* host = translate(w, address, words * 4, wanted); host != nullptr) {
    if (wanted == Access::read) {
      std::memcpy(data, host, words * 4);
    } else {
      std::memcpy(host, data, words * 4);
    }
    return true;
  }
  std::array<std::byte*, kMaxWords> at{};
  for (unsigned k = 0; k < words; ++k) {
    at[k] = translate(w, address + k * 4, 4, wanted);
    if (at[k] == nullptr) {
      report_fault(w, 0, address + k * 4, 4, wanted);
      return false;
    }
  }
  for (unsigned k = 0; k < words; ++k) {
    if (wanted == Access::read) {
      std::memcpy(data + k, at[k], 4);
    } else {
      std::memcpy(at[k], data + k, 4);
    }
  }
  return true;
}

// The two low bits of base and offset are ignored.
U64 address_of(const Instruction& i, const Wavefront& w) { return (w.read64(i.src[0].index) + offset_of(i, w)) & ~U64{3}; }

template <unsigned kWords>
void load(const Instruction& i, Wavefront& w) {
  const U64 address = address_of(i, w);
  note_access(i, w, address, kWords, MemoryAccess::Operation::load);
  std::array<U32, kWords> data;
  if (transfer(w, address, data.data(), kWords, Access::read)) std::copy(data.begin(), data.end(), &w.sgpr[i.dst[0].index]);
}

template <unsigned kWords>
void store(const Instruction& i, Wavefront& w) {
  const U64 address = address_of(i, w);
  note_access(i, w, address, kWords, MemoryAccess::Operation::store);
  transfer(w, address, &w.sgpr[i.src[2].index], kWords, Access::write);
}

// A scalar buffer access uses base, stride and NUM_RECORDS of the descriptor; bytes when STRIDE is 0, else records of STRIDE.
struct ScalarBuffer {
  U64 base;
  U64 bytes;
};
ScalarBuffer buffer_of(const Instruction& i, const Wavefront& w) {
  const U32* v = &w.sgpr[i.src[0].index];
  const U64 stride = v[1] >> 16 & 0x3fff;
  return {(U64{v[0]} | U64{v[1] & 0xffff} << 32) & ~U64{3}, stride == 0 ? v[2] : stride * v[2]};
}

// Words from `offset` on that lie inside the buffer; the others read zero and are not written.
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
    row("s_atc_probe", both(0x26), {}, {T::b64, T::b32, T::simm16}, LatencyClass::smem_control, nullptr),
    row("s_atc_probe_buffer", both(0x27), {}, {T::b128, T::b32, T::simm16}, LatencyClass::smem_control, nullptr),
};

}  // namespace

std::span<const InstructionRow> smem_rows() { return kRows; }

}  // namespace lacuna::isa
