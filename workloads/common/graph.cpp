#include "workloads/common/graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "workloads/common/error.h"

namespace workload {
namespace {

constexpr unsigned layers = 16;
constexpr float infinity = std::numeric_limits<float>::infinity();

using Pairs = std::vector<std::pair<unsigned, unsigned>>;

bool before(const Edge& a, const Edge& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; }

std::vector<unsigned> shuffled_numbers(Random& random, unsigned count) {
  std::vector<unsigned> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  for (unsigned i = count; i > 1; --i) std::swap(numbers[i - 1], numbers[random.below(i)]);
  return numbers;
}

// Returns a random choice of the pairs for which `possible` is true; `density`: share of these pairs.
template <typename Possible>
Pairs chosen_pairs(Random& random, unsigned vertices, double density, Possible possible) {
  // The possible pairs are not stored: of 16,384 vertices they would take 2 GB.
  const auto for_each = [&](auto use) {
    for (unsigned from = 0; from < vertices; ++from) {
      for (unsigned to = 0; to < vertices; ++to) {
        if (from != to && possible(from, to)) use(from, to);
      }
    }
  };
  std::size_t count = 0;
  for_each([&](unsigned, unsigned) { ++count; });
  const std::vector<std::size_t> numbers = choose(random, count, density);
  Pairs chosen;
  std::size_t number = 0;
  for_each([&](unsigned from, unsigned to) {
    if (chosen.size() < numbers.size() && numbers[chosen.size()] == number) chosen.emplace_back(from, to);
    ++number;
  });
  return chosen;
}

Pairs grid(unsigned vertices) {
  const auto width = static_cast<unsigned>(std::ceil(std::sqrt(vertices)));
  Pairs pairs;
  for (unsigned i = 0; i < vertices; ++i) {
    if (i % width + 1 < width && i + 1 < vertices) pairs.emplace_back(i, i + 1);
    if (i + width < vertices) pairs.emplace_back(i, i + width);
  }
  return pairs;
}

Pairs scale_free(Random& random, unsigned vertices, double density) {
  const auto each = static_cast<unsigned>(std::max(1.0, std::round(density * vertices / 2)));
  Pairs pairs;
  std::vector<unsigned> ends{0};  // each vertex once for each of its edges
  for (unsigned vertex = 1; vertex < vertices; ++vertex) {
    std::set<unsigned> others;
    while (others.size() < std::min(each, vertex)) others.insert(ends[random.below(ends.size())]);
    for (const unsigned other : others) {
      pairs.emplace_back(vertex, other);
      ends.push_back(vertex);
      ends.push_back(other);
    }
  }
  return pairs;
}

// Calls use(sum, better) with the operations of a kind of paths, on doubles.
template <typename Use>
auto with_operations(Paths paths, Use use) {
  const auto sum = [](double a, double b) { return a + b; };
  const auto product = [](double a, double b) { return a * b; };
  const auto greatest = [](double a, double b) { return std::max(a, b); };
  const auto least = [](double a, double b) { return std::min(a, b); };
  const auto less = [](double a, double b) { return a < b; };
  const auto more = [](double a, double b) { return a > b; };
  switch (paths) {
    case Paths::shortest:
      return use(sum, less);
    case Paths::longest:
      return use(sum, more);
    case Paths::least_product:
      return use(product, less);
    case Paths::most_product:
      return use(product, more);
    case Paths::bottleneck:
      return use(greatest, less);
    case Paths::widest:
    case Paths::reachable:
      break;
  }
  return use(least, more);
}

template <typename Sum, typename Better>
void floyd_warshall(std::vector<double>& best, unsigned vertices, Sum sum, Better better) {
  for (unsigned k = 0; k < vertices; ++k) {
    const double* const through = &best[std::size_t{k} * vertices];
    for (unsigned from = 0; from < vertices; ++from) {
      double* const row = &best[std::size_t{from} * vertices];
      const double first = row[k];
      for (unsigned to = 0; to < vertices; ++to) {
        const double path = sum(first, through[to]);
        if (better(path, row[to])) row[to] = path;
      }
    }
  }
}

}  // namespace

Graph random_graph(Random& random, unsigned vertices, const GraphKind& kind, unsigned most) {
  Pairs pairs;
  bool both_ways = kind.symmetric;
  if (kind.name == "grid") {
    pairs = grid(vertices);
    both_ways = true;
  } else {
    const std::vector<unsigned> number = shuffled_numbers(random, vertices);
    if (kind.name == "random") {
      pairs = chosen_pairs(random, vertices, kind.density,
                           [&](unsigned from, unsigned to) { return !kind.symmetric || from < to; });
    } else if (kind.name == "dag") {
      std::vector<unsigned> layer(vertices);
      for (unsigned i = 0; i < vertices; ++i) layer[i] = static_cast<unsigned>(std::size_t{i} * layers / vertices);
      pairs = chosen_pairs(random, vertices, kind.density, [&](unsigned from, unsigned to) { return layer[from] < layer[to]; });
    } else {
      pairs = scale_free(random, vertices, kind.density);
      both_ways = true;
    }
    for (auto& [from, to] : pairs) from = number[from], to = number[to];
  }
  Graph graph{vertices, {}};
  for (const auto& [from, to] : pairs) {
    const auto weight = static_cast<float>(1 + random.below(most));
    graph.edges.push_back({from, to, weight});
    if (both_ways) graph.edges.push_back({to, from, weight});
  }
  std::sort(graph.edges.begin(), graph.edges.end(), before);
  return graph;
}

void distinct_weights(Random& random, Graph& graph) {
  std::vector<std::size_t> forward;  // one edge of each pair
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    if (graph.edges[i].from < graph.edges[i].to) forward.push_back(i);
  }
  const std::vector<unsigned> order = shuffled_numbers(random, static_cast<unsigned>(forward.size()));
  for (std::size_t i = 0; i < forward.size(); ++i) {
    Edge& edge = graph.edges[forward[i]];
    edge.weight = static_cast<float>(order[i] + 1);
    std::lower_bound(graph.edges.begin(), graph.edges.end(), Edge{edge.to, edge.from, 0}, before)->weight = edge.weight;
  }
}

