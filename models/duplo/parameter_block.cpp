#include "models/duplo/parameter_block.h"

#include <fmt/format.h>

#include <cstring>

#include "include/lacuna/duplo.h"

namespace lacuna {

static_assert(sizeof(lacuna_duplo) == ParameterBlock::kBytes);

std::variant<ParameterBlock, std::string> ParameterBlock::read(const std::byte* bytes) {
  lacuna_duplo from;
  std::memcpy(&from, bytes, sizeof from);
  ParameterBlock block;
  LoweredConvolution& c = block.convolution;
  c.pitch = from.pitch;
  c.images = from.images;
  c.height = from.height;
  c.width = from.width;
  c.channels = from.channels;
  c.filter_height = from.filter_height;
  c.filter_width = from.filter_width;
  c.stride_y = from.stride_y;
  c.stride_x = from.stride_x;
  c.pad_top = from.padding_top;
  c.pad_left = from.padding_left;
  c.pad_bottom = from.padding_bottom;
  c.pad_right = from.padding_right;
  const auto wrong = [](const char* field, unsigned value, const char* legal) {
    return std::string(field) + " is " + std::to_string(value) + "; " + legal;
  };
  if (from.form > LACUNA_DUPLO_LDS)
    return wrong("form", from.form, "it is 0 (the workspace is in memory) or 1 (slabs of it are in LDS)");
  if (from.row_order > LACUNA_DUPLO_IMAGES_INNERMOST)
    return wrong("row order", from.row_order, "it is 0 (images outermost) or 1 (images innermost)");
  c.order = from.row_order == LACUNA_DUPLO_IMAGES_OUTERMOST ? RowOrder::images_outermost : RowOrder::images_innermost;
  if (from.reserved != 0) return wrong("bytes 30 and 31", from.reserved, "they are 0");
  if (auto problem = c.problem()) return *problem;
  if (from.form == LACUNA_DUPLO_LDS) {
    block.lds = LdsBuffers{.base = from.lds.base * LdsBuffers::kUnit,
                           .row_stride = from.lds.row_stride * LdsBuffers::kUnit,
                           .buffer_stride = from.lds.buffer_stride * LdsBuffers::kUnit,
                           .rows = from.lds.rows,
                           .buffers = from.lds.buffers};
    if (auto problem = block.lds->problem(c)) return *problem;
    return block;
  }
  block.workspace = from.workspace;
  if (block.workspace % kAlignment != 0) return fmt::format("workspace is {:#x}; it is a multiple of 16", block.workspace);
  return block;
}

}  // namespace lacuna
