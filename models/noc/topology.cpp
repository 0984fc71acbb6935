#include "models/noc/topology.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace lacuna {

std::vector<unsigned> Topology::path_nodes(unsigned from, unsigned to, unsigned /*alternative*/) const {
  return from == to ? std::vector<unsigned>{from} : std::vector<unsigned>{from, to};
}

unsigned Topology::parse_node(const std::string& word) const { return parse_node_number(word, terminals()); }

unsigned parse_node_number(const std::string& word, unsigned nodes) {
  unsigned node = 0;
  const char* const end = word.data() + word.size();
  const auto [parsed, error] = std::from_chars(word.data(), end, node);
  if (error != std::errc() || parsed != end)
    throw std::invalid_argument(fmt::format("\"{}\" is not the number of a node", word));
  if (node >= nodes) throw std::invalid_argument(fmt::format("there are {} nodes, none has the number {}", nodes, node));
  return node;
}

}  // namespace lacuna
