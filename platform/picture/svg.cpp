#include "platform/picture/svg.h"

#include <fmt/format.h>

#include <array>
#include <ostream>
#include <string_view>

namespace lacuna {
namespace {

constexpr std::string_view kStyle = R"(<style>
text { font-family: system-ui, sans-serif; fill: #1b1f24; }
.page { fill: #ffffff; } .node { fill: #ffffff; stroke: #8a929c; } .cache { fill: #d7e6f7; stroke: #3f6ea3; }
.core { fill: #ffffff; stroke: #c4471d; stroke-width: 3; } .meets { fill: #fde3c4; stroke: #8a929c; }
.lane { fill: #e6e9ec; } .use { fill: #f08a24; } .faint { fill: #59626d; } .strong { font-weight: 600; }
.columns { fill: #3f6ea3; } .rows { fill: #c4471d; } .x { fill: #4c9a5a; } .vectors { fill: #8a6fc0; } .outputs { fill: #d9a02a; } .rest { fill: #8a929c; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f3f6; }
.page { fill: #14171b; } .node { fill: #14171b; stroke: #7a848f; } .cache { fill: #1d3a5c; stroke: #78aee6; }
.core { fill: #14171b; stroke: #ff8a5c; } .meets { fill: #5c3a12; stroke: #7a848f; }
.lane { fill: #2b3138; } .use { fill: #b85c00; } .faint { fill: #a6afb9; }
.columns { fill: #78aee6; } .rows { fill: #ff8a5c; } .x { fill: #7fcf8f; } .vectors { fill: #b9a3ea; } .outputs { fill: #f0c060; } .rest { fill: #a6afb9; }
}
</style>
)";

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// Formats a length, rounded to 0.01 pixels.
std::string length(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

SvgWriter::SvgWriter(std::ostream& out, double width, double height, const std::string& title) : out_(out) {
  const std::string w = length(width);
  const std::string h = length(height);
  out_ << R"(<svg xmlns="http://www.w3.org/2000/svg" width=")" << w << R"(" height=")" << h << R"(" viewBox="0 0 )" << w << ' '
       << h << "\" role=\"img\">\n<title>" << escaped(title) << "</title>\n"
       << kStyle << R"(<rect class="page" width=")" << w << R"(" height=")" << h << "\"/>\n";
}

void SvgWriter::finish() { out_ << "</svg>\n"; }

void SvgWriter::rectangle(double x, double y, double width, double height, const std::string& kind, double opacity,
                          const std::string& tip) {
  out_ << fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}")", kind, length(x), length(y), length(width),
                      length(height));
  if (opacity < 1) out_ << R"( fill-opacity=")" << length(opacity) << '"';
  if (tip.empty()) {
    out_ << "/>\n";
  } else {
    out_ << "><title>" << escaped(tip) << "</title></rect>\n";
  }
}

void SvgWriter::text(double x, double y, double size, const std::string& text, Anchor anchor, const std::string& kind) {
  constexpr std::array<std::string_view, 3> kAnchors{"start", "middle", "end"};
  out_ << fmt::format(R"(<text class="{}" x="{}" y="{}" font-size="{}" text-anchor="{}">{}</text>)", kind, length(x), length(y),
                      length(size), kAnchors.at(static_cast<std::size_t>(anchor)), escaped(text))
       << '\n';
}

}  // namespace lacuna
