// Where the sources and destinations of a fabric sit: their nodes.
#pragma once

#include <string>
#include <vector>

#include "models/noc/fabric_parameters.h"
#include "models/noc/topology.h"

namespace lacuna {

struct FabricPlacement {
  unsigned nodes = 0;                  ///< of the fabric
  std::vector<unsigned> sources;       ///< node of each source
  std::vector<unsigned> destinations;  ///< node of each destination
};

/// Further sources and destinations, which sit at the node of another one. They have the numbers behind those that have a place
/// of their own, and take nobody's.
struct FabricGuests {
  std::vector<unsigned> sources;       ///< of each, the source at whose node it is
  std::vector<unsigned> destinations;  ///< the same of destinations
};

/// Without routers there are as many nodes as sources and destinations together, guests apart; a topology with routers has what
/// its shape says. Counts are without guests. std::invalid_argument says what is wrong with a shape or a list of nodes.
FabricPlacement place(const FabricParameters& parameters, unsigned source_count, unsigned destination_count,
                      const FabricGuests& guests = {});

enum class Repeats : bool { refused, allowed };

/// The nodes that a list names, with blanks or semicolons between them, each as Topology::parse_node() reads it.
/// std::invalid_argument names what is wrong: not a node, or twice the same.
std::vector<unsigned> parse_placement(const std::string& text, const Topology& topology, Repeats repeats = Repeats::refused);
/// Nodes as "0 5 17 ...", below `nodes`; otherwise the same.
std::vector<unsigned> parse_placement(const std::string& text, unsigned nodes, Repeats repeats = Repeats::refused);

}  // namespace lacuna
