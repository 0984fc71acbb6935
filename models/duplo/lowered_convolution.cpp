#include "models/duplo/lowered_convolution.h"

#include <utility>

#include "models/duplo/id_generator.h"

namespace lacuna {

std::optional<InputElement> LoweredConvolution::element(std::uint64_t row, unsigned column) const {
  if (row >= rows() || column >= columns()) return std::nullopt;
  const bool outermost = order == RowOrder::images_outermost;
  const auto image = static_cast<unsigned>(outermost ? row / positions() : row % images);
  const auto position = static_cast<unsigned>(outermost ? row % positions() : row / images);
  const unsigned filter_row = filter_width * channels;
  return InputElement{.image = image,
                      .y = position / output_width() * stride_y + column / filter_row,
                      .x = position % output_width() * stride_x + column % filter_row / channels,
                      .channel = column % channels};
}

bool LoweredConvolution::in_padding(const InputElement& element) const {
  return element.y < pad_top || element.y >= pad_top + height || element.x < pad_left || element.x >= pad_left + width;
}

std::optional<std::string> LoweredConvolution::problem() const {
  const auto text = [](const char* field, unsigned value, const std::string& legal) {
    return std::string(field) + " is " + std::to_string(value) + "; " + legal;
  };
  const auto number = [](unsigned value) { return std::to_string(value); };
  for (const auto& [field, value] :
       {std::pair{"images", images}, std::pair{"height", height}, std::pair{"width", width}, std::pair{"channels", channels},
        std::pair{"filter height", filter_height}, std::pair{"filter width", filter_width},
        std::pair{"vertical stride", stride_y}, std::pair{"horizontal stride", stride_x}}) {
    if (value == 0) return text(field, value, "it is at least 1");
  }
  if (images > kMostImages) return text("images", images, "a tag names at most " + number(kMostImages));
  if (filter_height > padded_height())
    return text("filter height", filter_height, "the padded input has " + number(padded_height()) + " rows");
  if (filter_width > padded_width())
    return text("filter width", filter_width, "the padded input has " + number(padded_width()) + " columns");
  if (pitch < columns()) return text("pitch", pitch, "a row of the workspace has " + number(columns()) + " elements");
  const unsigned bits = IdGenerator::element_bits(*this);
  if (bits > IdGenerator::kElementBits) {
    return "IDs of an input of " + number(padded_height()) + " x " + number(padded_width()) + " x " + number(channels) +
           " elements need " + number(bits) + " bits; they have at most " + number(IdGenerator::kElementBits);
  }
  return std::nullopt;
}

}  // namespace lacuna
