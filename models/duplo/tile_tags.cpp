#include "models/duplo/tile_tags.h"

namespace lacuna {

TileTag TileTags::tag(std::uint64_t row, unsigned column, const TileForm& form) const {
  TileTag tag{.form = form, .first = ids_.id(row, column)};
  if (first_alone_) return tag;
  const LoweredConvolution& c = ids_.convolution();
  const bool outermost = c.order == RowOrder::images_outermost;
  // Output positions of the tile's first and last row, relative to the image of the first row.
  const auto position = static_cast<unsigned>(outermost ? row % c.positions() : row / c.images);
  const auto last = static_cast<unsigned>(outermost ? position + form.rows - 1 : (row + form.rows - 1) / c.images);
  const unsigned output_width = c.output_width();
  const unsigned filter_row = c.filter_width * c.channels;
  if (column % filter_row + form.columns > filter_row || position / output_width != last / output_width)
    tag.filter_x = static_cast<std::uint16_t>(column % filter_row / c.channels);
  if (last >= c.positions() || column + form.columns > c.columns())
    tag.filter_y = static_cast<std::uint16_t>(column / filter_row);
  return tag;
}

}  // namespace lacuna
