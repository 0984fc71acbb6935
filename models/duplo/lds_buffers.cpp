#include "models/duplo/lds_buffers.h"

namespace lacuna {

std::optional<LdsBuffers::Place> LdsBuffers::place(std::uint32_t offset) const {
  if (offset < base || offset >= end()) return std::nullopt;
  const std::uint32_t at = buffers == 1 ? offset - base : (offset - base) % buffer_stride;
  const Place place{.row = at / row_stride, .byte = at % row_stride};
  if (place.row >= rows || place.byte >= kRowBytes) return std::nullopt;
  return place;
}

std::optional<std::string> LdsBuffers::problem(const LoweredConvolution& convolution) const {
  constexpr unsigned kLeastRows = 16;  // minimum rows of a tile
  const auto units = [](std::uint32_t bytes) { return std::to_string(bytes / kUnit); };
  if (rows < kLeastRows) return "rows of a buffer are " + std::to_string(rows) + "; a tile has 16 at least";
  if (buffers == 0) return "buffers are 0; it is at least 1";
  if (row_stride < kRowBytes)
    return "row stride is " + units(row_stride) + "; a row of 64 columns has " + units(kRowBytes) + " units of 8 bytes";
  if (buffers > 1 && buffer_stride < buffer_bytes()) {
    return "buffer stride is " + units(buffer_stride) + "; " + std::to_string(rows) + " rows have " + units(buffer_bytes()) +
           " units of 8 bytes";
  }
  // Upper bound of the element index in M0: a slab that lies entirely below the last row reaches it.
  const std::uint64_t indices = (convolution.rows() + rows) * convolution.pitch;
  if (indices > kNoSlab) {
    return "pitch is " + std::to_string(convolution.pitch) + "; with " + std::to_string(convolution.rows()) +
           " rows M0 would need more than 32 bits for the index of an element";
  }
  return std::nullopt;
}

}  // namespace lacuna
