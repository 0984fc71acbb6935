// Computes the edges of the minimum spanning forest of an undirected graph with distinct weights.
//
// The baseline is Boruvka's algorithm: each tree selects its lightest outgoing edge by atomic minima, until no tree has any.
// `published` finds these edges by sorting, like the baseline named in the SIMD2 thesis (sort_reduce.h). The matrix algorithms
// find, for all pairs of vertices, the smallest possible maximum weight of a path (workloads/common/closure.h); an edge is in
// the forest if this maximum is the edge's own weight.
//
// The weights are the 63486 finite nonzero numbers of half precision, in random order.
#include "workloads/common/closure.h"
#include "workloads/mst/sort_reduce.h"

using closure::half;
using key = unsigned long long;
constexpr key no_edge = ~key{0};
constexpr unsigned group_size = 256, positive_halves = 0x7bff;

struct Edges {
  const unsigned* from;
  const unsigned* to;
  const float* weight;
  unsigned count;
};

__device__ static unsigned item() { return blockIdx.x * group_size + threadIdx.x; }

// Returns an edge's sort key: in the upper bits, an integer that is ordered like the weight; in the lower bits, the edge's
// number.
__device__ static key key_of(const Edges& edges, unsigned edge) {
  const unsigned bits = __float_as_uint(edges.weight[edge]);
  return key{bits >> 31 ? ~bits : bits | 0x80000000u} << 32 | edge;
}

__global__ void start(unsigned* tree, unsigned* parent, key* lightest, unsigned vertices) {
  if (item() < vertices) tree[item()] = parent[item()] = item(), lightest[item()] = no_edge;
}
__global__ void find_lightest(Edges edges, const unsigned* tree, key* lightest) {
  if (item() >= edges.count) return;
  const unsigned a = tree[edges.from[item()]], b = tree[edges.to[item()]];
  if (a == b) return;
  const key mine = key_of(edges, item());
  // Most edges are not the lightest; a load is cheaper than an atomic operation.
  if (mine < lightest[a]) atomicMin(&lightest[a], mine);
  if (mine < lightest[b]) atomicMin(&lightest[b], mine);
}
__global__ void join(Edges edges, const unsigned* tree, unsigned* parent, const key* lightest, unsigned* in_forest,
                     unsigned* joined, unsigned vertices) {
  const unsigned root = item();
  if (root >= vertices || tree[root] != root || lightest[root] == no_edge) return;
  const auto edge = static_cast<unsigned>(lightest[root]);
  const unsigned a = tree[edges.from[edge]], other = a == root ? tree[edges.to[edge]] : a;
  in_forest[edge] = 1;
  *joined = 1;
  // If two trees have chosen the same edge, the tree with the lower root keeps its root.
  parent[root] = lightest[other] == lightest[root] && root < other ? root : other;
}
__global__ void follow(unsigned* tree, const unsigned* parent, key* lightest, unsigned vertices) {
  if (item() >= vertices) return;
  unsigned root = tree[item()];
  while (parent[root] != root) root = parent[root];
  tree[item()] = root;
  lightest[item()] = no_edge;
}
__global__ void choose(Edges edges, const half* least, unsigned ld, unsigned* in_forest) {
  if (item() >= edges.count) return;
  in_forest[item()] =
      static_cast<float>(least[static_cast<size_t>(edges.from[item()]) * ld + edges.to[item()]]) == edges.weight[item()];
}

class Boruvka {
 public:
  explicit Boruvka(unsigned vertices)
      : vertices_(vertices),
        tree_("the trees", vertices),
        parent_("the parents", vertices),
        lightest_("the lightest edges", vertices),
        joined_("the flag", 1) {}
  unsigned run(const Edges& edges, const workload::DeviceArray<unsigned>& in_forest) const {
    const unsigned of_vertices = workload::groups(vertices_, group_size), of_edges = workload::groups(edges.count, group_size);
    in_forest.clear();
    start<<<of_vertices, group_size>>>(tree_.data(), parent_.data(), lightest_.data(), vertices_);
    for (unsigned rounds = 0;; ++rounds) {
      joined_.clear();
      find_lightest<<<of_edges, group_size>>>(edges, tree_.data(), lightest_.data());
      join<<<of_vertices, group_size>>>(edges, tree_.data(), parent_.data(), lightest_.data(), in_forest.data(), joined_.data(),
                                        vertices_);
      if (joined_.download()[0] == 0) return rounds;
      follow<<<of_vertices, group_size>>>(tree_.data(), parent_.data(), lightest_.data(), vertices_);
    }
  }

