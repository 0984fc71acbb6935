// Computes the transitive and reflexive closure of a directed graph: for each vertex, the vertices that are reachable from it.
//
// The baseline is Warshall's algorithm on bits, in blocks of 64 vertices: a lane holds a row's 64 bits of a block, and one OR
// adds the vertices that are reachable from another row. The matrix algorithms are those of workloads/common/closure.h, with 1
// and 0 in half precision.
//
// `published` is the algorithm of cuBool, the baseline named in the SIMD2 thesis: repeated squaring of a Boolean matrix in
// compressed rows, until the number of elements does not grow.
#include <utility>

#include "workloads/common/closure.h"
#include "workloads/common/csr.h"
#include "workloads/gtc/sparse_closure.h"

using bits = unsigned long long;

// Bit j of word i * words + w is set if vertex i reaches vertex 64 w + j.

// Computes the closure of the 64 x 64 bits on the diagonal, one row per lane.
__device__ static bits closed_diagonal(const bits* matrix, unsigned words, unsigned block, unsigned vertices) {
  const unsigned row = min(block * 64 + threadIdx.x % 64, vertices - 1);
  bits mine = matrix[static_cast<size_t>(row) * words + block];
  for (unsigned k = 0; k < 64; ++k) {
    const bits row_k = bits{static_cast<unsigned>(__builtin_amdgcn_readlane(static_cast<int>(mine >> 32), k))} << 32 |
                       static_cast<unsigned>(__builtin_amdgcn_readlane(static_cast<int>(mine), k));
    mine |= mine >> k & 1 ? row_k : 0;
  }
  return mine;
}

// Updates the block's rows: each wavefront closes the diagonal block itself, and then computes one word of the 64 rows as the
// OR of the rows that are reachable in the diagonal block.
__global__ void __launch_bounds__(64)
    close_rows(bits* matrix, bits* diagonal, unsigned words, unsigned block, unsigned vertices) {
  const unsigned lane = threadIdx.x, row = block * 64 + lane, word = blockIdx.x;
  const bits reached = closed_diagonal(matrix, words, block, vertices);
  // The diagonal block is still read by other workgroups.
  if (word == block) {
    diagonal[lane] = reached;
    return;
  }
  const bits before = row < vertices ? matrix[static_cast<size_t>(row) * words + word] : 0;
  bits all = before;
  for (unsigned k = 0; k < 64; ++k) {
    const bits row_k = bits{static_cast<unsigned>(__builtin_amdgcn_readlane(static_cast<int>(before >> 32), k))} << 32 |
                       static_cast<unsigned>(__builtin_amdgcn_readlane(static_cast<int>(before), k));
    all |= reached >> k & 1 ? row_k : 0;
  }
  if (row < vertices) matrix[static_cast<size_t>(row) * words + word] = all;
}

// Updates all rows: a row that reaches vertices of the block also reaches what they reach. A workgroup updates 16 words of 16
// rows, and holds these words of the block's rows in LDS. The block's word of a row may be read before or after another
// workgroup has updated that word: vertices that the update adds contribute only rows that are already included.
__global__ void __launch_bounds__(256)
    close_all(bits* matrix, const bits* diagonal, unsigned words, unsigned block, unsigned vertices) {
  constexpr unsigned edge = 16;
  __shared__ bits tile[64][edge];
  const unsigned x = threadIdx.x % edge, y = threadIdx.x / edge, word = blockIdx.x * edge + x, row = blockIdx.y * edge + y;
#pragma unroll
  for (unsigned i = 0; i < 64; i += edge) {
    const unsigned k = i + y, other = min(block * 64 + k, vertices - 1);
    tile[k][x] = word == block ? diagonal[k] : matrix[static_cast<size_t>(other) * words + min(word, words - 1)];
  }
  __syncthreads();
  if (row >= vertices || word >= words) return;
  bits* const mine = matrix + static_cast<size_t>(row) * words;
  const bits direct = mine[block];
  bits all = mine[word];
#pragma unroll 8
  for (unsigned k = 0; k < 64; ++k) all |= direct >> k & 1 ? tile[k][x] : 0;
  mine[word] = all;
}

