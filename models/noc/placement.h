// Where the sources and destinations of a fabric sit: their nodes.
#pragma once

#include <string>
#include <vector>

#include "models/noc/fabric_parameters.h"

namespace lacuna {

struct FabricPlacement {
  unsigned nodes = 0;                  ///< of the fabric
  std::vector<unsigned> sources;       ///< node of each source
  std::vector<unsigned> destinations;  ///< node of each destination
};

/// A crossbar has as many nodes as sources and destinations together; mesh and butterfly have what their shape says.
/// std::invalid_argument says what is wrong with a shape or a list of nodes.
FabricPlacement place(const FabricParameters& parameters, unsigned source_count, unsigned destination_count);

/// Position in a mesh.
struct MeshNode {
  unsigned x = 0;
  unsigned y = 0;
  bool operator==(const MeshNode&) const = default;
};

enum class Repeats : bool { refused, allowed };

/// Nodes as "x,y x,y ..." (blanks or semicolons between them). std::invalid_argument names what is wrong: not two numbers,
/// outside the mesh, twice the same.
std::vector<MeshNode> parse_placement(const std::string& text, unsigned columns, unsigned rows,
                                      Repeats repeats = Repeats::refused);
/// Nodes as "0 5 17 ...", below `nodes`; otherwise the same.
std::vector<unsigned> parse_placement(const std::string& text, unsigned nodes, Repeats repeats = Repeats::refused);

}  // namespace lacuna