 private:
  unsigned vertices_;
  workload::DeviceArray<unsigned> tree_, parent_;
  workload::DeviceArray<key> lightest_;
  workload::DeviceArray<unsigned> joined_;
};

// Returns weight `number` (counted from 1) in the following order: 1 and the larger numbers, the positive numbers below 1, then
// the negatives of all these in the same order.
static float weight_of(float number) {
  constexpr unsigned one = 0x3c00;
  const auto place = static_cast<unsigned>(number) - 1;
  const auto bits = static_cast<unsigned short>((one - 1 + place) % positive_halves + 1);
  const auto magnitude = static_cast<float>(__builtin_bit_cast(half, bits));
  return place < positive_halves ? magnitude : -magnitude;
}

// Rank of a weight among all halves, below 2^16.
static unsigned order_of(float weight) {
  const auto bits = __builtin_bit_cast(unsigned short, static_cast<half>(weight));
  return bits >> 15 != 0 ? 0xffffU & ~unsigned{bits} : bits | 0x8000U;
}

int main(int argc, char** argv) {
  workload::Program program("mst", "Minimum spanning forest of an undirected graph", "SIMD2 (ISCA '22), applications: MST");
  closure::Options options;
  options.describe(program, {"random", "grid", "scale-free"});
  return program.run(argc, argv, [&] {
    options.check_slices(program, {"baseline", "published"});
    workload::Graph graph = options.make_graph(program.random(), true, 1);
    workload::distinct_weights(program.random(), graph);
    const size_t pairs = graph.edges.size() / 2;
    if (pairs == 0) throw workload::UsageError("the graph has no edges: more vertices, or a higher --density");
    if (pairs > 2 * positive_halves) {
      throw workload::UsageError("a graph of " + std::to_string(pairs) + " edges: half precision has " +
                                 std::to_string(2 * positive_halves) +
                                 " different weights; --density or --vertices is too high");
    }
    for (workload::Edge& edge : graph.edges) edge.weight = weight_of(edge.weight);
    std::vector<unsigned> from, to;
    std::vector<float> weight;
    for (const workload::Edge& edge : graph.edges) {
      if (edge.from < edge.to) from.push_back(edge.from), to.push_back(edge.to), weight.push_back(edge.weight);
    }
    program.report("edges", static_cast<double>(pairs));
    const workload::DeviceArray<unsigned> device_from("the edges", from), device_to("the edges", to);
    const workload::DeviceArray<float> device_weight("the weights", weight);
    const workload::DeviceArray<unsigned> in_forest("the forest", pairs);
    const Edges edges{device_from.data(), device_to.data(), device_weight.data(), static_cast<unsigned>(pairs)};
    unsigned rounds = 0;
    if (options.algorithm == "baseline") {
      const Boruvka boruvka(graph.vertices);
      program.measure([&] { rounds = boruvka.run(edges, in_forest); });
    } else if (options.algorithm == "published") {
      std::vector<unsigned> order;
      for (const float value : weight) order.push_back(order_of(value));
      sort_reduce::Forest forest(graph.vertices, from, to, order);
      program.measure([&] { forest.prepare(), in_forest.clear(); }, [&] { rounds = forest.run(in_forest.data()); });
    } else {
      closure::Steps<simd2::minmax> steps(options, graph, workload::Paths::bottleneck);
      program.measure([&] { steps.prepare(); },
                      [&] {
                        steps.run();
                        if (options.slices > 1) return;
                        choose<<<workload::groups(pairs, group_size), group_size>>>(edges, steps.result().data(), steps.ld(),
                                                                                    in_forest.data());
                      });
      steps.report(program);
      if (options.slices > 1) return;
    }
    if (!options.by_products()) {
      program.report("iterations", rounds);
      program.report("whole", 1);
    }
    const std::vector<unsigned> chosen = in_forest.download();
    double total = 0;
    for (size_t i = 0; i < pairs; ++i) total += chosen[i] * static_cast<double>(weight[i]);
    program.report("weight", total);
    if (!program.checks()) return;
    const std::vector<unsigned> expected = workload::minimum_spanning_forest(graph);
    std::vector<unsigned> forward;
    for (size_t i = 0; i < graph.edges.size(); ++i) {
      if (graph.edges[i].from < graph.edges[i].to) forward.push_back(expected[i]);
    }
    program.check_equal("forest", chosen, forward);
  });
}
