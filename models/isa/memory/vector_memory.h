// Loads, stores and atomics that FLAT, GLOBAL, SCRATCH and MUBUF have in common, at the same opcodes. The formats differ in the
// computation of a lane's address, which a class for each format, its path, defines:
//   static constexpr unsigned kData;  // the source that holds the data
//   static bool resolve(const Instruction&, Wavefront&, LaneTargets&, Operation, unsigned bytes, Access);
//   template <unsigned kBytes> static std::byte* neighbours(const Instruction&, Wavefront&, Operation, Access);
//   static bool is_aligned(const Instruction&, Wavefront&, unsigned bytes);  // false after reporting a fault
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "models/isa/decode/table.h"
#include "models/isa/memory/atomic_operations.h"
#include "models/isa/memory/memory_lanes.h"

namespace lacuna::isa::vector_memory {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using T = OperandType;
using Operation = MemoryAccess::Operation;

inline void note_access(const Instruction& i, Wavefront& w, Operation operation, unsigned bytes) {
  MemoryAccess& access = w.access;
  access.space = MemoryAccess::Space::global;
  access.operation = operation;
  access.returns_data = i.destinations != 0;
  access.glc = i.mem.glc;
  access.slc = i.mem.slc;
  access.deferred = false;
  access.dual = false;
  access.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  access.lanes = w.exec();
  access.lds_lanes = 0;
}

// LDS address of lane l in the LDS forms: M0 + offset + 4 l (GCN3 ISA manual, "Memory buffer load to LDS").
inline std::byte* lds_dword(const Instruction& i, Wavefront& w, unsigned l) {
  const U64 at = U64{w.sgpr[kM0] & 0xffffU} + static_cast<U32>(i.mem.offset) + 4 * l;
  return at + 4 <= w.lds_bytes ? w.lds + at : nullptr;
}

// Moves the lanes' registers to LDS.
inline void move_to_lds(const Instruction& i, Wavefront& w, const U32* data) {
  for_lanes(w.exec(), [&](unsigned l) {
    if (std::byte* at = lds_dword(i, w, l); at != nullptr) std::memcpy(at, data + l, 4);
  });
}

// TFE: the status word after the data reports non-resident texels. There are none, so it is cleared.
inline void clear_status_word(const Instruction& i, Wavefront& w, unsigned words) {
  if (!i.mem.tfe) return;
  U32* status = w.planes(i.dst[0]) + words * kLanes;
  for_lanes(w.exec(), [&](unsigned l) { status[l] = 0; });
}

// Loads adjacent lanes, some of whose bytes may be in the store buffer of this window.
template <typename M, unsigned kWords, std::size_t kBytes>
void load_stored(const std::byte* host, Wavefront& w, U32* dst) {
  if (w.stores->deferred(host, kBytes)) {
    w.stores->mark_deferred(host, kBytes);
    w.access.deferred = true;
    return;
  }
  std::array<std::byte, kBytes> bytes;
  std::memcpy(bytes.data(), host, kBytes);
  w.stores->overlay(host, bytes.data(), kBytes);
  load_neighbours<M, kWords>(bytes.data(), dst);
}

template <typename M, unsigned kWords, std::size_t kBytes>
void store_to_buffer(std::byte* host, Wavefront& w, const U32* src) {
  if (w.stores->deferred(host, kBytes)) {
    w.stores->mark_deferred(host, kBytes);
    w.access.deferred = true;
    return;
  }
  std::array<std::byte, kBytes> bytes;
  store_neighbours<M, kWords>(bytes.data(), src);
  w.stores->store(host, bytes.data(), kBytes);
}

template <typename Path, typename M, unsigned kWords = 1>
void load(const Instruction& i, Wavefront& w) {
  constexpr unsigned kBytes = kWords == 1 ? sizeof(M) : kWords * 4;
  if (!i.mem.lds && !i.mem.tfe) {
    if (const std::byte* host = Path::template neighbours<kBytes>(i, w, Operation::load, Access::read); host != nullptr) {
      constexpr std::size_t kAll = std::size_t{kBytes} * kLanes;
      if (w.stores != nullptr && w.stores->may_hold(host, kAll)) [[unlikely]]
        return load_stored<M, kWords, kAll>(host, w, w.planes(i.dst[0]));
      return load_neighbours<M, kWords>(host, w.planes(i.dst[0]));
    }
  }
  LaneTargets targets;
  if (!Path::resolve(i, w, targets, Operation::load, kBytes, Access::read)) return;
  if (!targets.read_stores(w, kBytes)) return;
  if constexpr (kWords == 1) {
    if (i.mem.lds) {
      std::array<U32, kLanes> data{};
      load_lanes<M, 1>(targets, w.exec(), data.data());
      return move_to_lds(i, w, data.data());
    }
  }
  load_lanes<M, kWords>(targets, w.exec(), w.planes(i.dst[0]));
  clear_status_word(i, w, kWords);
}

template <typename Path, typename M, unsigned kWords = 1>
void store(const Instruction& i, Wavefront& w) {
  constexpr unsigned kBytes = kWords == 1 ? sizeof(M) : kWords * 4;
  const U32* data = w.planes(i.src[Path::kData]);
  if (std::byte* host = Path::template neighbours<kBytes>(i, w, Operation::store, Access::write); host != nullptr) {
    if (w.stores != nullptr) return store_to_buffer<M, kWords, std::size_t{kBytes} * kLanes>(host, w, data);
    return store_neighbours<M, kWords>(host, data);
  }
  LaneTargets targets;
  if (!Path::resolve(i, w, targets, Operation::store, kBytes, Access::write)) return;
  if (!targets.redirect(w, kBytes)) return;
  store_lanes<M, kWords>(targets, w.exec(), data);
  targets.write_back(w, kBytes);
}

/// Loads one half of a register; the other half is unchanged.
template <typename Path, typename M, bool kHigh>
void load_half(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  if (!Path::resolve(i, w, targets, Operation::load, sizeof(M), Access::read)) return;
  if (!targets.read_stores(w, sizeof(M))) return;
  load_half_lanes<M, kHigh>(targets, w.exec(), w.planes(i.dst[0]));
  clear_status_word(i, w, 1);
}

template <typename Path, typename M>
void store_high_half(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  if (!Path::resolve(i, w, targets, Operation::store, sizeof(M), Access::write)) return;
  if (!targets.redirect(w, sizeof(M))) return;
  store_high_half_lanes<M>(targets, w.exec(), w.planes(i.src[Path::kData]));
  targets.write_back(w, sizeof(M));
}

template <typename Path, typename U, auto F, bool kCompare = false>
void atomic_operation(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  if (!Path::is_aligned(i, w, sizeof(U))) return;
  if (!Path::resolve(i, w, targets, Operation::atomic, sizeof(U), Access::read_write)) return;
  if (!targets.may_perform(w, sizeof(U))) return;
  const U32* data = w.planes(i.src[Path::kData]);
  atomic_lanes<U, F>(targets, w.exec(), data, kCompare ? data + sizeof(U) / 4 * kLanes : nullptr,
                     i.destinations != 0 ? w.planes(i.dst[0]) : nullptr, w);
  targets.write_back(w, sizeof(U));
}

// Performs an atomic float operation that only L2 can perform: see FineGrainedFloatAtomics.
template <typename Path, typename U, auto F>
void float_atomic_operation(const Instruction& i, Wavefront& w) {
  LaneTargets targets;
  if (!Path::is_aligned(i, w, sizeof(U))) return;
  if (!Path::resolve(i, w, targets, Operation::atomic, sizeof(U), Access::read_write)) return;
  const U64 fine = fine_grained_lanes(w, sizeof(U));
  if (!targets.may_perform(w, sizeof(U))) return;
  const U64 dropped = w.fine_grained_float_atomics == FineGrainedFloatAtomics::drop ? fine : 0;
  U32* result = i.destinations != 0 ? w.planes(i.dst[0]) : nullptr;
  atomic_lanes<U, F>(targets, w.exec() & ~dropped, w.planes(i.src[Path::kData]), nullptr, result, w);
  if (result != nullptr) for_lanes(dropped, [&](unsigned l) { set_lane_value<U>(result, l, U{0}); });
  targets.write_back(w, sizeof(U));
}

// -- rows: flags name the paths that an instruction has; its effect is implemented once

enum Paths : unsigned {
  kFlat = 1,
  kGlobal = 2,
  kScratch = 4,
  kBuffer = 8,
  kAllPaths = 15,
  kAtomics = kFlat | kGlobal | kBuffer
};

struct Entry {
  std::string_view names[4];  // flat, global, scratch, buffer
  Opcodes opcode;
  unsigned paths;
  T result;  // none for stores
  T data;    // none for loads
  LatencyClass latency;
  ExecuteFn execute;
  std::uint64_t flags;
};

// Text passes a string as a template argument; Joined joins two strings, such as "flat_" and "load_dword", at compile time.
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
constexpr Entry entry(Opcodes opcode, unsigned paths, T result, T data, LatencyClass latency, ExecuteFn execute,
                      std::uint64_t flags = kNoFlags) {
  return {{Joined<"flat_", kName>::kText, Joined<"global_", kName>::kText, Joined<"scratch_", kName>::kText,
           Joined<"buffer_", kName>::kText},
          opcode,
          paths,
          result,
          data,
          latency,
          execute,
          flags};
}
template <Text kName>
constexpr Entry load_entry(Opcodes opcode, T data, ExecuteFn execute, std::uint64_t flags = kNoFlags) {
  return entry<kName>(opcode, kAllPaths, data, T::none, LatencyClass::vmem_load, execute, flags);
}
template <Text kName>
constexpr Entry store_entry(Opcodes opcode, T data, ExecuteFn execute) {
  return entry<kName>(opcode, kAllPaths, T::none, data, LatencyClass::vmem_store, execute);
}
template <Text kName>
constexpr Entry atomic_entry(Opcodes opcode, T result, T data, ExecuteFn execute, unsigned paths = kAtomics) {
  return entry<kName>(opcode, paths, result, data, LatencyClass::vmem_atomic, execute);
}
template <typename Path, Text kName, auto F>
constexpr Entry atomic32(Opcodes opcode, unsigned paths = kAtomics) {
  return atomic_entry<kName>(opcode, T::b32, T::b32, atomic_operation<Path, U32, F>, paths);
}
template <typename Path, Text kName, auto F>
constexpr Entry atomic64(Opcodes opcode) {
  return atomic_entry<kName>(opcode, T::b64, T::b64, atomic_operation<Path, U64, F>);
}

template <typename Path, Text kName, typename U, auto F>
constexpr Entry float_atomic(Opcodes opcode, unsigned paths = kAtomics) {
  constexpr T kData = sizeof(U) == 4 ? T::b32 : T::b64;
  return atomic_entry<kName>(opcode, kData, kData, float_atomic_operation<Path, U, F>, paths);
}

namespace op = atomic;
using U8 = std::uint8_t;
using U16 = std::uint16_t;
using S8 = std::int8_t;
using S16 = std::int16_t;

template <typename P>
inline constexpr std::array kEntries{
    load_entry<"load_ubyte">(both(0x10), T::b32, load<P, U8>, kLdsForm),
    load_entry<"load_sbyte">(both(0x11), T::b32, load<P, S8>, kLdsForm | kSignExtends),
    load_entry<"load_ushort">(both(0x12), T::b32, load<P, U16>, kLdsForm),
    load_entry<"load_sshort">(both(0x13), T::b32, load<P, S16>, kLdsForm | kSignExtends),
    load_entry<"load_dword">(both(0x14), T::b32, load<P, U32>, kLdsForm),
    load_entry<"load_dwordx2">(both(0x15), T::b64, load<P, U32, 2>),
    load_entry<"load_dwordx3">(both(0x16), T::b96, load<P, U32, 3>),
    load_entry<"load_dwordx4">(both(0x17), T::b128, load<P, U32, 4>),
    store_entry<"store_byte">(both(0x18), T::b8, store<P, U8>),
    store_entry<"store_byte_d16_hi">(gfx9_only(0x19), T::b32, store_high_half<P, U8>),
    store_entry<"store_short">(both(0x1a), T::b16, store<P, U16>),
    store_entry<"store_short_d16_hi">(gfx9_only(0x1b), T::b32, store_high_half<P, U16>),
    store_entry<"store_dword">(both(0x1c), T::b32, store<P, U32>),
    store_entry<"store_dwordx2">(both(0x1d), T::b64, store<P, U32, 2>),
    store_entry<"store_dwordx3">(both(0x1e), T::b96, store<P, U32, 3>),
    store_entry<"store_dwordx4">(both(0x1f), T::b128, store<P, U32, 4>),
    load_entry<"load_ubyte_d16">(gfx9_only(0x20), T::b32, load_half<P, U8, false>, kReadsDst),
    load_entry<"load_ubyte_d16_hi">(gfx9_only(0x21), T::b32, load_half<P, U8, true>, kReadsDst),
    load_entry<"load_sbyte_d16">(gfx9_only(0x22), T::b32, load_half<P, S8, false>, kReadsDst | kSignExtends),
    load_entry<"load_sbyte_d16_hi">(gfx9_only(0x23), T::b32, load_half<P, S8, true>, kReadsDst | kSignExtends),
    load_entry<"load_short_d16">(gfx9_only(0x24), T::b32, load_half<P, U16, false>, kReadsDst),
    load_entry<"load_short_d16_hi">(gfx9_only(0x25), T::b32, load_half<P, U16, true>, kReadsDst),
    atomic32<P, "atomic_swap", op::exchange<U32>>(both(0x40)),
    atomic_entry<"atomic_cmpswap">(both(0x41), T::b32, T::b64, atomic_operation<P, U32, op::compare_swap<U32>, true>),
    atomic32<P, "atomic_add", op::add<U32>>(both(0x42)),
    atomic32<P, "atomic_sub", op::sub<U32>>(both(0x43)),
    atomic32<P, "atomic_smin", op::min_signed<U32>>(both(0x44)),
    atomic32<P, "atomic_umin", op::min_unsigned<U32>>(both(0x45)),
    atomic32<P, "atomic_smax", op::max_signed<U32>>(both(0x46)),
    atomic32<P, "atomic_umax", op::max_unsigned<U32>>(both(0x47)),
    atomic32<P, "atomic_and", op::bit_and<U32>>(both(0x48)),
    atomic32<P, "atomic_or", op::bit_or<U32>>(both(0x49)),
    atomic32<P, "atomic_xor", op::bit_xor<U32>>(both(0x4a)),
    atomic32<P, "atomic_inc", op::inc<U32>>(both(0x4b)),
    atomic32<P, "atomic_dec", op::dec<U32>>(both(0x4c)),
    float_atomic<P, "atomic_add_f32", U32, op::add_float<U32, op::Denormals::flushed>>(gfx9_only(0x4d), kGlobal | kBuffer),
    float_atomic<P, "atomic_pk_add_f16", U32, op::add_packed_f16>(gfx9_only(0x4e), kGlobal | kBuffer),
    float_atomic<P, "atomic_add_f64", U64, op::add_float<U64, op::Denormals::kept>>(gfx9_only(0x4f)),
    float_atomic<P, "atomic_min_f64", U64, op::min_float<U64>>(gfx9_only(0x50)),
    float_atomic<P, "atomic_max_f64", U64, op::max_float<U64>>(gfx9_only(0x51)),
    atomic64<P, "atomic_swap_x2", op::exchange<U64>>(both(0x60)),
    atomic_entry<"atomic_cmpswap_x2">(both(0x61), T::b64, T::b128, atomic_operation<P, U64, op::compare_swap<U64>, true>),
    atomic64<P, "atomic_add_x2", op::add<U64>>(both(0x62)),
    atomic64<P, "atomic_sub_x2", op::sub<U64>>(both(0x63)),
    atomic64<P, "atomic_smin_x2", op::min_signed<U64>>(both(0x64)),
    atomic64<P, "atomic_umin_x2", op::min_unsigned<U64>>(both(0x65)),
    atomic64<P, "atomic_smax_x2", op::max_signed<U64>>(both(0x66)),
    atomic64<P, "atomic_umax_x2", op::max_unsigned<U64>>(both(0x67)),
    atomic64<P, "atomic_and_x2", op::bit_and<U64>>(both(0x68)),
    atomic64<P, "atomic_or_x2", op::bit_or<U64>>(both(0x69)),
    atomic64<P, "atomic_xor_x2", op::bit_xor<U64>>(both(0x6a)),
    atomic64<P, "atomic_inc_x2", op::inc<U64>>(both(0x6b)),
    atomic64<P, "atomic_dec_x2", op::dec<U64>>(both(0x6c)),
};

/// Calls `body(entry)` for the entries that have a path of the set `path`.
template <typename Path, typename Body>
constexpr void for_entries(unsigned path, Body&& body) {
  for (const Entry& e : kEntries<Path>) {
    if ((e.paths & path) != 0) body(e);
  }
}
template <typename Path>
constexpr std::size_t count_entries(unsigned path) {
  std::size_t n = 0;
  for_entries<Path>(path, [&](const Entry&) { ++n; });
  return n;
}

}  // namespace lacuna::isa::vector_memory
