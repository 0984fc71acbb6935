#include "models/noc/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace lacuna {
namespace {

/// Parses a list of nodes; `parse` converts a word to a node, or throws.
template <class Parse>
std::vector<unsigned> parse_list(std::string text, Repeats repeats, const Parse& parse) {
  std::replace(text.begin(), text.end(), ';', ' ');
  std::istringstream words(text);
  std::vector<unsigned> nodes;
  for (std::string word; words >> word;) {
    const unsigned node = parse(word);
    if (repeats == Repeats::refused && std::find(nodes.begin(), nodes.end(), node) != nodes.end()) {
      throw std::invalid_argument(fmt::format("position {} is named twice", word));
    }
    nodes.push_back(node);
  }
  return nodes;
}

/// Parses a list of nodes for `topology`, or, if null, for a fabric without routers.
std::vector<unsigned> parse_nodes(const Topology* topology, const char* what, const std::string& text, unsigned nodes,
                                  Repeats repeats) {
  try {
    return topology != nullptr ? parse_placement(text, *topology, repeats) : parse_placement(text, nodes, repeats);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace

FabricPlacement place(const FabricParameters& parameters, unsigned source_count, unsigned destination_count,
                      const FabricGuests& guests) {
  const std::unique_ptr<const Topology> topology =
      parameters.topology->has_routers() ? parameters.topology->make(parameters) : nullptr;
  const unsigned nodes = topology != nullptr ? topology->terminals() : source_count + destination_count;
  std::vector<unsigned> places = parse_nodes(topology.get(), "placement", parameters.placement, nodes, Repeats::refused);
  if (places.empty() && topology == nullptr) {
    places.resize(destination_count);
    std::iota(places.begin(), places.end(), source_count);
  } else if (places.empty()) {
    const unsigned count = std::min(destination_count, nodes);
    for (unsigned i = 0; i < count; ++i) places.push_back((2 * i + 1) * nodes / (2 * count));
  }
  std::vector<unsigned> others =
      parse_nodes(topology.get(), "source_placement", parameters.source_placement, nodes, Repeats::allowed);
  if (others.empty()) {
    for (unsigned node = 0; node < nodes; ++node) {
      if (std::find(places.begin(), places.end(), node) == places.end()) others.push_back(node);
    }
  }
  // If every node has a destination, sources share nodes with destinations.
  if (others.empty()) {
    others.resize(nodes);
    std::iota(others.begin(), others.end(), 0U);
  }
  FabricPlacement result;
  result.nodes = topology != nullptr ? topology->nodes() : nodes;
  for (unsigned i = 0; i < destination_count; ++i) result.destinations.push_back(places[i % places.size()]);
  for (unsigned i = 0; i < source_count; ++i) result.sources.push_back(others[i % others.size()]);
  for (const unsigned host : guests.destinations) result.destinations.push_back(result.destinations.at(host));
  for (const unsigned host : guests.sources) result.sources.push_back(result.sources.at(host));
  return result;
}

std::vector<unsigned> parse_placement(const std::string& text, const Topology& topology, Repeats repeats) {
  return parse_list(text, repeats, [&topology](const std::string& word) { return topology.parse_node(word); });
}

std::vector<unsigned> parse_placement(const std::string& text, unsigned nodes, Repeats repeats) {
  return parse_list(text, repeats, [nodes](const std::string& word) { return parse_node_number(word, nodes); });
}

}  // namespace lacuna
