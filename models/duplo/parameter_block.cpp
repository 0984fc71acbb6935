#include "models/duplo/parameter_block.h"

#include <cstring>

namespace lacuna {
namespace {

template <typename T>
T at(const std::byte* bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

}  // namespace

std::variant<ParameterBlock, std::string> ParameterBlock::read(const std::byte* bytes) {
  const auto half = [bytes](std::size_t offset) { return unsigned{at<std::uint16_t>(bytes, offset)}; };
  const auto byte = [bytes](std::size_t offset) { return unsigned{at<std::uint8_t>(bytes, offset)}; };
  ParameterBlock block;
  block.workspace = at<std::uint64_t>(bytes, 0);
  LoweredConvolution& c = block.convolution;
  c.pitch = at<std::uint32_t>(bytes, 8);
  c.images = half(12);
  c.height = half(14);
  c.width = half(16);
  c.channels = half(18);
  c.filter_height = byte(20);
  c.filter_width = byte(21);
  c.stride_y = byte(22);
  c.stride_x = byte(23);
  c.pad_top = byte(24);
  c.pad_left = byte(25);
  c.pad_bottom = byte(26);
  c.pad_right = byte(27);
  const auto wrong = [](const char* field, unsigned value, const char* legal) {
    return std::string(field) + " is " + std::to_string(value) + "; " + legal;
  };
  if (byte(28) != 0) return wrong("form", byte(28), "it is 0: the workspace is in memory");
  if (byte(29) > 1) return wrong("row order", byte(29), "it is 0 (images outermost) or 1 (images innermost)");
  c.order = byte(29) == 0 ? RowOrder::images_outermost : RowOrder::images_innermost;
  if (half(30) != 0) return wrong("bytes 30 and 31", half(30), "they are 0");
  if (block.workspace % kAlignment != 0) {
    return "workspace is at an address that is " + std::to_string(block.workspace % kAlignment) +
           " bytes behind a multiple of 16; it is a multiple of 16";
  }
  if (auto problem = c.problem()) return *problem;
  return block;
}

}  // namespace lacuna
