// PageRank by power iteration: rank'[i] = (1 - d) / n + d * sum over the edges j -> i of rank[j] / out(j), d = 0.85. One kernel
// per iteration, a sparse product. Every node has an edge to its successor, so that all have outgoing edges; the
// other edges are random. The algorithm is that of Hetero-Mark's PageRank; the default size is MGPUSim's, in which 0.001 of all
// pairs of nodes are edges, but at least one per node.
//
//   tuned   as in spmv, the number of lanes that share a node depends on the average number of edges
//   suite   the kernel of Hetero-Mark: a wavefront per node, whose lanes' sums are added in LDS. Its host computes base and
//           damping; here the kernel does
#include <hip/hip_runtime.h>

#include <utility>

#include "workloads/common/csr.h"
#include "workloads/common/lanes.h"
#include "workloads/common/program.h"
#include "workloads/suite/operands.h"

constexpr unsigned group_size = 256, wavefront = 64;
constexpr float damping = 0.85f;

template <unsigned lanes>
__global__ void __launch_bounds__(group_size)
    iterate(const unsigned* __restrict__ offsets, const unsigned* __restrict__ sources, const float* __restrict__ shares,
            const float* __restrict__ ranks, float* __restrict__ next, unsigned nodes, float base) {
  const unsigned item = blockIdx.x * group_size + threadIdx.x, node = item / lanes, lane = item % lanes;
  const unsigned begin = node < nodes ? offsets[node] : 0, end = node < nodes ? offsets[node + 1] : 0;
  const float sum = workload::row_dot<lanes>(sources, shares, ranks, begin, end, lane);
  if (node < nodes && lane == 0) next[node] = base + damping * sum;
}

// The node's index is in a vector register, so that its two offsets are loaded by vector loads of a word each.
__global__ void __launch_bounds__(wavefront)
    iterate_in_lds(const unsigned* __restrict__ offsets, const unsigned* __restrict__ sources, const float* __restrict__ shares,
                   const float* __restrict__ ranks, float* __restrict__ next, float base) {
  __shared__ float sums[wavefront];
  const unsigned node = workload::unknown(unsigned{blockIdx.x}), lane = threadIdx.x;
  const unsigned begin = offsets[node], end = offsets[workload::unknown(node + 1)];
  float sum = 0;
  for (unsigned i = begin + lane; i < end; i += wavefront) sum += shares[i] * ranks[sources[i]];
  sums[lane] = sum;
  __syncthreads();
#pragma unroll
  for (unsigned distance = wavefront / 2; distance > 0; distance /= 2) {
    if (lane < distance) sums[lane] += sums[lane + distance];
    __syncthreads();
  }
  if (lane == 0) next[node] = base + damping * sums[0];
}

// Builds the matrix: a node's row consists of the edges that end in the node.
static workload::Csr with_successors(const workload::Csr& random_edges) {
  workload::Csr graph;
  graph.offsets = {0};
  const size_t nodes = random_edges.rows();
  for (size_t node = 0; node < nodes; ++node) {
    const unsigned before = (node + nodes - 1) % nodes;
    bool has_it = false;
    for (size_t i = random_edges.offsets[node]; i < random_edges.offsets[node + 1]; ++i) {
      graph.columns.push_back(random_edges.columns[i]);
      has_it = has_it || random_edges.columns[i] == before;
    }
    if (!has_it) graph.columns.push_back(before);
    graph.offsets.push_back(graph.columns.size());
  }
  return graph;
}

int main(int argc, char** argv) {
  workload::Program program("pagerank", "PageRank of a random graph by power iteration",
                            "LazyGPU (ISCA '25), Table 3: PageRank of Hetero-Mark");
  int nodes = 0, edges = 0, iterations = 0;
  program.size(nodes, "nodes", "nodes", {2000, 16, 32768}, 1, 1 << 24);
  program.size(edges, "edges", "random edges, in addition to one from each node to its successor", {6000, 0, 491'520}, 0);
  program.size(iterations, "iterations", "iterations", {3, 16, 4});
  std::string form;
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  return program.run(argc, argv, [&] {
    const workload::Csr graph = with_successors(workload::random_csr(program.random(), nodes, nodes, edges));
    std::vector<unsigned> out(nodes);
    for (const unsigned source : graph.columns) ++out[source];
    std::vector<float> shares;
    for (const unsigned source : graph.columns) shares.push_back(1.0f / static_cast<float>(out[source]));
    const std::vector<float> start(nodes, 1.0f / static_cast<float>(nodes));
    const workload::DeviceArray<unsigned> offsets("the row offsets", graph.offsets), sources("the edges", graph.columns);
    const workload::DeviceArray<float> device_shares("the shares", shares), ranks("the ranks", start.size()),
        next("next", start.size());
    const unsigned lanes = workload::lanes_for_rows(graph);
    const float base = (1 - damping) / static_cast<float>(nodes);
    const float* result = nullptr;
    program.measure(
        [&] { ranks.upload(start); },
        [&] {
          const auto kernel = lanes == 1 ? iterate<1> : lanes == 4 ? iterate<4> : lanes == 16 ? iterate<16> : iterate<64>;
          float *from = ranks.data(), *to = next.data();
          for (int i = 0; i < iterations; ++i) {
            if (form == "suite") {
              iterate_in_lds<<<nodes, wavefront>>>(offsets.data(), sources.data(), device_shares.data(), from, to, base);
            } else {
              kernel<<<workload::groups(size_t(nodes) * lanes, group_size), group_size>>>(
                  offsets.data(), sources.data(), device_shares.data(), from, to, nodes, base);
            }
            std::swap(from, to);
          }
          result = from;
        });
    program.report("entries", graph.entries());
    if (!program.checks()) return;
    std::vector<double> expected(start.begin(), start.end()), following(nodes);
    for (int iteration = 0; iteration < iterations; ++iteration) {
      for (size_t node = 0; node < graph.rows(); ++node) {
        double sum = 0;
        for (size_t i = graph.offsets[node]; i < graph.offsets[node + 1]; ++i) {
          sum += expected[graph.columns[i]] / out[graph.columns[i]];
        }
        following[node] = (1 - double{damping}) / nodes + double{damping} * sum;
      }
      expected.swap(following);
    }
    // No value is negative, so that relative errors only add: each iteration has a sum, a rounded share, a product and a
    // rounded base.
    const double error = workload::sum_error((graph.longest_row() + 12.0) * iterations);
    program.check_near("the rank", (result == ranks.data() ? ranks : next).download(), expected,
                       [&](size_t i) { return error * expected[i]; });
  });
}
