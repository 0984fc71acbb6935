// Command-line options of convolutions in half precision.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/common/config/nearest_name.h"
#include "workloads/common/program.h"
#include "workloads/conv2d/explicit.h"
#include "workloads/conv2d/layers.h"

namespace conv {

/// Options for computing a convolution.
struct Settings {
  std::string method, lds, loads, rows, k, shape;
  int fragments = 0, channels = 0, pitch = 0;

  void options(workload::Program& program) {
    program.choice(method, "method", "f32: the layers of ResNet-50 in single precision. In half precision",
                   {"f32", "direct", "gemm", "explicit", "implicit"}, std::string("f32"));
    program.text(shape, "shape", "sizes that are not the layer's: height=7,width=9,stride_x=2 and the like",
                 std::string("layer"));
    program.choice(lds, "lds", "matrices that explicit has in LDS", lds_choices(), std::string("c"));
    program.choice(loads, "loads", "whether explicit loads each fragment once, or twice, as two octets of a warp do",
                   loads_choices(), std::string("once"));
    program.choice(rows, "rows", "order of the workspace's rows", {"images_outermost", "images_innermost"},
                   std::string("images_outermost"));
    program.choice(k, "k", "order of columns in explicit and implicit products", {"channels", "taps"}, std::string("channels"));
    program.size(fragments, "fragments", "dwords of a fragment in a lane, 2 or 4", 4, 2, 4);
    program.size(channels, "channels", "4, 8 or 16: channels are padded to a multiple", 16, 4, 16);
    program.size(pitch, "pitch", "elements from one row of the workspace to the next, 0: chosen", 0, 0, 1 << 20);
  }
};

/// A convolution, and its number of channels without padding.
struct Shape {
  Convolution convolution;
  unsigned real_channels;
};

inline Shape shape_of(const NamedLayer& layer, unsigned images) {
  Convolution c{};
  c.images = images;
  c.height = c.width = layer.side;
  c.channels = layer.channels;
  c.filters = layer.filters;
  c.filter_height = c.filter_width = layer.filter;
  c.pad_top = c.pad_left = c.pad_bottom = c.pad_right = layer.padding;
  c.stride_y = c.stride_x = layer.stride;
  if (layer.transposed) {
    c.stride_y = c.stride_x = 1;
    c.spacing_shift = layer.stride / 2;
    c.pad_bottom = c.pad_right = layer.padding + 1;
  }
  return {c, layer.channels};
}

/// Applies the sizes in `text`, for example "height=7,width=9".
inline void apply_shape(Shape& shape, const std::string& text) {
  if (text == "layer") return;
  Convolution& c = shape.convolution;
  unsigned spacing = 1u << c.spacing_shift;
  struct Size {
    unsigned* value;
    unsigned least, most;
  };
  // Most limits follow from the fields of a parameter block for Duplo (lacuna/duplo.h).
  const std::map<std::string, Size> sizes{{"height", {&c.height, 1, 32768}},
                                          {"width", {&c.width, 1, 32768}},
                                          {"channels", {&c.channels, 1, 32768}},
                                          {"filters", {&c.filters, 1, 65536}},
                                          {"filter_height", {&c.filter_height, 1, 255}},
                                          {"filter_width", {&c.filter_width, 1, 255}},
                                          {"stride_y", {&c.stride_y, 1, 255}},
                                          {"stride_x", {&c.stride_x, 1, 255}},
                                          {"pad_top", {&c.pad_top, 0, 255}},
                                          {"pad_left", {&c.pad_left, 0, 255}},
                                          {"pad_bottom", {&c.pad_bottom, 0, 255}},
                                          {"pad_right", {&c.pad_right, 0, 255}},
                                          {"spacing", {&spacing, 1, 4}}};
  std::vector<std::string> names;
  for (const auto& [name, size] : sizes) names.push_back(name);
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size()), equal = text.find('=', at);
    const std::string name = text.substr(at, std::min(equal, end) - at);
    const auto found = sizes.find(name);
    if (found == sizes.end()) {
      throw workload::UsageError("--shape: no size '" + name + "'" + lacuna::did_you_mean(lacuna::nearest_name(names, name)));
    }
    const std::string number = equal < end ? text.substr(equal + 1, end - equal - 1) : "";
    const bool digits = !number.empty() && number.size() < 7 && number.find_first_not_of("0123456789") == std::string::npos;
    const unsigned long value = digits ? std::stoul(number) : 0;
    if (!digits || value < found->second.least || value > found->second.most) {
      throw workload::UsageError("--shape: " + name + " '" + number + "' is not a whole number from " +
                                 std::to_string(found->second.least) + " to " + std::to_string(found->second.most));
    }
    *found->second.value = static_cast<unsigned>(value);
    at = end + 1;
  }
  if (spacing == 3) throw workload::UsageError("--shape: spacing '3' is not one of 1, 2, 4");
  c.spacing_shift = spacing / 2;
  shape.real_channels = c.channels;
}

/// Throws a UsageError unless the filter fits into the padded input and all numbers fit into their types.
inline void require_valid(const Convolution& c) {
  // A parameter block for Duplo has 16 bits for each side of the lowered input.
  for (const auto& [what, side] : {std::pair{"rows", c.lowered_height()}, std::pair{"columns", c.lowered_width()}}) {
    constexpr unsigned kMost = 65535;
    if (side > kMost) {
      throw workload::UsageError("--shape: with its spacing the input has " + std::to_string(side) + ' ' + what + ", of " +
                                 std::to_string(kMost) + " at most");
    }
  }
  const auto fits = [](const char* what, unsigned filter, unsigned input) {
    if (filter > input) {
      throw workload::UsageError(std::string("the filter has more ") + what + " (" + std::to_string(filter) +
                                 ") than the padded input (" + std::to_string(input) + ")");
    }
  };
  fits("rows", c.filter_height, c.lowered_height() + c.pad_top + c.pad_bottom);
  fits("columns", c.filter_width, c.lowered_width() + c.pad_left + c.pad_right);
  const double gib = 1024.0 * 1024 * 1024;
  const double input = 2.0 * c.images * c.height * c.width * c.channels;
  const double rows = 1.0 * c.images * c.positions();
  if (input > 4 * gib || rows > 0x7fffff00) {
    throw workload::UsageError("the input has " + std::to_string(input / gib) + " GiB, of 4, and " + std::to_string(rows) +
                               " output positions, of 2147483392 at most");
  }
}

}  // namespace conv
