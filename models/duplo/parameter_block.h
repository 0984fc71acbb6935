// What a kernel tells Duplo of its convolution: 32 bytes of GPU memory, the object KERNEL_duplo of its code object. Layout,
// little endian (include/lacuna/duplo.h has it for programs):
//
//   0   workspace            GPU virtual address, 8 bytes
//   8   pitch                elements from row to row, 4 bytes
//   12  images, height, width, channels of the input as lowered, 2 bytes each
//   20  filter height, filter width, vertical stride, horizontal stride, 1 byte each
//   24  padding at the top, left, bottom, right, 1 byte each
//   28  form                 0: the workspace is in memory
//   29  row order            0: images outermost, 1: images innermost
//   30  zero                 2 bytes
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "models/duplo/lowered_convolution.h"

namespace lacuna {

struct ParameterBlock {
  static constexpr std::size_t kBytes = 32;
  static constexpr unsigned kElementBytes = 2;  ///< f16
  /// The number of the workspace's rows is rounded up to a multiple of this: tiles of a kernel may reach beyond the last one.
  static constexpr unsigned kRowUnit = 128;
  static constexpr unsigned kAlignment = 16;  ///< of the workspace, bytes

  std::uint64_t workspace = 0;
  LoweredConvolution convolution;

  /// Of the workspace's rows.
  std::uint64_t bytes() const { return convolution.rows() * convolution.pitch * kElementBytes; }
  /// These and the rows that fill the last tile.
  std::uint64_t region_bytes() const {
    return (convolution.rows() + kRowUnit - 1) / kRowUnit * kRowUnit * convolution.pitch * kElementBytes;
  }

  /// The block, or what is wrong with it: field, value, and what is legal.
  static std::variant<ParameterBlock, std::string> read(const std::byte* bytes);
};

}  // namespace lacuna
