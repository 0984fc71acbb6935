#include "models/noc/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "models/noc/topology.h"

namespace lacuna {
namespace {

/// The words of a list; `parse` makes a node of one or throws.
template <class Node, class Parse>
std::vector<Node> parse_list(std::string text, Repeats repeats, const Parse& parse) {
  std::replace(text.begin(), text.end(), ';', ' ');
  std::istringstream words(text);
  std::vector<Node> nodes;
  for (std::string word; words >> word;) {
    const Node node = parse(word);
    if (repeats == Repeats::refused && std::find(nodes.begin(), nodes.end(), node) != nodes.end()) {
      throw std::invalid_argument(fmt::format("position {} is named twice", word));
    }
    nodes.push_back(node);
  }
  return nodes;
}

bool begins_with_digit(const std::string& word) { return std::isdigit(static_cast<unsigned char>(word.front())) != 0; }
bool at_end(std::istringstream& stream) { return stream.peek() == std::char_traits<char>::eof(); }

unsigned count_nodes(const FabricParameters& p, unsigned source_count, unsigned destination_count) {
  switch (p.topology) {
    case FabricTopology::crossbar:
      return source_count + destination_count;
    case FabricTopology::mesh:
      // A packet of one order that waits for one of the other, which waits for it, would wait for ever.
      if (p.routing == MeshRouting::o1turn && p.virtual_channels < 2) {
        throw std::invalid_argument("routing = o1turn needs virtual_channels of at least 2: one for each order");
      }
      return Topology::mesh(p.columns, p.rows, p.routing).nodes();
    case FabricTopology::butterfly:
      return Topology::butterfly(p.radix, p.stages).nodes();
  }
  throw std::invalid_argument("unknown topology");
}

std::vector<unsigned> parse_nodes(const FabricParameters& p, const char* what, const std::string& text, unsigned nodes,
                                  Repeats repeats) {
  try {
    if (p.topology != FabricTopology::mesh) return parse_placement(text, nodes, repeats);
    std::vector<unsigned> places;
    for (const MeshNode& node : parse_placement(text, p.columns, p.rows, repeats))
      places.push_back(node.x + node.y * p.columns);
    return places;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace

FabricPlacement place(const FabricParameters& parameters, unsigned source_count, unsigned destination_count,
                      const FabricGuests& guests) {
  const unsigned nodes = count_nodes(parameters, source_count, destination_count);
  std::vector<unsigned> places = parse_nodes(parameters, "placement", parameters.placement, nodes, Repeats::refused);
  if (places.empty() && parameters.topology == FabricTopology::crossbar) {
    places.resize(destination_count);
    std::iota(places.begin(), places.end(), source_count);
  } else if (places.empty()) {
    const unsigned count = std::min(destination_count, nodes);
    for (unsigned i = 0; i < count; ++i) places.push_back((2 * i + 1) * nodes / (2 * count));
  }
  std::vector<unsigned> others =
      parse_nodes(parameters, "source_placement", parameters.source_placement, nodes, Repeats::allowed);
  if (others.empty()) {
    for (unsigned node = 0; node < nodes; ++node) {
      if (std::find(places.begin(), places.end(), node) == places.end()) others.push_back(node);
    }
  }
  // Destinations on every node: sources share them.
  if (others.empty()) {
    others.resize(nodes);
    std::iota(others.begin(), others.end(), 0U);
  }
  FabricPlacement result;
  result.nodes = nodes;
  for (unsigned i = 0; i < destination_count; ++i) result.destinations.push_back(places[i % places.size()]);
  for (unsigned i = 0; i < source_count; ++i) result.sources.push_back(others[i % others.size()]);
  for (const unsigned host : guests.destinations) result.destinations.push_back(result.destinations.at(host));
  for (const unsigned host : guests.sources) result.sources.push_back(result.sources.at(host));
  return result;
}

std::vector<MeshNode> parse_placement(const std::string& text, unsigned columns, unsigned rows, Repeats repeats) {
  return parse_list<MeshNode>(text, repeats, [columns, rows](const std::string& word) {
    std::istringstream pair(word);
    MeshNode node;
    char comma = 0;
    if (!begins_with_digit(word) || !(pair >> node.x >> comma >> node.y) || comma != ',' || !at_end(pair)) {
      throw std::invalid_argument(fmt::format("\"{}\" is not a position \"x,y\"", word));
    }
    if (node.x >= columns || node.y >= rows) {
      throw std::invalid_argument(fmt::format("position {} is outside the mesh of {} x {}", word, columns, rows));
    }
    return node;
  });
}

std::vector<unsigned> parse_placement(const std::string& text, unsigned nodes, Repeats repeats) {
  return parse_list<unsigned>(text, repeats, [nodes](const std::string& word) {
    std::istringstream number(word);
    unsigned node = 0;
    if (!begins_with_digit(word) || !(number >> node) || !at_end(number)) {
      throw std::invalid_argument(fmt::format("\"{}\" is not the number of a node", word));
    }
    if (node >= nodes) throw std::invalid_argument(fmt::format("there are {} nodes, none has the number {}", nodes, node));
    return node;
  });
}

}  // namespace lacuna
