// Writer of the SVG elements for pictures of meshes and timelines. Colours are classes with values for light and dark screens.
#pragma once

#include <iosfwd>
#include <string>

namespace lacuna {

/// Writes an SVG file, from the constructor to finish(). Lengths are pixels.
class SvgWriter {
 public:
  /// `title`: name of the picture for screen readers.
  SvgWriter(std::ostream& out, double width, double height, const std::string& title);
  void finish();

  /// `kind`: a class of the style sheet: node, cache, core, meets, lane or use; for areas columns, rows, x, vectors, outputs or
  /// rest. `opacity`: opacity of the fill; `tip`: text shown at the pointer, or empty.
  void rectangle(double x, double y, double width, double height, const std::string& kind, double opacity = 1,
                 const std::string& tip = {});
  enum class Anchor { start, middle, end };
  /// `size`: height of the letters; `kind`: class ink, faint or strong.
  void text(double x, double y, double size, const std::string& text, Anchor anchor = Anchor::start,
            const std::string& kind = "ink");

 private:
  std::ostream& out_;
};

}  // namespace lacuna
