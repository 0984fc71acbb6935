// Graphs for the path programs, and expected results computed by independent host algorithms.
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

/// A directed graph without self-loops and with at most one edge per ordered pair of vertices. Edges are sorted by `from`, then
/// `to`.
struct Graph {
  unsigned vertices = 0;
  std::vector<Edge> edges;
};

/// Kind of graph, and the meaning of `density` for each:
///   random      `density` is the share of all possible edges, with `symmetric` the share of all pairs of vertices
///   grid        neighbours in a square grid whose last row may be shorter; density is ignored
///   scale-free  each vertex is connected to max(1, round(density * vertices / 2)) previous vertices, or to all if there are
///               fewer; they are chosen by their degree (Barabasi and Albert, Science 286, 1999)
///   dag         vertices in 16 layers; `density` is the share of all possible edges from earlier to later layers. There are
///               no cycles, and paths have at most 15 edges
/// Edges of grid and scale-free, and with `symmetric` those of random, exist in both directions with the same weight. Vertices
/// are numbered randomly, except in a grid.
struct GraphKind {
  std::string name;
  double density;
  bool symmetric;
};

/// Weights are whole numbers in [1, most]; distinct_weights() assigns 1, 2, 3, ... in random order to the connected pairs of
/// vertices of a symmetric graph.
Graph random_graph(Random& random, unsigned vertices, const GraphKind& kind, unsigned most);
void distinct_weights(Random& random, Graph& graph);
/// Removes edges so that each vertex has at most two edges to the vertices 4 i ... 4 i + 3, for each i. With `symmetric`, an
/// edge and its opposite direction are removed together.
void make_two_of_four(Graph& graph, bool symmetric);

/// Quantity that is optimised over all paths between two vertices.
enum class Paths {
  shortest,       ///< smallest sum
  longest,        ///< largest sum; the graph must not have cycles
  least_product,  ///< smallest product; the graph must not have cycles
  most_product,   ///< largest product; weights are at most 1
  bottleneck,     ///< smallest maximum of weights
  widest,         ///< largest minimum of weights
  reachable,      ///< 1 or 0
};
/// absent() is the value of a pair without a path, trivial() that of the path without edges from a vertex to itself.
float absent(Paths paths);
float trivial(Paths paths);
/// Values of the best paths, computed by Floyd-Warshall in double precision; element from * vertices + to.
std::vector<double> best_paths(const Graph& graph, Paths paths);

/// Number of edges with which the paths from the vertices 0 ... `sources` - 1 are the best: the largest number, over the other
/// ends of the paths, of the smallest number of edges of a best path. Computed by Bellman-Ford's rounds; 0: there are no paths.
unsigned edges_of_best_paths(const Graph& graph, Paths paths, unsigned sources);

/// For a symmetric graph with distinct weights: 1 for each edge of its minimum spanning forest, in both directions; computed by
/// Kruskal's algorithm.
std::vector<unsigned> minimum_spanning_forest(const Graph& graph);

}  // namespace workload
