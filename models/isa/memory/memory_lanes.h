// Moves data between vector registers and memory: positions of each lane's bytes in host memory, loads, stores, atomics.
//
// An executor first resolves every lane and only then moves data, so that a fault leaves registers and memory untouched.
// Lanes whose bytes are not contiguous in host memory (across two mappings, or swizzled scratch) go through a bounce buffer.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "models/isa/decode/instruction.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {

inline constexpr std::uint64_t kAllLanes = ~std::uint64_t{0};
inline constexpr unsigned kMaxLaneBytes = 16;

/// Calls `body(lane)` for every set bit, in ascending order. The whole-wavefront case is a plain loop.
template <typename Body>
inline void for_lanes(std::uint64_t lanes, Body&& body) {
  if (lanes == kAllLanes) {
    for (unsigned l = 0; l < kLanes; ++l) body(l);
  } else {
    for (; lanes != 0; lanes &= lanes - 1) body(static_cast<unsigned>(std::countr_zero(lanes)));
  }
}

/// Host pointer to `bytes` bytes at `address` if one mapping with permission `wanted` contains them all, else nullptr.
std::byte* translate_slow(Wavefront& wave, std::uint64_t address, std::uint64_t bytes, Access wanted);
inline std::byte* translate(Wavefront& wave, std::uint64_t address, std::uint64_t bytes, Access wanted) {
  const MemoryWindow& window = wave.window;
  if (window.contains(address, bytes) && allows(window.granted, wanted)) return window.host + (address - window.base);
  return translate_slow(wave, address, bytes, wanted);
}

/// Makes the window that contains `address` the current window; false if it is not among the wavefront's recent windows.
bool recall_slow(Wavefront& wave, std::uint64_t address);
inline bool recall(Wavefront& wave, std::uint64_t address) {
  return wave.window.contains(address, 1) || recall_slow(wave, address);
}

/// Records that the instruction, which belongs to a memory unit, accesses no memory.
inline void note_no_access(Wavefront& wave) {
  wave.access.space = MemoryAccess::Space::none;
  wave.access.bytes_per_lane = 0;
  wave.access.lanes = 0;
  wave.access.lds_lanes = 0;
}

/// Shape of the positions of eight consecutive lanes. In tiled kernels the positions are mostly equal or adjacent, so one host
/// access suffices.
enum class RowShape : std::uint8_t { scattered, one_place, neighbours };
inline constexpr unsigned kRowLanes = 8;

/// Whether all bits of a compiler vector are zero.
template <typename Row>
inline bool is_zero(const Row& row) {
#if defined(__AVX2__)
  __m256i any;
  std::memcpy(&any, &row, sizeof any);
  if constexpr (sizeof row == 2 * sizeof any) {
    __m256i behind;
    std::memcpy(&behind, reinterpret_cast<const std::byte*>(&row) + sizeof any, sizeof behind);
    any = _mm256_or_si256(any, behind);
  }
  return _mm256_testz_si256(any, any) != 0;
#else
  std::array<std::uint64_t, sizeof row / 8> parts;
  std::memcpy(parts.data(), &row, sizeof row);
  std::uint64_t any = 0;
  for (const std::uint64_t part : parts) any |= part;
  return any == 0;
#endif
}

/// Shape of a row. `at`: addresses or offsets of kRowLanes lanes; `bytes`: number of bytes per lane.
template <typename Place>
[[gnu::always_inline]] inline RowShape shape_of_row(const Place* at, Place bytes) {
  using Row [[gnu::vector_size(kRowLanes * sizeof(Place))]] = Place;
  Row row;
  std::memcpy(&row, at, sizeof row);
  const Row apart = row - at[0];
  const Row from_neighbours = apart - Row{0, 1, 2, 3, 4, 5, 6, 7} * bytes;
  if (is_zero(from_neighbours)) return RowShape::neighbours;
  return is_zero(apart) ? RowShape::one_place : RowShape::scattered;
}

/// copy_row() loads the dwords of adjacent lanes at `host`, fill_row() the one dword of lanes at the same position. Both use
/// one host register: memcpy would use two, and std::fill_n a store per lane.
inline void copy_row(const std::byte* host, std::uint32_t* dst) {
  using Row [[gnu::vector_size(kRowLanes * 4), gnu::aligned(1), gnu::may_alias]] = std::uint32_t;
  *reinterpret_cast<Row*>(dst) = *reinterpret_cast<const Row*>(host);
}
inline void fill_row(const std::byte* host, std::uint32_t* dst) {
  using Row [[gnu::vector_size(kRowLanes * 4), gnu::aligned(1), gnu::may_alias]] = std::uint32_t;
  std::uint32_t value;
  std::memcpy(&value, host, sizeof value);
  *reinterpret_cast<Row*>(dst) = Row{} + value;
}

