// The convolution of a kernel, from the object KERNEL_duplo of its code object: 32 bytes of GPU memory, with the layout of
// lacuna_duplo (include/lacuna/duplo.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "models/duplo/lds_buffers.h"
#include "models/duplo/lowered_convolution.h"

namespace lacuna {

struct ParameterBlock {
  static constexpr std::size_t kBytes = 32;
  /// Number to whose multiple tile_bytes() rounds up the rows of the workspace, since a kernel's tiles may extend beyond the
  /// last row.
  static constexpr unsigned kRowUnit = 128;
  static constexpr unsigned kAlignment = 16;  ///< alignment of the workspace, bytes

  std::uint64_t workspace = 0;    ///< GPU virtual address; 0: the workspace is in LDS
  std::optional<LdsBuffers> lds;  ///< buffers of a workspace in LDS; nullopt: it is in memory
  LoweredConvolution convolution;

  /// Size in bytes of the workspace's rows.
  std::uint64_t bytes() const { return convolution.rows() * convolution.pitch * LoweredConvolution::kElementBytes; }
  /// Size in bytes of the workspace's rows and of the rows that fill the last tile.
  std::uint64_t tile_bytes() const {
    return (convolution.rows() + kRowUnit - 1) / kRowUnit * kRowUnit * convolution.pitch * LoweredConvolution::kElementBytes;
  }

  /// The block, or a description of its first invalid field with the field's value and legal values.
  static std::variant<ParameterBlock, std::string> read(const std::byte* bytes);
};

}  // namespace lacuna
