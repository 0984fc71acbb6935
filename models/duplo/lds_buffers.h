// Buffers in a workgroup's LDS for slabs of a workspace that is not in memory (implicit lowering). A slab is 64 columns of the
// rows of a buffer; the array index of its first element, row x pitch + column of the workspace, is in M0 while the slab is
// read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/duplo/lowered_convolution.h"

namespace lacuna {

struct LdsBuffers {
  static constexpr unsigned kSlabColumns = 64;
  static constexpr unsigned kRowBytes = kSlabColumns * LoweredConvolution::kElementBytes;  ///< bytes of a row, without padding
  static constexpr unsigned kUnit = 8;  ///< unit in bytes of the parameter block's fields
  /// Value of M0 while no slab is read.
  static constexpr std::uint32_t kNoSlab = 0xffffffff;

  std::uint32_t base = 0;           ///< offset of the first buffer, bytes
  std::uint32_t row_stride = 0;     ///< bytes from one row to the next
  std::uint32_t buffer_stride = 0;  ///< bytes from one buffer to the next
  unsigned rows = 0;                ///< rows of a buffer
  unsigned buffers = 0;

  std::uint32_t buffer_bytes() const { return (rows - 1) * row_stride + kRowBytes; }
  /// Offset of the byte after the last buffer.
  std::uint32_t end() const { return base + (buffers - 1) * buffer_stride + buffer_bytes(); }

  /// A position in a slab.
  struct Place {
    unsigned row = 0;
    unsigned byte = 0;  ///< offset in the row
  };
  /// Position of a byte of the LDS; nullopt: it is in no buffer, or in the padding of a row or buffer.
  std::optional<Place> place(std::uint32_t offset) const;

  /// Describes the first invalid field with its value and its legal values; nullopt: all fields are valid. The other functions
  /// must not be called with invalid fields.
  std::optional<std::string> problem(const LoweredConvolution& convolution) const;
};

}  // namespace lacuna
