// MUBUF and MTBUF: memory through a buffer descriptor. Semantics: GCN3 ISA manual, "Vector memory buffer instructions", "Buffer
// resource descriptor" and "Buffer addressing".
#include <algorithm>
#include <array>

#include "models/isa/decode/operand.h"
#include "models/isa/memory/buffer_format.h"
#include "models/isa/memory/vector_memory.h"
#include "models/isa/row_sets.h"

namespace lacuna::isa {
namespace mubuf {
namespace {

using namespace vector_memory;

// The buffer resource descriptor (V#). Sizes of elements and of index groups are powers of two.
struct Descriptor {
  U64 base;
  U32 stride;
  U64 records;
  unsigned element_shift;
  unsigned index_shift;
  bool swizzle;
  bool add_thread_id;

  Descriptor(const U32* v, Target target)
      : base(U64{v[0]} | U64{v[1] & 0xffff} << 32),
        stride(v[1] >> 16 & 0x3fff),
        records(v[2]),
        // gfx9 has no ELEMENT_SIZE: elements are dwords (LLVM, "User Guide for AMDGPU Backend", private segment buffer).
        element_shift(target == Target::gfx803 ? 1 + (v[3] >> 19 & 3) : 2),
        index_shift(3 + (v[3] >> 21 & 3)),
        swizzle((v[1] >> 31) != 0),
        add_thread_id((v[3] >> 23 & 1) != 0) {
    // With ADD_TID_ENABLE, the data format field holds four more bits of the stride.
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

// Index and offset of every lane, before the descriptor is applied. Loops cover all lanes, so that they vectorise.
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

// Fills the lanes' addresses. Returns the lanes inside the buffer and, in `split`, the lanes whose bytes exceed an element and
// are therefore not contiguous.
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
  // NUM_RECORDS counts structures in a swizzled buffer with a stride and without ADD_TID_ENABLE, else bytes.
  if (d.stride != 0 && !d.add_thread_id) {
    outside = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
      outside |= U64{lanes.index[l] >= d.records || lanes.offset[l] + bytes > d.stride} << l;
    }
  }
  return ~outside;
}

// Checks an access to the private segment through its buffer. `start`: address to which the lanes' offsets are added; its
// distance from the start of the wavefront's part counts the bytes of all 64 lanes (LLVM, "User Guide for AMDGPU Backend",
// Private Segment Buffer). The sum of a VGPR and the instruction's offset has 32 bits: LLVM folds constants into the offset on
// gfx9 although the remaining register value may be negative. Returns false after reporting a fault.
bool stays_private(Wavefront& w, LaneOffsets& lanes, U64 start, unsigned bytes, Access wanted) {
  const PrivateSegment& segment = w.private_segment;
  const auto first = static_cast<U64>(static_cast<std::int64_t>(start - segment.base) / kLanes);
  U64 beyond = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    lanes.offset[l] &= ~U32{0};
    beyond |= U64{segment.exceeded(first + lanes.offset[l], bytes)} << l;
  }
  beyond &= w.exec();
  if (beyond == 0) return true;
  const auto l = static_cast<unsigned>(std::countr_zero(beyond));
  const auto offset = static_cast<std::int64_t>(static_cast<std::int32_t>(lanes.offset[l]));
  report_private(w, l, first + static_cast<U64>(offset), bytes, wanted);
  return false;
}

bool resolve(const Instruction& i, Wavefront& w, LaneTargets& targets, MemoryAccess::Operation operation, unsigned bytes,
             Access wanted) {
  note_access(i, w, operation, bytes);
  MemoryAccess& access = w.access;
  check_epoch(w);

  const Descriptor descriptor(&w.sgpr[i.src[1].index], w.target);
  LaneOffsets lanes(i, w, descriptor);
  const U64 soffset = read_scalar32(i.src[2], w);
  const U64 exec = w.exec();
  if (descriptor.swizzle && descriptor.add_thread_id && !i.mem.idxen && w.private_segment.is_behind(descriptor.base) &&
      !stays_private(w, lanes, descriptor.base + soffset, bytes, wanted)) {
    return false;
  }
  U64 split = 0;
  access.lanes = exec & address_lanes(descriptor, lanes, soffset, bytes, w.addresses->global, split);
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

struct BufferPath {
  static constexpr unsigned kData = 3;
  static bool resolve(const Instruction& i, Wavefront& w, LaneTargets& targets, MemoryAccess::Operation operation,
                      unsigned bytes, Access wanted) {
    return mubuf::resolve(i, w, targets, operation, bytes, wanted);
  }
  template <unsigned kBytes>
  static std::byte* neighbours(const Instruction&, Wavefront&, MemoryAccess::Operation, Access) {
    return nullptr;
  }
  static bool is_aligned(const Instruction& i, Wavefront& w, unsigned bytes) {
    const Descriptor descriptor(&w.sgpr[i.src[1].index], w.target);
    U64 split = 0;
    U64 lanes = w.exec() & address_lanes(descriptor, LaneOffsets(i, w, descriptor), read_scalar32(i.src[2], w), bytes,
                                         w.addresses->global, split);
    for (; lanes != 0; lanes &= lanes - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(lanes));
      if (w.addresses->global[l] % bytes == 0) continue;
      report_misaligned(w, l, w.addresses->global[l], bytes, Access::read_write);
      return false;
    }
    return true;
  }
};

// -- typed accesses: the format is the descriptor's for MUBUF, the instruction's for MTBUF

BufferFormat format_of(const Instruction& i, const Wavefront& w) {
  if (i.format == Format::mtbuf) return {i.mem.data_format, i.mem.number_format};
  const U32 word = w.sgpr[i.src[1].index + 3U];
  BufferFormat format = BufferFormat::of_descriptor(word);
  if ((word >> 23 & 1) != 0) format.data = 0;  // with ADD_TID_ENABLE the field holds four bits of the stride
  return format;
}

// Layout of components in registers: one 32-bit component per register; with D16, 16-bit components, one per register on gfx8
// and two from gfx9 on.
enum class Width : std::uint8_t { word, half, high_half };

std::uint32_t to_half(const BufferFormat& format, U32 component) {
  return format.is_integer() ? component & 0xffff : round_to_half(std::bit_cast<float>(component), 0, false);
}
std::uint32_t from_half(const BufferFormat& format, U32 half) {
  if (format.number == 5) return static_cast<U32>(static_cast<std::int16_t>(half));
  return format.is_integer() ? half & 0xffff : std::bit_cast<U32>(half_to_float(half & 0xffff));
}

template <unsigned kCount, Width kWidth>
void load_format(const Instruction& i, Wavefront& w) {
  const BufferFormat format = format_of(i, w);
  LaneTargets targets;
  const unsigned bytes = format.bytes();
  if (!resolve(i, w, targets, MemoryAccess::Operation::load, bytes, Access::read)) return;
  if (!targets.read_stores(w, bytes)) return;
  const bool packed = w.target != Target::gfx803;
  std::array<U32, kLanes> lds{};
  U32* dst = i.mem.lds ? lds.data() : w.planes(i.dst[0]);
  for_lanes(w.exec(), [&](unsigned l) {
    // Lanes outside of the buffer receive zeros.
    Components values{};
    if ((w.access.lanes >> l & 1) != 0) values = format.unpack(targets[l]);
    for (unsigned k = 0; k < kCount; ++k) {
      if constexpr (kWidth == Width::word) {
        dst[k * kLanes + l] = values[k];
      } else {
        const U32 half = to_half(format, values[k]);
        U32& to = dst[(packed ? k / 2 : k) * kLanes + l];
        const bool high = kWidth == Width::high_half || (packed && k % 2 != 0);
        if (high) {
          to = (to & 0xffff) | half << 16;
        } else {
          to = packed ? (to & 0xffff0000) | half : half;
        }
      }
    }
  });
  if (i.mem.lds) return move_to_lds(i, w, lds.data());
  clear_status_word(i, w, i.dst[0].words - 1U);
}

template <unsigned kCount, Width kWidth>
void store_format(const Instruction& i, Wavefront& w) {
  const BufferFormat format = format_of(i, w);
  LaneTargets targets;
  const unsigned bytes = format.bytes();
  if (bytes == 0) return;
  if (!resolve(i, w, targets, MemoryAccess::Operation::store, bytes, Access::write)) return;
  if (!targets.redirect(w, bytes)) return;
  const bool packed = w.target != Target::gfx803;
  const U32* data = w.planes(i.src[3]);
  for_lanes(w.access.lanes, [&](unsigned l) {
    Components values{};
    for (unsigned k = 0; k < kCount; ++k) {
      if constexpr (kWidth == Width::word) {
        values[k] = data[k * kLanes + l];
      } else {
        const bool high = kWidth == Width::high_half || (packed && k % 2 != 0);
        const U32 word = data[(packed ? k / 2 : k) * kLanes + l];
        values[k] = from_half(format, high ? word >> 16 : word);
      }
    }
    format.pack(values, targets[l]);
  });
  targets.write_back(w, bytes);
}

// Stores LDS data to memory without using registers.
void store_lds(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  if (!resolve(i, w, targets, MemoryAccess::Operation::store, 4, Access::write)) return;
  if (!targets.redirect(w, 4)) return;
  for_lanes(w.access.lanes, [&](unsigned l) {
    if (const std::byte* from = lds_dword(i, w, l); from != nullptr) {
      std::memcpy(targets[l], from, 4);
    } else {
      std::memset(targets[l], 0, 4);
    }
  });
  targets.write_back(w, 4);
}

void invalidate_l1(const Instruction&, Wavefront& w) {
  w.access.space = MemoryAccess::Space::global;
  w.access.lanes = 0;
  w.access.lds_lanes = 0;
  w.access.bytes_per_lane = 0;
  w.raise(Event::cache_invalidate);
}

constexpr InstructionRow row(std::string_view mnemonic, Opcodes opcode, OperandTypes dst, OperandTypes src,
                             LatencyClass latency, ExecuteFn execute, std::uint64_t flags = kNoFlags) {
  return {mnemonic, Format::mubuf, opcode, dst, src, Unit::vmem, latency, flags, execute};
}
// Rows of format loads and stores; other loads and stores have their rows in models/isa/memory/vector_memory.h.
constexpr InstructionRow load_row(std::string_view mnemonic, Opcodes opcode, OperandType data, ExecuteFn execute,
                                  std::uint64_t flags = kNoFlags) {
  return row(mnemonic, opcode, {data}, {T::b64, T::b128, T::b32}, LatencyClass::vmem_load, execute, flags | kConvertsFormat);
}
constexpr InstructionRow store_row(std::string_view mnemonic, Opcodes opcode, OperandType data, ExecuteFn execute) {
  return row(mnemonic, opcode, {}, {T::b64, T::b128, T::b32, data}, LatencyClass::vmem_store, execute, kConvertsFormat);
}
constexpr InstructionRow control_row(std::string_view mnemonic, Opcodes opcode) {
  return row(mnemonic, opcode, {}, {}, LatencyClass::vmem_control, invalidate_l1);
}

// Instructions of both MUBUF and MTBUF, with MUBUF's opcodes: x to xyzw, loads then stores, words then halves.
constexpr std::array kFormatRows{
    load_row("buffer_load_format_x", both(0x00), T::b32, load_format<1, Width::word>, kLdsForm),
    load_row("buffer_load_format_xy", both(0x01), T::b64, load_format<2, Width::word>),
    load_row("buffer_load_format_xyz", both(0x02), T::b96, load_format<3, Width::word>),
    load_row("buffer_load_format_xyzw", both(0x03), T::b128, load_format<4, Width::word>),
    store_row("buffer_store_format_x", both(0x04), T::b32, store_format<1, Width::word>),
    store_row("buffer_store_format_xy", both(0x05), T::b64, store_format<2, Width::word>),
    store_row("buffer_store_format_xyz", both(0x06), T::b96, store_format<3, Width::word>),
    store_row("buffer_store_format_xyzw", both(0x07), T::b128, store_format<4, Width::word>),
    load_row("buffer_load_format_d16_x", gfx8_only(0x08), T::b32, load_format<1, Width::half>),
    load_row("buffer_load_format_d16_x", gfx9_only(0x08), T::b32, load_format<1, Width::half>, kReadsDst),
    load_row("buffer_load_format_d16_xy", gfx8_only(0x09), T::b64, load_format<2, Width::half>),
    load_row("buffer_load_format_d16_xyz", gfx8_only(0x0a), T::b96, load_format<3, Width::half>),
    load_row("buffer_load_format_d16_xyzw", gfx8_only(0x0b), T::b128, load_format<4, Width::half>),
    load_row("buffer_load_format_d16_xy", gfx9_only(0x09), T::b32, load_format<2, Width::half>),
    load_row("buffer_load_format_d16_xyz", gfx9_only(0x0a), T::b64, load_format<3, Width::half>, kReadsDst),
    load_row("buffer_load_format_d16_xyzw", gfx9_only(0x0b), T::b64, load_format<4, Width::half>),
    store_row("buffer_store_format_d16_x", both(0x0c), T::b32, store_format<1, Width::half>),
    store_row("buffer_store_format_d16_xy", gfx8_only(0x0d), T::b64, store_format<2, Width::half>),
    store_row("buffer_store_format_d16_xyz", gfx8_only(0x0e), T::b96, store_format<3, Width::half>),
    store_row("buffer_store_format_d16_xyzw", gfx8_only(0x0f), T::b128, store_format<4, Width::half>),
    store_row("buffer_store_format_d16_xy", gfx9_only(0x0d), T::b32, store_format<2, Width::half>),
    store_row("buffer_store_format_d16_xyz", gfx9_only(0x0e), T::b64, store_format<3, Width::half>),
    store_row("buffer_store_format_d16_xyzw", gfx9_only(0x0f), T::b64, store_format<4, Width::half>),
};

constexpr std::array kOwnRows{
    load_row("buffer_load_format_d16_hi_x", gfx9_only(0x26), T::b32, load_format<1, Width::high_half>, kReadsDst),
    store_row("buffer_store_format_d16_hi_x", gfx9_only(0x27), T::b32, store_format<1, Width::high_half>),
    row("buffer_store_lds_dword", both(0x3d), {}, {T::none, T::b128, T::b32}, LatencyClass::vmem_store, store_lds),
    control_row("buffer_wbl2", gfx9_only(0x28)),
    control_row("buffer_invl2", gfx9_only(0x29)),
    control_row("buffer_wbinvl1", both(0x3e)),
    control_row("buffer_wbinvl1_vol", both(0x3f)),
};

constexpr auto mubuf_table() {
  std::array<InstructionRow, kFormatRows.size() + kOwnRows.size() + count_entries<BufferPath>(kBuffer)> rows{};
  auto* to = std::copy(kFormatRows.begin(), kFormatRows.end(), rows.begin());
  to = std::copy(kOwnRows.begin(), kOwnRows.end(), to);
  for_entries<BufferPath>(kBuffer, [&](const Entry& e) {
    // In the returning form, the destination of a compare-and-swap is as wide as its data.
    const T result = e.result != T::none && e.data != T::none ? e.data : e.result;
    constexpr unsigned kName = 3;
    *to++ = row(e.names[kName], e.opcode, result != T::none ? OperandTypes{result} : OperandTypes{},
                e.data != T::none ? OperandTypes{T::b64, T::b128, T::b32, e.data} : OperandTypes{T::b64, T::b128, T::b32},
                e.latency, e.execute, e.flags);
  });
  return rows;
}
constexpr auto kMubufRows = mubuf_table();

// Mnemonics of MTBUF, whose instructions perform the accesses of kFormatRows.
constexpr std::array<std::string_view, 16> kTypedNames{
    "tbuffer_load_format_x",        "tbuffer_load_format_xy",      "tbuffer_load_format_xyz",
    "tbuffer_load_format_xyzw",     "tbuffer_store_format_x",      "tbuffer_store_format_xy",
    "tbuffer_store_format_xyz",     "tbuffer_store_format_xyzw",   "tbuffer_load_format_d16_x",
    "tbuffer_load_format_d16_xy",   "tbuffer_load_format_d16_xyz", "tbuffer_load_format_d16_xyzw",
    "tbuffer_store_format_d16_x",   "tbuffer_store_format_d16_xy", "tbuffer_store_format_d16_xyz",
    "tbuffer_store_format_d16_xyzw"};
constexpr auto mtbuf_table() {
  auto rows = kFormatRows;
  for (InstructionRow& row : rows) {
    const int opcode = row.opcode.gfx803 != kAbsent ? row.opcode.gfx803 : row.opcode.gfx90a;
    row.mnemonic = kTypedNames[static_cast<std::size_t>(opcode)];
    row.format = Format::mtbuf;
    row.flags &= ~static_cast<std::uint64_t>(kLdsForm);
  }
  return rows;
}
constexpr auto kMtbufRows = mtbuf_table();

}  // namespace
}  // namespace mubuf

std::span<const InstructionRow> mubuf_rows() { return mubuf::kMubufRows; }
std::span<const InstructionRow> mtbuf_rows() { return mubuf::kMtbufRows; }

}  // namespace lacuna::isa
