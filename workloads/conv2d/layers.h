// Convolution layers of published networks, by name.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace conv {

/// A layer as listed in papers: square, with the same padding on all sides.
struct NamedLayer {
  const char* name;
  unsigned side;      ///< rows and columns of the input
  unsigned channels;  ///< channels of the input
  unsigned filters;   ///< channels of the output
  unsigned filter;    ///< side of the filter
  unsigned padding;
  unsigned stride;  ///< for a transposed layer, rows of the output per row of the input
  bool transposed;
};

/// Table I of Duplo (MICRO '20), which uses batches of 8. A transposed layer has padding 2 before and 3 after its input, so
/// that its output has twice the rows and columns of its input, as the next layer's input in the table implies.
inline constexpr std::array<NamedLayer, 22> kTable1{{
    {"resnet_c1", 224, 3, 64, 7, 3, 2, false},   {"resnet_c2", 56, 64, 64, 3, 1, 1, false},
    {"resnet_c3", 56, 64, 128, 3, 0, 2, false},  {"resnet_c4", 28, 128, 128, 3, 1, 1, false},
    {"resnet_c5", 28, 128, 256, 3, 0, 2, false}, {"resnet_c6", 14, 256, 256, 3, 1, 1, false},
    {"resnet_c7", 14, 256, 512, 3, 0, 2, false}, {"resnet_c8", 7, 512, 512, 3, 1, 1, false},
    {"gan_tc1", 4, 512, 256, 5, 2, 2, true},     {"gan_tc2", 8, 256, 128, 5, 2, 2, true},
    {"gan_tc3", 16, 128, 64, 5, 2, 2, true},     {"gan_tc4", 32, 64, 3, 5, 2, 2, true},
    {"gan_c1", 64, 3, 64, 5, 2, 2, false},       {"gan_c2", 32, 64, 128, 5, 2, 2, false},
    {"gan_c3", 16, 128, 256, 5, 2, 2, false},    {"gan_c4", 8, 256, 512, 5, 2, 2, false},
    {"yolo_c1", 224, 3, 32, 3, 1, 1, false},     {"yolo_c2", 112, 32, 64, 3, 1, 1, false},
    {"yolo_c3", 56, 64, 128, 3, 1, 1, false},    {"yolo_c4", 28, 128, 256, 3, 1, 1, false},
    {"yolo_c5", 14, 256, 512, 3, 1, 1, false},   {"yolo_c6", 7, 512, 1024, 3, 1, 1, false},
}};

}  // namespace conv
