// Earliest meeting nodes: for each pair of last-level caches, the node at which the data from both can first be combined before
// they reach a core (Opportunistic Computing, ISCA '19, Algorithm 1).
//
// The candidates are the nodes that lie both on an XY or YX path from the core to one cache and on an XY or YX path from the
// core to the other, regardless of the network's routing; the core is no candidate. The candidate with the smallest sum of
// distances to both caches is selected. Ties go to the first candidate: path pairs are tried in the order (XY, XY), (XY, YX),
// (YX, XY), (YX, YX), the nodes of a path from the core on.
#pragma once

#include <functional>
#include <vector>

namespace lacuna {

/// Returns the nodes of a path, both ends included. Alternatives are numbered from 0.
using NodePaths = std::function<std::vector<unsigned>(unsigned from, unsigned to, unsigned alternative)>;

/// XY (alternative 0) and YX (alternative 1) paths of a mesh whose node x + y * columns is at (x, y).
NodePaths mesh_paths(unsigned columns);

class EmnTable {
 public:
  static constexpr unsigned kNone = ~0U;

  /// `caches`: nodes of the last-level caches. `paths`: null for a crossbar, where packets meet only at the caches' own nodes.
  /// `alternatives`: number of paths between two nodes.
  EmnTable(const std::vector<unsigned>& cores, std::vector<unsigned> caches, const NodePaths& paths, unsigned alternatives);

  /// The meeting node of caches `a` and `b` on their paths to `core`, or kNone. Arguments are indices into the constructor's
  /// lists.
  unsigned find(unsigned core, unsigned a, unsigned b) const {
    return nodes_[(core * caches_.size() + a) * caches_.size() + b];
  }
  const std::vector<unsigned>& caches() const { return caches_; }

 private:
  std::vector<unsigned> caches_;
  std::vector<unsigned> nodes_;  ///< meeting nodes by core, cache a, cache b
};

}  // namespace lacuna