/// Loads a dword of each lane of a row; `host(l)`: position of lane l's dword.
template <typename Host>
inline void load_row(RowShape shape, Host&& host, std::uint32_t* dst) {
  if (shape == RowShape::neighbours) {
    copy_row(host(0), dst);
  } else if (shape == RowShape::one_place) {
    fill_row(host(0), dst);
  } else {
    for (unsigned l = 0; l < kRowLanes; ++l) std::memcpy(dst + l, host(l), 4);
  }
}

/// Drops cached windows if the mappings have changed. Called once per memory instruction.
inline void check_epoch(Wavefront& wave) {
  const std::uint64_t now = wave.memory->epoch();
  if (now == wave.window_epoch) return;
  wave.window = {};
  wave.older_windows = {};
  wave.window_epoch = now;
}

/// Returns the lanes in fine-grained memory, for a floating-point atomic whose lanes have been resolved. If there are any,
/// raises Event::fine_grained_float_atomic.
std::uint64_t fine_grained_lanes(Wavefront& wave, unsigned bytes);

/// Reports a fault of a lane (0 for scalar accesses): not_permitted if the address is mapped, else not_mapped.
void report_fault(Wavefront& wave, unsigned lane, std::uint64_t address, unsigned bytes, Access wanted);
void report_misaligned(Wavefront& wave, unsigned lane, std::uint64_t address, unsigned bytes, Access wanted);
/// Reports that an access leaves the lane's private memory. `offset`: distance from the start of this memory, as a signed
/// number.
void report_private(Wavefront& wave, unsigned lane, std::uint64_t offset, unsigned bytes, Access wanted);

/// Positions of the lanes' bytes in host memory.
class LaneTargets {
 public:
  // The arrays are deliberately not initialised: only lanes that have been resolved are read.
  LaneTargets() {}  // NOLINT(modernize-use-equals-default): value-initialisation would clear 1.5 KiB

  std::byte* operator[](unsigned lane) const { return reinterpret_cast<std::byte*>(at_[lane]); }
  const std::uintptr_t* places() const { return at_.data(); }
  void set(unsigned lane, std::byte* host) { at_[lane] = reinterpret_cast<std::uintptr_t>(host); }
  /// Whether other threads may access the bytes of some lanes concurrently.
  bool shared() const { return sharing_ != Sharing::device; }

  /// Resolves `lanes` of wave.addresses->global if the current window contains them all with permission `wanted`; otherwise
  /// returns false.
  bool resolve_in_window(const Wavefront& wave, std::uint64_t lanes, unsigned bytes, Access wanted);
  /// As resolve_in_window(); if that fails, resolves lane by lane and returns false only after reporting a fault. Both
  /// functions also overwrite the targets of other lanes, so they must be called before the other lanes are resolved.
  bool resolve_global(Wavefront& wave, std::uint64_t lanes, unsigned bytes, Access wanted);
  /// Resolves `lanes` with the given offsets in the workgroup's LDS. Lanes whose bytes extend beyond `limit` read zero and
  /// write nothing.
  void resolve_lds(Wavefront& wave, std::uint64_t lanes, const std::uint32_t* offsets, unsigned bytes, std::uint32_t limit);
  /// Resolves `lanes` with the given offsets into the wavefront's swizzled private memory; fills wave.addresses->global with
  /// the address of each lane's first byte. `base` is the GPU virtual address of the wavefront's scratch. Returns false after
  /// reporting a fault.
  bool resolve_private(Wavefront& wave, std::uint64_t lanes, const std::uint32_t* offsets, std::uint64_t base, unsigned bytes,
                       Access wanted);
  /// Makes the lane read zeros and write nothing.
  void set_nowhere(unsigned lane, unsigned bytes);
  /// Assigns `bytes` bytes of bounce buffer to a lane; byte k of it stands for GPU virtual address `address_of(k)`. Returns
  /// false after reporting a fault.
  template <typename AddressOf>
  bool bounce(Wavefront& wave, unsigned lane, unsigned bytes, Access wanted, AddressOf&& address_of) {
    for (unsigned k = 0; k < bytes; ++k) {
      std::byte* host = translate(wave, address_of(k), 1, wanted);
      if (host == nullptr) {
        report_fault(wave, lane, address_of(0), bytes, wanted);
        return false;
      }
      origin_[lane][k] = host;
      buffer_[lane][k] = *host;
    }
    bounced_ |= std::uint64_t{1} << lane;
    set(lane, buffer_[lane].data());
    return true;
  }
  /// Call it before a load: redirects lanes of wave.access.lanes with bytes in the store buffer to bounce buffers, in which
  /// these bytes replace those of memory. Returns false if the load is deferred.
  bool read_stores(Wavefront& wave, unsigned bytes) {
    return wave.stores == nullptr || wave.stores->empty() || read_stores_slow(wave, bytes);
  }
  /// Call it before a store: with a store buffer, redirects wave.access.lanes to bounce buffers. Returns false if the store is
  /// deferred.
  bool redirect(Wavefront& wave, unsigned bytes) { return wave.stores == nullptr || redirect_slow(wave, bytes); }
  /// Call it before an atomic operation. Returns false if the operation is deferred.
  bool may_perform(Wavefront& wave, unsigned bytes) {
    return wave.stores == nullptr || wave.access.lanes == 0 || !defer(wave, bytes);
  }
  /// Call it after a store or atomic: writes the bytes in bounce buffers to the store buffer, or to memory if there is none.
  void write_back(Wavefront& wave, unsigned bytes) {
    if ((bounced_ | redirected_) != 0) write_back_slow(wave, bytes);
  }