void make_two_of_four(Graph& graph, bool symmetric) {
  std::vector<Edge> kept;
  for (const Edge& edge : graph.edges) {
    const std::size_t count = kept.size();
    const bool full = count >= 2 && kept[count - 2].from == edge.from && kept[count - 2].to / 4 == edge.to / 4;
    if (!full) kept.push_back(edge);
  }
  graph.edges.clear();
  for (const Edge& edge : kept) {
    if (!symmetric || std::binary_search(kept.begin(), kept.end(), Edge{edge.to, edge.from, 0}, before))
      graph.edges.push_back(edge);
  }
}

float absent(Paths paths) {
  switch (paths) {
    case Paths::shortest:
    case Paths::least_product:
    case Paths::bottleneck:
      return infinity;
    case Paths::longest:
    case Paths::widest:
      return -infinity;
    case Paths::most_product:
    case Paths::reachable:
      return 0;
  }
  return 0;
}

float trivial(Paths paths) {
  switch (paths) {
    case Paths::shortest:
    case Paths::longest:
      return 0;
    case Paths::bottleneck:
      return -infinity;
    case Paths::widest:
      return infinity;
    case Paths::least_product:
    case Paths::most_product:
    case Paths::reachable:
      return 1;
  }
  return 0;
}

std::vector<double> best_paths(const Graph& graph, Paths paths) {
  const unsigned n = graph.vertices;
  std::vector<double> best(std::size_t{n} * n, absent(paths));
  for (const Edge& edge : graph.edges) best[std::size_t{edge.from} * n + edge.to] = edge.weight;
  for (unsigned i = 0; i < n; ++i) best[std::size_t{i} * n + i] = trivial(paths);
  with_operations(paths, [&](auto sum, auto better) { floyd_warshall(best, n, sum, better); });
  return best;
}

unsigned edges_of_best_paths(const Graph& graph, Paths paths, unsigned sources) {
  const unsigned n = graph.vertices;
  std::vector<std::size_t> first(n + 1);  // first edge of each vertex
  for (const Edge& edge : graph.edges) ++first[edge.from + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  return with_operations(paths, [&](auto sum, auto better) {
    unsigned most = 0;
    for (unsigned source = 0; source < std::min(sources, n); ++source) {
      std::vector<double> best(n, absent(paths));
      best[source] = trivial(paths);
      // Paths that the latest round has made better, with their values.
      std::vector<std::pair<unsigned, double>> changed{{source, best[source]}};
      std::vector<unsigned> round_of(n);  // latest round in which a vertex has changed
      for (unsigned round = 1; !changed.empty(); ++round) {
        std::vector<unsigned> vertices;
        for (const auto& [from, value] : changed) {
          for (std::size_t i = first[from]; i < first[from + 1]; ++i) {
            const Edge& edge = graph.edges[i];
            const double path = sum(value, static_cast<double>(edge.weight));
            if (!better(path, best[edge.to])) continue;
            best[edge.to] = path;
            if (round_of[edge.to] != round) vertices.push_back(edge.to);
            round_of[edge.to] = round;
          }
        }
        changed.clear();
        for (const unsigned vertex : vertices) changed.emplace_back(vertex, best[vertex]);
        if (!changed.empty()) most = std::max(most, round);
      }
    }
    return most;
  });
}

std::vector<unsigned> minimum_spanning_forest(const Graph& graph) {
  std::vector<unsigned> parent(graph.vertices), in_forest(graph.edges.size());
  std::iota(parent.begin(), parent.end(), 0U);
  const auto root = [&](unsigned vertex) {
    while (parent[vertex] != vertex) vertex = parent[vertex] = parent[parent[vertex]];
    return vertex;
  };
  // Both directions of an edge have the same weight, so they are adjacent after sorting.
  std::vector<std::size_t> order(graph.edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return graph.edges[a].weight != graph.edges[b].weight ? graph.edges[a].weight < graph.edges[b].weight : a < b;
  });
  for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
    const unsigned from = root(graph.edges[order[i]].from), to = root(graph.edges[order[i]].to);
    if (from == to) continue;
    parent[from] = to;
    in_forest[order[i]] = in_forest[order[i + 1]] = 1;
  }
  return in_forest;
}

}  // namespace workload
