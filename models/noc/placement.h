// Placement of a fabric's sources and destinations on nodes.
#pragma once

#include <string>
#include <vector>

#include "models/noc/fabric_parameters.h"
#include "models/noc/topology.h"

namespace lacuna {

struct FabricPlacement {
  unsigned nodes = 0;                  ///< number of nodes of the fabric
  std::vector<unsigned> sources;       ///< node of each source
  std::vector<unsigned> destinations;  ///< node of each destination
};

/// Additional sources and destinations, each at the node of another source or destination. Guests have the highest numbers.
struct FabricGuests {
  std::vector<unsigned> sources;       ///< the source whose node each guest shares
  std::vector<unsigned> destinations;  ///< the destination whose node each guest shares
};

/// Places sources and destinations; `source_count` and `destination_count` exclude guests. A fabric without routers has as many
/// nodes as sources and destinations other than guests; a topology with routers has the nodes of its shape. Throws
/// std::invalid_argument that describes the mistake in a shape or a list of nodes.
FabricPlacement place(const FabricParameters& parameters, unsigned source_count, unsigned destination_count,
                      const FabricGuests& guests = {});

enum class Repeats : bool { refused, allowed };

/// The nodes of a list, separated by blanks or semicolons, each parsed by Topology::parse_node(). Throws std::invalid_argument
/// that describes the mistake: not a node, or a repetition.
std::vector<unsigned> parse_placement(const std::string& text, const Topology& topology, Repeats repeats = Repeats::refused);
/// The nodes of a list of numbers below `nodes`, such as "0 5 17". Throws std::invalid_argument that describes the mistake.
std::vector<unsigned> parse_placement(const std::string& text, unsigned nodes, Repeats repeats = Repeats::refused);

}  // namespace lacuna