 private:
  bool read_stores_slow(Wavefront& wave, unsigned bytes);
  bool redirect_slow(Wavefront& wave, unsigned bytes);
  bool meets_deferred(const Wavefront& wave, unsigned bytes) const;
  bool defer(Wavefront& wave, unsigned bytes);
  void write_back_slow(Wavefront& wave, unsigned bytes);
  bool bounces(unsigned lane) const { return (bounced_ >> lane & 1) != 0; }

  // Integers instead of pointers: the entries of inactive lanes have arbitrary values.
  std::array<std::uintptr_t, kLanes> at_;
  std::uint64_t bounced_ = 0;
  std::uint64_t redirected_ = 0;  ///< stores only: lanes redirected from `redirected_from_` to `buffer_`
  Sharing sharing_ = Sharing::device;
  alignas(kMaxLaneBytes) std::array<std::array<std::byte, kMaxLaneBytes>, kLanes> buffer_;
  std::array<std::array<std::byte*, kMaxLaneBytes>, kLanes> origin_;
  std::array<std::byte*, kLanes> redirected_from_;
};

/// Loads a datum of type M (extended to 32 bits if narrower) and `kWords` - 1 further words of each lane into consecutive
/// registers.
template <typename M, unsigned kWords>
inline void load_lanes(const LaneTargets& targets, std::uint64_t lanes, std::uint32_t* dst) {
  if constexpr (kWords == 1) {
    if constexpr (sizeof(M) == 4) {
      if (lanes == kAllLanes) {
        for (unsigned first = 0; first < kLanes; first += kRowLanes) {
          const RowShape shape = shape_of_row<std::uintptr_t>(targets.places() + first, 4);
          load_row(
              shape, [&](unsigned l) { return targets[first + l]; }, dst + first);
        }
        return;
      }
    }
    for_lanes(lanes, [&](unsigned l) {
      M value;
      std::memcpy(&value, targets[l], sizeof value);
      dst[l] = static_cast<std::uint32_t>(value);
    });
  } else if constexpr (kWords == 2) {
    // A single access, since halves of data that another thread stores concurrently must not be mixed.
    for_lanes(lanes, [&](unsigned l) {
      std::uint64_t value;
      std::memcpy(&value, targets[l], sizeof value);
      dst[l] = static_cast<std::uint32_t>(value);
      dst[kLanes + l] = static_cast<std::uint32_t>(value >> 32);
    });
  } else {
    for_lanes(lanes, [&](unsigned l) {
      std::array<std::uint32_t, kWords> value;
      std::memcpy(value.data(), targets[l], sizeof value);
      for (unsigned k = 0; k < kWords; ++k) dst[k * kLanes + l] = value[k];
    });
  }
}

template <typename M, unsigned kWords>
inline void store_lanes(const LaneTargets& targets, std::uint64_t lanes, const std::uint32_t* src) {
  for_lanes(lanes, [&](unsigned l) {
    if constexpr (kWords == 1) {
      const M value = static_cast<M>(src[l]);
      std::memcpy(targets[l], &value, sizeof value);
    } else if constexpr (kWords == 2) {
      const std::uint64_t value = src[l] | std::uint64_t{src[kLanes + l]} << 32;
      std::memcpy(targets[l], &value, sizeof value);
    } else {
      std::array<std::uint32_t, kWords> value;
      for (unsigned k = 0; k < kWords; ++k) value[k] = src[k * kLanes + l];
      std::memcpy(targets[l], value.data(), sizeof value);
    }
  });
}