// Runs the first 1 / `slices` of the rounds. Returns the number of all rounds as a multiple of those that were run.
static double warshall(bits* matrix, bits* diagonal, unsigned words, unsigned vertices, unsigned slices) {
  const unsigned rounds = workload::groups(words, slices);
  for (unsigned block = 0; block < rounds; ++block) {
    close_rows<<<words, 64>>>(matrix, diagonal, words, block, vertices);
    close_all<<<dim3(workload::groups(words, 16), workload::groups(vertices, 16)), 256>>>(matrix, diagonal, words, block,
                                                                                          vertices);
  }
  return static_cast<double>(words) / rounds;
}

// Returns the graph's edges and the diagonal, since every vertex reaches itself.
static workload::Csr reflexive(const workload::Graph& graph) {
  workload::Csr matrix{{0}, {}};
  size_t edge = 0;
  for (unsigned from = 0; from < graph.vertices; ++from) {
    bool itself = false;
    const auto add_itself = [&] {
      if (!std::exchange(itself, true)) matrix.columns.push_back(from);
    };
    for (; edge < graph.edges.size() && graph.edges[edge].from == from; ++edge) {
      if (graph.edges[edge].to > from) add_itself();
      matrix.columns.push_back(graph.edges[edge].to);
    }
    add_itself();
    matrix.offsets.push_back(static_cast<unsigned>(matrix.columns.size()));
  }
  return matrix;
}

int main(int argc, char** argv) {
  workload::Program program("gtc", "Transitive closure of a directed graph", "SIMD2 (ISCA '22), applications: GTC");
  closure::Options options;
  options.describe(program, {"random", "grid", "scale-free", "dag"});
  return program.run(argc, argv, [&] {
    constexpr auto paths = workload::Paths::reachable;
    // The published algorithm computes rows of all products, which can be checked, and takes no steps.
    if (options.algorithm != "published") options.check_slices(program, {});
    const workload::Graph graph = options.make_graph(program.random(), false, 1);
    const unsigned n = graph.vertices;
    program.report("edges", static_cast<double>(graph.edges.size()));
    std::vector<float> reached(size_t{n} * n);
    if (options.algorithm == "baseline") {
      const unsigned words = workload::groups(n, 64);
      std::vector<bits> edges(size_t{n} * words);
      for (const workload::Edge& edge : graph.edges) edges[size_t{edge.from} * words + edge.to / 64] |= bits{1} << edge.to % 64;
      for (unsigned i = 0; i < n; ++i) edges[size_t{i} * words + i / 64] |= bits{1} << i % 64;
      const workload::DeviceArray<bits> matrix("the closure", edges), diagonal("the diagonal", 64);
      const auto slices = static_cast<unsigned>(options.slices);
      double whole = 1;
      program.measure([&] { matrix.upload(edges); },
                      [&] { whole = warshall(matrix.data(), diagonal.data(), words, n, slices); });
      program.report("whole", whole);
      if (slices > 1) return;
      const std::vector<bits> got = matrix.download();
      for (size_t i = 0; i < reached.size(); ++i)
        reached[i] = static_cast<float>(got[i / n * words + i % n / 64] >> i % n % 64 & 1);
    } else if (options.algorithm == "published") {
      const workload::Csr matrix = reflexive(graph);
      if (options.slices > 1) {
        sparse_closure::Part part(matrix, static_cast<unsigned>(options.slices));
        program.measure([&] { part.run(); });
        program.report("iterations", part.products());
        program.report("whole", part.whole());
        if (program.checks()) program.check_equal("elements of the rows of each product", part.found(), part.expected());
        return;
      }
      sparse_closure::Closure closure(matrix);
      unsigned products = 0;
      program.measure([&] { closure.prepare(); }, [&] { products = closure.run(); });
      program.report("iterations", products);
      program.report("whole", 1);
      const workload::Csr got = closure.result();
      for (unsigned row = 0; row < n; ++row) {
        for (unsigned i = got.offsets[row]; i < got.offsets[row + 1]; ++i) reached[size_t{row} * n + got.columns[i]] = 1;
      }
    } else {
      closure::Steps<simd2::orand> steps(options, graph, paths);
      program.measure([&] { steps.prepare(); }, [&] { steps.run(); });
      steps.report(program);
      if (options.slices > 1) return;
      reached = closure::without_gaps(steps.result().download(), n, steps.ld());
    }
    if (program.checks()) closure::check(program, graph, paths, reached);
  });
}
