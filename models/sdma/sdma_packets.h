// Decoder of packets in SDMA rings and indirect buffers. No SystemC, no memory.
//
// Sources: Linux amdgpu iceland_sdma_pkt_open.h (gfx8) and vega10_sdma_pkt_open.h (gfx9); the meaning of counts on each
// generation from sdma_v3_0.c and sdma_v4_0.c; operations of ATOMIC are the TC_OP codes of the public gfx register headers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "models/isa/target.h"

namespace lacuna::sdma {

/// Position of the pitches in a sub-window packet of gfx8. Silicon and Linux use bits 29:16; the ROCm runtime writes the layout
/// of gfx9 (bits 31:13) on every generation.
enum class Gfx8Pitch : std::uint8_t { silicon, rocm };

/// Differences between the packet formats of the generations.
struct Format {
  bool counts_less_one;  ///< counts are stored as amount - 1
  unsigned pitch_shift;
  std::uint32_t pitch_mask;
  bool pointers_wrap;  ///< ring pointers are 32-bit offsets into the ring, not 64-bit byte counts

  static Format of(isa::Target target, Gfx8Pitch gfx8_pitch);
};

struct Nop {};
struct Copy {
  std::uint64_t source;
  std::array<std::uint64_t, 2> destination;
  unsigned destinations;
  std::uint64_t bytes;
};
/// Copies a box from one array to another. Coordinates and sizes are in elements.
struct CopyWindow {
  struct Array {
    std::uint64_t base;
    std::uint32_t x, y, z;
    std::uint64_t pitch;  ///< elements of a row
    std::uint64_t slice;  ///< elements of a slice
    std::uint64_t row(std::uint64_t row_y, std::uint64_t row_z, unsigned element) const {
      return base + ((z + row_z) * slice + (y + row_y) * pitch + x) * element;
    }
  };
  unsigned element;  ///< bytes of an element
  Array source, destination;
  std::uint32_t width, height, depth;
};
/// Writes to memory the packet's words that follow its first kHeader words.
struct Write {
  static constexpr unsigned kHeader = 4;
  std::uint64_t destination;
  std::uint64_t words;
};
struct Fill {
  std::uint64_t destination;
  std::uint64_t bytes;
  std::uint32_t data;
  unsigned unit;  ///< number of bytes of `data` that are repeated: 1, 2 or 4
};
struct Indirect {
  std::uint64_t address;
  std::uint32_t words;
};
struct Fence {
  std::uint64_t address;
  std::uint32_t data;
};
struct Trap {
  std::uint32_t context;
};
struct Poll {
  static constexpr unsigned kForEver = 0xfff;
  std::uint64_t address;
  std::uint32_t reference, mask;
  unsigned function;
  unsigned retries;
  bool memory;  ///< true: polls memory; false: a register or an HDP flush

  bool satisfied(std::uint32_t value) const;
};
/// Executes the next `words` words only if memory equals the reference.
struct Conditional {
  std::uint64_t address;
  std::uint32_t reference;
  std::uint32_t words;
};
enum class AtomicOperation : std::uint8_t {
  exchange,
  compare_exchange,
  add,
  sub,
  min_signed,
  min_unsigned,
  max_signed,
  max_unsigned,
  bit_and,
  bit_or,
  bit_xor,
  inc,
  dec
};
struct Atomic {
  std::uint64_t address;
  AtomicOperation operation;
  unsigned bytes;  ///< 4 or 8
  std::uint64_t operand, comparand;
  bool loop;  ///< a compare-exchange is repeated until the comparison succeeds

  /// The new value in memory, given the old value.
  std::uint64_t result(std::uint64_t old) const;
};
struct Timestamp {
  enum class Kind : std::uint8_t { set, get, get_global };
  Kind kind;
  std::uint64_t value;  ///< new value of the local counter (set), or address to write to (get, get_global)
};
/// A packet that cannot be executed, with the reason.
struct Invalid {
  std::string why;
};

using Packet =
    std::variant<Nop, Copy, CopyWindow, Write, Fill, Indirect, Fence, Trap, Poll, Conditional, Atomic, Timestamp, Invalid>;

/// Words of the longest packet without WRITE's data and NOP's padding, sufficient for words() and decode().
inline constexpr unsigned kLongestHeader = 13;

/// Length in words of the packet that begins with `head`; nullopt if `head` is too short. 1 for an unknown packet.
std::optional<std::uint64_t> words(std::span<const std::uint32_t> head, const Format& format);
/// Decodes the packet that begins with `head`: at least min(words(), kLongestHeader) words.
Packet decode(std::span<const std::uint32_t> head, const Format& format);

}  // namespace lacuna::sdma
