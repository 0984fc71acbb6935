#include "models/duplo/id_generator.h"

#include <algorithm>
#include <bit>

namespace lacuna {

unsigned IdGenerator::element_bits(const LoweredConvolution& convolution) {
  return bits_for(convolution.channels) + bits_for(convolution.padded_width()) + bits_for(convolution.padded_height());
}

IdGenerator::IdGenerator(const LoweredConvolution& convolution, DatumIds ids)
    : convolution_(convolution),
      ids_(ids),
      output_height_(convolution.output_height()),
      output_width_(convolution.output_width()),
      positions_(convolution.positions()),
      filter_row_(convolution.filter_width * convolution.channels),
      column_shift_(bits_for(convolution.channels)),
      row_shift_(column_shift_ + bits_for(convolution.padded_width())) {}

DatumId IdGenerator::id(std::uint64_t row, unsigned column) const {
  switch (ids_) {
    case DatumIds::paper:
      return printed_id(row, column);
    case DatumIds::exact:
      return exact_id(row, column);
    case DatumIds::address:
      break;
  }
  const std::uint64_t place = row * convolution_.pitch + column;
  return {.image = static_cast<std::uint32_t>(place >> kElementBits), .element = static_cast<std::uint32_t>(place)};
}

DatumId IdGenerator::exact_id(std::uint64_t row, unsigned column) const {
  const bool outermost = convolution_.order == RowOrder::images_outermost;
  const auto image = static_cast<unsigned>(outermost ? row / positions_ : row % convolution_.images);
  const auto position = static_cast<unsigned>(outermost ? row % positions_ : row / convolution_.images);
  const unsigned y = position / output_width_ * convolution_.stride_y + column / filter_row_;
  const unsigned x = position % output_width_ * convolution_.stride_x + column % filter_row_ / convolution_.channels;
  return {.image = image, .element = y << row_shift_ | x << column_shift_ | column % convolution_.channels};
}

DatumId IdGenerator::printed_id(std::uint64_t row, unsigned column) const {
  const std::uint64_t patch = row / output_height_ * convolution_.stride_y + column / filter_row_;
  const std::uint64_t element =
      row % output_width_ * convolution_.channels + column % filter_row_ + patch * convolution_.width * convolution_.channels;
  return {.image = static_cast<std::uint32_t>(row / positions_), .element = static_cast<std::uint32_t>(element)};
}

unsigned IdGenerator::zeros(unsigned columns) const {
  const unsigned unit = ids_ == DatumIds::address ? convolution_.pitch : convolution_.channels;
  return static_cast<unsigned>(std::min(std::countr_zero(columns), std::countr_zero(unit)));
}

unsigned IdGenerator::reciprocals() const {
  const LoweredConvolution& c = convolution_;
  const auto count = [](auto... divisors) {
    return static_cast<unsigned>(((std::has_single_bit(unsigned{divisors}) ? 0 : 1) + ...));
  };
  const unsigned rows_of_images = c.order == RowOrder::images_outermost ? positions_ : c.images;
  switch (ids_) {
    case DatumIds::paper:
      return count(c.pitch, output_height_, output_width_, positions_, filter_row_);
    case DatumIds::exact:
      return count(c.pitch, rows_of_images, output_width_, filter_row_, c.channels);
    case DatumIds::address:
      break;
  }
  return 0;
}

}  // namespace lacuna
