// Graphs for the programs on paths, and what their results should be, by the host's own algorithms.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "workloads/common/random.h"

namespace workload {

struct Edge {
  unsigned from, to;
  float weight;
};

/// At most one edge from each vertex to each other, in order of `from`, then `to`; none to itself.
struct Graph {
  unsigned vertices = 0;
  std::vector<Edge> edges;
};

/// The kinds, and what `density` means for them:
///   random      round(density * vertices * (vertices - 1)) of the possible edges
///   grid        neighbours in a square grid whose last row may be shorter; density does not count
///   scale-free  each vertex joins with max(1, round(density * vertices / 2)) of those before it, chosen by their degree (Barabasi
///               and Albert, Science 286, 1999)
///   dag         vertices in 16 layers; the share of the edges from each layer to later ones: no cycle, no path of over 15 edges
/// Edges of grid and scale-free go both ways, with the same weight. With `symmetric` those of random do, too. Numbers of
/// vertices are random but in a grid.
struct GraphKind {
  std::string name;
  double density;
  bool symmetric;
};

/// Weights are whole numbers of [1, most]; those of `distinct_weights` are 1, 2, 3, ... in random order over pairs of vertices.
Graph random_graph(Random& random, unsigned vertices, const GraphKind& kind, unsigned most);
void distinct_weights(Random& random, Graph& graph);
/// Leaves out edges so that a vertex has at most two to the vertices 4 i ... 4 i + 3, for each i.
void make_two_of_four(Graph& graph);

/// What is best over all paths between two vertices.
enum class Paths {
  shortest,        ///< least sum
  longest,         ///< greatest sum; the graph has no cycle
  least_product,   ///< the graph has no cycle
  most_product,    ///< weights at most 1
  bottleneck,      ///< least greatest weight
  widest,          ///< greatest least weight
  reachable,       ///< 1 or 0
};
/// What there is where no path is, and from a vertex to itself.
float absent(Paths paths);
float trivial(Paths paths);
/// By Floyd and Warshall, in double precision; element from * vertices + to.
std::vector<double> best_paths(const Graph& graph, Paths paths);

/// Of a symmetric graph with distinct weights: 1 for each edge of its minimum spanning forest, both directions, by Kruskal.
std::vector<unsigned> minimum_spanning_forest(const Graph& graph);

}  // namespace workload
