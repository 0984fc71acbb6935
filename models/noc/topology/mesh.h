// Two-dimensional mesh with dimension-order routing.
#pragma once

#include <vector>

#include "models/noc/fabric_parameters.h"
#include "models/noc/topology.h"

namespace lacuna {

/// Mesh of columns x rows, at most 64 each; the node at (x, y) is x + y * columns. `routing` selects the dimension order; with
/// o1turn, alternative 0 is xy and alternative 1 is yx. A placement names nodes as "x,y".
class MeshTopology final : public Topology {
 public:
  /// Outputs of a node's switch. x grows to the east, y to the south.
  enum Output : unsigned { kEject, kEast, kWest, kNorth, kSouth, kOutputs };
  static unsigned output(unsigned node, Output which) { return node * kOutputs + which; }

  /// Throws std::invalid_argument unless there are 1 to 64 columns and 1 to 64 rows.
  MeshTopology(unsigned columns, unsigned rows, MeshRouting routing);

  std::vector<unsigned> path_nodes(unsigned from, unsigned to, unsigned alternative = 0) const override;
  std::string output_name(unsigned output) const override;
  bool is_link(unsigned output) const override;
  unsigned columns() const { return columns_; }
  unsigned parse_node(const std::string& word) const override;
  std::size_t memory() const override;

 private:
  struct Position {
    std::uint8_t x;
    std::uint8_t y;
  };
  const SwitchPass* write_path(unsigned from, unsigned to, unsigned alternative, SwitchPass* next) const override;

  unsigned columns_;
  bool y_first_;                     // alternative 0 is yx
  std::vector<Position> positions_;  // position of each node
};

}  // namespace lacuna