/// Loads a datum of type M, extended to 16 bits if narrower, into one half of a register; the other half is unchanged.
template <typename M, bool kHigh>
inline void load_half_lanes(const LaneTargets& targets, std::uint64_t lanes, std::uint32_t* dst) {
  for_lanes(lanes, [&](unsigned l) {
    M value;
    std::memcpy(&value, targets[l], sizeof value);
    const std::uint32_t half = static_cast<std::uint16_t>(value);
    dst[l] = kHigh ? (dst[l] & 0xffffU) | half << 16 : (dst[l] & 0xffff0000U) | half;
  });
}
/// Stores a datum of type M from the low bits of each register's upper half.
template <typename M>
inline void store_high_half_lanes(const LaneTargets& targets, std::uint64_t lanes, const std::uint32_t* src) {
  for_lanes(lanes, [&](unsigned l) {
    const auto value = static_cast<M>(src[l] >> 16);
    std::memcpy(targets[l], &value, sizeof value);
  });
}

/// As load_lanes(), for 64 lanes adjacent in memory.
template <typename M, unsigned kWords>
inline void load_neighbours(const std::byte* host, std::uint32_t* dst) {
  if constexpr (kWords == 1) {
    std::array<M, kLanes> values;
    std::memcpy(values.data(), host, sizeof values);
    for (unsigned l = 0; l < kLanes; ++l) dst[l] = static_cast<std::uint32_t>(values[l]);
  } else {
    std::array<std::uint32_t, kWords * kLanes> values;
    std::memcpy(values.data(), host, sizeof values);
    for (unsigned k = 0; k < kWords; ++k) {
      for (unsigned l = 0; l < kLanes; ++l) dst[k * kLanes + l] = values[l * kWords + k];
    }
  }
}
template <typename M, unsigned kWords>
inline void store_neighbours(std::byte* host, const std::uint32_t* src) {
  if constexpr (kWords == 1) {
    std::array<M, kLanes> values;
    for (unsigned l = 0; l < kLanes; ++l) values[l] = static_cast<M>(src[l]);
    std::memcpy(host, values.data(), sizeof values);
  } else {
    std::array<std::uint32_t, kWords * kLanes> values;
    for (unsigned k = 0; k < kWords; ++k) {
      for (unsigned l = 0; l < kLanes; ++l) values[l * kWords + k] = src[k * kLanes + l];
    }
    std::memcpy(host, values.data(), sizeof values);
  }
}

/// Reads lane `l` of a register or register pair as U (32 or 64 bits).
template <typename U>
inline U lane_value(const std::uint32_t* src, unsigned l) {
  if constexpr (sizeof(U) == 4) return src[l];
  return static_cast<U>(src[l] | std::uint64_t{src[kLanes + l]} << 32);
}
template <typename U>
inline void set_lane_value(std::uint32_t* dst, unsigned l, U value) {
  dst[l] = static_cast<std::uint32_t>(value);
  if constexpr (sizeof(U) == 8) dst[kLanes + l] = static_cast<std::uint32_t>(value >> 32);
}

/// Atomically replaces a value that other threads may access by `replace(old value)`. Returns the old value. `host` is aligned.
template <typename U, typename Replace>
inline U replace_shared(std::byte* host, Replace&& replace) {
  const std::atomic_ref<U> cell(*reinterpret_cast<U*>(host));
  U old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(old, replace(old), std::memory_order_seq_cst, std::memory_order_relaxed)) {
  }
  return old;
}

/// One read-modify-write per lane in ascending order: new value = F(old, data, data2, wave). `dst` receives the old values, or
/// is null. `data2` is null for one-operand operations.
template <typename U, auto F>
inline void atomic_lanes(const LaneTargets& targets, std::uint64_t lanes, const std::uint32_t* data, const std::uint32_t* data2,
                         std::uint32_t* dst, const Wavefront& wave) {
  if (targets.shared()) {
    for_lanes(lanes, [&](unsigned l) {
      const U first = lane_value<U>(data, l);
      const U second = data2 != nullptr ? lane_value<U>(data2, l) : U{0};
      const U old = replace_shared<U>(targets[l], [&](U value) { return F(value, first, second, wave); });
      if (dst != nullptr) set_lane_value<U>(dst, l, old);
    });
    return;
  }
  for_lanes(lanes, [&](unsigned l) {
    const U first = lane_value<U>(data, l);
    const U second = data2 != nullptr ? lane_value<U>(data2, l) : U{0};
    U old;
    std::memcpy(&old, targets[l], sizeof old);
    const U now = F(old, first, second, wave);
    std::memcpy(targets[l], &now, sizeof now);
    if (dst != nullptr) set_lane_value<U>(dst, l, old);
  });
}

}  // namespace lacuna::isa
