#include "models/noc/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace lacuna {
namespace {

constexpr unsigned kMaxNodes = 4096;

enum Direction : unsigned { kLocal, kEast, kWest, kNorth, kSouth, kDirections };
constexpr std::array<const char*, kDirections> kDirectionNames{"eject", "east", "west", "north", "south"};

}  // namespace

void Topology::add_output(std::string name, bool link) {
  output_names_.push_back(std::move(name));
  is_link_.push_back(link);
}

void Topology::add_pass(unsigned input, unsigned output) {
  passes_.push_back({static_cast<std::uint16_t>(input), static_cast<std::uint16_t>(output)});
}

Topology Topology::mesh(unsigned columns, unsigned rows, MeshRouting routing) {
  if (columns == 0 || rows == 0 || std::uint64_t{columns} * rows > kMaxNodes) {
    throw std::invalid_argument(fmt::format("a mesh has 1 to {} nodes, not {} x {}", kMaxNodes, columns, rows));
  }
  const unsigned nodes = columns * rows;
  Topology topology(nodes, nodes * kDirections);
  for (unsigned node = 0; node < nodes; ++node) {
    for (unsigned d = 0; d < kDirections; ++d) {
      topology.add_output(fmt::format("x{}y{}_{}", node % columns, node / columns, kDirectionNames[d]), d != kLocal);
    }
  }
  constexpr std::array<unsigned, kDirections> kOpposite{kLocal, kWest, kEast, kSouth, kNorth};
  for (unsigned from = 0; from < nodes; ++from) {
    for (unsigned to = 0; to < nodes; ++to) {
      MeshNode at{from % columns, from / columns};
      const MeshNode end{to % columns, to / columns};
      unsigned input = kLocal;
      for (;;) {
        const unsigned along_x = at.x < end.x ? kEast : at.x > end.x ? kWest : kLocal;
        const unsigned along_y = at.y < end.y ? kSouth : at.y > end.y ? kNorth : kLocal;
        const unsigned first = routing == MeshRouting::xy ? along_x : along_y;
        const unsigned second = routing == MeshRouting::xy ? along_y : along_x;
        const unsigned output = first != kLocal ? first : second;
        const unsigned ports = (at.x + at.y * columns) * kDirections;
        topology.add_pass(ports + input, ports + output);
        if (output == kLocal) break;
        if (output == kEast) ++at.x;
        if (output == kWest) --at.x;
        if (output == kSouth) ++at.y;
        if (output == kNorth) --at.y;
        input = kOpposite[output];
      }
      topology.first_.push_back(static_cast<std::uint32_t>(topology.passes_.size()));
    }
  }
  return topology;
}

Topology Topology::butterfly(unsigned radix, unsigned stages) {
  std::uint64_t nodes = radix >= 2 && stages >= 1 ? 1 : 0;
  for (unsigned i = 0; i < stages && nodes <= kMaxNodes; ++i) nodes *= radix;
  if (nodes == 0 || nodes > kMaxNodes) {
    throw std::invalid_argument(fmt::format(
        "a butterfly has a radix of at least 2, at least one stage and at most {} nodes, not radix {} and {} stages", kMaxNodes,
        radix, stages));
  }
  const auto count = static_cast<unsigned>(nodes);
  // Input and output p of a stage belong to switch p / radix. Between stage s and the next, a packet is at the position whose
  // upper s + 1 digits are the destination's and whose lower ones are still the source's.
  Topology topology(count, count * stages);
  for (unsigned stage = 0; stage < stages; ++stage) {
    for (unsigned p = 0; p < count; ++p) {
      topology.add_output(fmt::format("stage{}_switch{}_output{}", stage, p / radix, p % radix), stage + 1 != stages);
    }
  }
  // A stage's switch sets the digit of weight radix^(stages - 1 - stage); its ports are numbered with that digit lowest.
  const auto port = [radix](unsigned position, unsigned weight) {
    const unsigned digit = position / weight % radix;
    const unsigned above = position / (weight * radix);
    const unsigned below = position % weight;
    return (above * weight + below) * radix + digit;
  };
  for (unsigned from = 0; from < count; ++from) {
    for (unsigned to = 0; to < count; ++to) {
      unsigned position = from;
      unsigned weight = count / radix;
      for (unsigned stage = 0; stage < stages; ++stage, weight /= radix) {
        const unsigned input = port(position, weight);
        const unsigned digit = position / weight % radix;
        position = position - digit * weight + to / weight % radix * weight;
        topology.add_pass(stage * count + input, stage * count + port(position, weight));
      }
      topology.first_.push_back(static_cast<std::uint32_t>(topology.passes_.size()));
    }
  }
  return topology;
}

std::vector<MeshNode> parse_placement(const std::string& text, unsigned columns, unsigned rows) {
  std::string blanks = text;
  std::replace(blanks.begin(), blanks.end(), ';', ' ');
  std::istringstream words(blanks);
  std::vector<MeshNode> placement;
  for (std::string word; words >> word;) {
    std::istringstream pair(word);
    MeshNode node;
    char comma = 0;
    const bool digits = std::isdigit(static_cast<unsigned char>(word.front())) != 0;
    if (!digits || !(pair >> node.x >> comma >> node.y) || comma != ',' || pair.peek() != std::char_traits<char>::eof()) {
      throw std::invalid_argument(fmt::format("\"{}\" is not a position \"x,y\"", word));
    }
    if (node.x >= columns || node.y >= rows) {
      throw std::invalid_argument(fmt::format("position {} is outside the mesh of {} x {}", word, columns, rows));
    }
    if (std::find(placement.begin(), placement.end(), node) != placement.end()) {
      throw std::invalid_argument(fmt::format("position {} is named twice", word));
    }
    placement.push_back(node);
  }
  return placement;
}

}  // namespace lacuna
