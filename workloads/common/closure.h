// The best paths between all vertices of a graph, as the closure of its matrix under an operator of lacuna/simd2.h.
//
// D is the matrix of the best paths so far, W that of the edges; each step is a matrix product on the matrix unit:
//   bellman-ford  D := D (+) (W (x) D)   extends paths by one edge; --sparse: W in the unit's 2:4 form
//   leyzorek      D := D (+) (D (x) D)   doubles the number of edges of paths
// `simt` is leyzorek on vector ALUs. Elements are half; sums are float. The iteration ends after the number of steps that the
// longest possible path requires; with --convergence on, also after the first step that changes nothing, as reported by the
// step's kernel; with --convergence host, after the number of steps that this takes, which the host counts.
//
// --slices is for graphs whose products take too long to simulate: it runs the first step only, for a part of the intermediate
// vertices, or a part of Floyd-Warshall's rounds. All steps have the same kernel and sizes, as have all rounds, so that the
// time of all is that of the part times `whole`, which the closing line reports. Results are not computed.
//
// `baseline` suits vector ALUs: Floyd-Warshall in single precision, in blocks of 64 vertices (Venkataraman et al., ACM JEA 8,
// 2003): the block on the diagonal, then its row and column, then all other blocks. `published` is the baseline named in the
// SIMD2 thesis (Table 3.4). For sums of weights, the thesis names ECL-APSP, which is the same algorithm as `baseline`; for
// capacities and reliabilities, CUDA-FW (workloads/common/predecessor_closure.h).
#pragma once

#include <algorithm>
#include <cmath>

#include "lacuna/simd2.h"
#include "workloads/common/graph.h"
#include "workloads/common/matrix_unit.h"
#include "workloads/common/predecessor_closure.h"
#include "workloads/common/program.h"
#include "workloads/common/simd2_vector.h"

namespace closure {

using half = _Float16;
using simd2::opcode;

/// Row pitch in elements: an odd number of cache lines, so that the rows of a tile map to different sets of a cache.
inline unsigned pitch_of(unsigned vertices) { return (workload::groups(vertices, 64) | 1) * 64; }

// next := now (+) the product of the factors `x`. Sets *changed if an element changes. `now` is combined at the end, where
// halves are compared and stored anyway. This shortens the kernel: on small matrices, a step takes as long as fetching the
// kernel's instructions.
template <opcode op, unsigned tile, typename Factors>
__global__ void __launch_bounds__(simd2::workgroup_size, simd2::wavefronts<tile>)
    matrix_step(Factors x, unsigned ld, const half* __restrict__ now, half* __restrict__ next, unsigned* changed) {
  const unsigned row0 = blockIdx.y * tile, column0 = blockIdx.x * tile;
  const size_t first = static_cast<size_t>(row0) * ld + column0;
  unsigned change = 0;
  simd2::multiply<op, tile>(
      x, row0, column0, [](unsigned, unsigned, auto& values) { values = simd2::identity<op>(); },
      [&](unsigned row, unsigned column, auto values) {
        constexpr unsigned count = simd2::count_of<decltype(values)>;
        using halves = simd2::detail::vector<half, count, 2>;
        const unsigned offset = (__umul24(row - row0, ld) + column - column0) * 2;
        const halves before = simd2::detail::at<const halves>(now + first, offset),
                     product = __builtin_convertvector(values, halves);
        const halves after =
            simd2::takes_minimum(op) ? __builtin_elementwise_min(before, product) : __builtin_elementwise_max(before, product);
        if constexpr (count == 1) {
          change |= after[0] != before[0];
        } else {
          using words = unsigned __attribute__((ext_vector_type(count / 2)));
          const words differs = __builtin_bit_cast(words, before) ^ __builtin_bit_cast(words, after);
#pragma unroll
          for (unsigned i = 0; i < count / 2; ++i) change |= differs[i];
        }
        simd2::detail::at<halves>(next + first, offset) = after;
      });
  if (change != 0) *changed = 1;
}
template <opcode op>
__global__ void __launch_bounds__(simd2_vector::workgroup_size)
    vector_step(simd2_vector::Factors<half> x, unsigned ld, half* now, half* next, unsigned* changed) {
  constexpr unsigned tile = simd2_vector::tile;
  bool change = false;
  const auto before = [&](unsigned row, unsigned column, unsigned count) {
    return simd2_vector::load_four(now + static_cast<size_t>(row) * ld + column, count);
  };
  simd2_vector::multiply<op>(x, blockIdx.y * tile, blockIdx.x * tile, before,
                             [&](unsigned row, unsigned column, unsigned count, float4 values) {
                               const float4 old = before(row, column, count);
                               change |= old.x != values.x || (count > 1 && old.y != values.y) ||
                                         (count > 2 && old.z != values.z) || (count > 3 && old.w != values.w);
                               simd2_vector::store_four(next + static_cast<size_t>(row) * ld + column, count, values);
                             });
  if (change) *changed = 1;
}

// Floyd-Warshall within the block on the diagonal. A work-item keeps 2 x 4 elements in registers. Two vertices are processed
// together: each work-item itself applies the first vertex to the row and column of the second vertex.
template <opcode op>
__global__ void __launch_bounds__(512) diagonal_block(float* d, unsigned ld, unsigned first, unsigned vertices) {
  constexpr unsigned block = simd2_vector::tile;
  using simd2_vector::combined;
  __shared__ float4 rows[2][2][block / 4];
  __shared__ float2 columns[2][2][block / 2];
  const unsigned y = threadIdx.x / 16, x = threadIdx.x % 16, count = min(block, vertices - first);
  float best[2][4];
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned row = min(first + y * 2 + i / 4, vertices - 1), column = min(first + x * 4 + i % 4, vertices - 1);
    best[i / 4][i % 4] = d[static_cast<size_t>(row) * ld + column];
  }
  for (unsigned k4 = 0; k4 < count; k4 += 4) {
#pragma unroll
    for (unsigned pair = 0; pair < 2; ++pair) {
      auto& row_pair = rows[pair];
      auto& column_pair = columns[pair];
      const unsigned k = 2 * pair;
      // The work-items that hold rows and columns k4 + k and k4 + k + 1 store them to LDS.
      if (y == k4 / 2 + pair) {
#pragma unroll
        for (unsigned i = 0; i < 2; ++i) row_pair[i][x] = make_float4(best[i][0], best[i][1], best[i][2], best[i][3]);
      }
      if (x == k4 / 4) {
#pragma unroll
        for (unsigned i = 0; i < 2; ++i) column_pair[i][y] = make_float2(best[0][k + i], best[1][k + i]);
      }
      __syncthreads();
      const float4 row = row_pair[0][x], next_row = row_pair[1][x];
      const float2 column = column_pair[0][y], next_column = column_pair[1][y];
      const float ahead = reinterpret_cast<const float*>(row_pair[0])[k4 + k + 1],
                  back = reinterpret_cast<const float*>(column_pair[0])[k4 + k + 1];
      const float from_row[4] = {row.x, row.y, row.z, row.w}, from_column[2] = {column.x, column.y};
      float second_row[4] = {next_row.x, next_row.y, next_row.z, next_row.w}, second_column[2] = {next_column.x, next_column.y};
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) second_row[i] = combined<op>(second_row[i], back, from_row[i]);
#pragma unroll
      for (unsigned i = 0; i < 2; ++i) second_column[i] = combined<op>(second_column[i], from_column[i], ahead);
        // Rows and columns after the last vertex repeat that vertex. This changes nothing, since paths through it are already
        // covered.
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) {
        float& element = best[i / 4][i % 4];
        element = combined<op>(element, from_column[i / 4], from_row[i % 4]);
        element = combined<op>(element, second_column[i / 4], second_row[i % 4]);
      }
    }
  }
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned row = first + y * 2 + i / 4, column = first + x * 4 + i % 4;
    if (row < vertices && column < vertices) d[static_cast<size_t>(row) * ld + column] = best[i / 4][i % 4];
  }
}

// Updates tiles outside the diagonal block: with `cross`, the tiles in the block's row (blockIdx.y 0) and column (1); otherwise
// all other tiles.
template <opcode op>
__global__ void __launch_bounds__(simd2_vector::workgroup_size)
    other_blocks(float* d, unsigned ld, unsigned first, unsigned vertices, bool cross) {
  constexpr unsigned block = simd2_vector::tile;
  const unsigned count = min(block, vertices - first), middle = first / block;
  const unsigned tile_y = cross && blockIdx.y == 0 ? middle : cross ? blockIdx.x : blockIdx.y;
  const unsigned tile_x = cross && blockIdx.y == 1 ? middle : blockIdx.x;
  if (cross ? blockIdx.x == middle : tile_x == middle || tile_y == middle) return;
  const simd2_vector::Factors<float> x{d + first, d + static_cast<size_t>(first) * ld, vertices, vertices, count, ld, ld};
  simd2_vector::multiply<op>(
      x, tile_y * block, tile_x * block,
      [=](unsigned row, unsigned column, unsigned valid) {
        return simd2_vector::load_four(d + static_cast<size_t>(row) * ld + column, valid);
      },
      [=](unsigned row, unsigned column, unsigned valid, float4 values) {
        simd2_vector::store_four(d + static_cast<size_t>(row) * ld + column, valid, values);
      });
}

/// Computes the closure of the matrix in place, or the first 1 / `slices` of the rounds. Returns the number of all rounds as a
/// multiple of those that were run.
template <opcode op>
double floyd_warshall(float* d, unsigned ld, unsigned vertices, unsigned slices = 1) {
  const unsigned blocks = workload::groups(vertices, simd2_vector::tile), rounds = workload::groups(blocks, slices);
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned first = round * simd2_vector::tile;
    diagonal_block<op><<<1, 512>>>(d, ld, first, vertices);
    if (blocks == 1) break;
    other_blocks<op><<<dim3(blocks, 2), simd2_vector::workgroup_size>>>(d, ld, first, vertices, true);
    other_blocks<op><<<dim3(blocks, blocks), simd2_vector::workgroup_size>>>(d, ld, first, vertices, false);
  }
  return static_cast<double>(blocks) / rounds;
}

/// Returns the matrix of a graph's edges; diagonal elements have the value of a path without edges.
template <typename T>
std::vector<T> matrix_of(const workload::Graph& graph, workload::Paths paths, unsigned ld) {
  std::vector<T> matrix(size_t{graph.vertices} * ld, static_cast<T>(workload::absent(paths)));
  for (const workload::Edge& edge : graph.edges) matrix[size_t{edge.from} * ld + edge.to] = static_cast<T>(edge.weight);
  for (unsigned i = 0; i < graph.vertices; ++i) matrix[size_t{i} * ld + i] = static_cast<T>(workload::trivial(paths));
  return matrix;
}

/// Number of vertices up to which --convergence host examines the paths from all vertices; from larger graphs it takes
/// `host_sources` vertices.
constexpr unsigned all_sources = 2048, host_sources = 256;

struct Options {
  int vertices = 0, slices = 1;
  double density = 0;
  std::string graph, algorithm, convergence;
  bool sparse = false, structured = false;

  /// `graphs`: kinds of graphs that the program accepts, the default first.
  void describe(workload::Program& program, const std::vector<std::string>& graphs) {
    program.size(vertices, "vertices", "vertices of the graph", {100, 512, 1024}, 1, 1 << 14);
    program.choice(graph, "graph", "its kind", graphs, graphs.front());
    program.real(density, "density", "the share of all possible edges that it has", {0.05, 0.01, 0.01}, 0, 1);
    program.choice(algorithm, "algorithm",
                   "the usual one on vector ALUs, or the one that the SIMD2 thesis compares with; steps of matrix products on "
                   "a gfx90a with "
                   "mfma.extensions; leyzorek's on vector ALUs",
                   {"baseline", "published", "bellman-ford", "leyzorek", "simt"}, std::string("baseline"));
    program.choice(convergence, "convergence",
                   "on: steps end with one that changes nothing; host: after the number of steps that this takes, counted by "
                   "the host; off: after the number that any graph needs",
                   {"on", "off", "host"}, std::string("on"));
    program.size(slices, "slices",
                 "run only the first of this number of parts of a step, or of Floyd-Warshall's rounds, without results", 1, 1,
                 1 << 12);
    program.flag(structured, "structured", "no vertex has more than two edges to the vertices 4i ... 4i + 3");
    program.flag(sparse, "sparse", "bellman-ford with the 2:4 sparse form of the matrix unit; the graph is structured");
  }
  bool by_products() const { return algorithm != "baseline" && algorithm != "published"; }
  /// Throws a UsageError if parts of a run are requested that would need results which are not computed. `depends_on_data`:
  /// algorithms whose control flow depends on results of earlier kernels.
  void check_slices(const workload::Program& program, const std::vector<std::string>& depends_on_data) const {
    if (slices == 1) return;
    if (program.checks()) throw workload::UsageError("--slices: results of a part are not computed, so --check has none");
    for (const std::string& name : depends_on_data) {
      if (algorithm == name)
        throw workload::UsageError("--slices: the work of --algorithm " + name + " depends on results, so it runs as a whole");
    }
    if (by_products() && convergence == "on")
      throw workload::UsageError("--slices: --convergence on depends on results; host counts the steps, off runs them all");
  }
  workload::Graph make_graph(workload::Random& random, bool symmetric, unsigned most) const {
    if (sparse && algorithm != "bellman-ford")
      throw workload::UsageError("--sparse is for --algorithm bellman-ford: the square of a sparse matrix is not sparse");
    if (algorithm == "bellman-ford" || algorithm == "leyzorek") workload::require_matrix_unit("--algorithm " + algorithm);
    workload::Graph made = workload::random_graph(random, vertices, {graph, density, symmetric}, most);
    if (structured || sparse) workload::make_two_of_four(made, symmetric);
    return made;
  }
};

// W compressed to the 2:4 form; arrays of one element if the form is not needed (`wanted`).
template <opcode op>
struct Compressed {
  Compressed(bool wanted, const std::vector<half>& edges, unsigned vertices, unsigned ld, half absent)
      : values("the values of the edges", wanted ? size_t{vertices} * simd2::compressed_ld(vertices) / 2 : 1),
        positions("the positions of the edges", wanted ? size_t{vertices} * simd2::compressed_ld(vertices) / 16 : 1) {
    if (!wanted) return;
    // The diagonal is not needed, since C contains it.
    std::vector<half> without = edges;
    for (unsigned i = 0; i < vertices; ++i) without[size_t{i} * ld + i] = absent;
    std::vector<half> kept(values.size());
    std::vector<unsigned short> places(positions.size());
    const unsigned row = simd2::compress<op>(without.data(), vertices, vertices, ld, kept.data(), places.data(), absent);
    if (row != vertices) throw workload::Error("vertex " + std::to_string(row) + " has too many edges for the sparse unit");
    values.upload(kept), positions.upload(places);
  }
  workload::DeviceArray<half> values;
  workload::DeviceArray<unsigned short> positions;
};

/// Runs the steps of a matrix algorithm.
template <opcode op>
class Steps {
 public:
  Steps(const Options& options, const workload::Graph& graph, workload::Paths paths)
      : options_(options),
        n_(graph.vertices),
        ld_(pitch_of(n_)),
        depth_(options.slices == 1
                   ? n_
                   : std::min(n_, workload::groups(workload::groups(n_, static_cast<unsigned>(options.slices)), 64) * 64)),
        steps_(number_of_steps(options, graph, paths)),
        edges_(matrix_of<half>(graph, paths, ld_)),
        w_("the edges", edges_),
        d_{{"the paths", edges_}, {"the next paths", edges_}},
        changed_("the flag", 1),
        compressed_(options.sparse, edges_, n_, ld_, static_cast<half>(workload::absent(paths))) {}

  void prepare() const { d_[0].upload(edges_); }
  void run() {
    for (iterations_ = 0; iterations_ < steps_;) {
      changed_.clear();
      step(iterations_ % 2);
      ++iterations_;
      // A part is one step; the host reads the flag whenever a program would that ends with a step without changes.
      const bool changed = options_.convergence != "off" && changed_.download()[0] != 0;
      if (options_.slices > 1 || (options_.convergence == "on" && !changed)) break;
    }
  }
  /// Reports the number of steps, and `whole`.
  void report(workload::Program& program) const {
    const bool part = options_.slices > 1;
    program.report("iterations", part ? steps_ : iterations_);
    program.report("whole", part ? steps_ * static_cast<double>(n_) / depth_ : 1);
  }
  const workload::DeviceArray<half>& result() const { return d_[iterations_ % 2]; }
  unsigned ld() const { return ld_; }

 private:
  /// Number of steps after which the iteration ends at the latest.
  static unsigned number_of_steps(const Options& options, const workload::Graph& graph, workload::Paths paths) {
    const bool one_more = options.algorithm == "bellman-ford";
    // Number of steps that extend paths of one edge to paths of `edges`.
    const auto steps_to = [=](unsigned edges) {
      return one_more ? edges - 1 : static_cast<unsigned>(std::ceil(std::log2(static_cast<double>(edges))));
    };
    const unsigned most = steps_to(std::max(graph.vertices, 2U) - 1);
    if (options.convergence != "host") return most;
    const unsigned sources = graph.vertices <= all_sources ? graph.vertices : host_sources;
    return std::min(most, steps_to(std::max(1U, workload::edges_of_best_paths(graph, paths, sources))) + 1);
  }
  void step(unsigned from) const {
    half *const now = d_[from].data(), *const next = d_[1 - from].data();
    if (options_.algorithm == "simt") {
      const unsigned groups = workload::groups(n_, simd2_vector::tile);
      vector_step<op><<<dim3(groups, groups), simd2_vector::workgroup_size>>>({now, now, n_, n_, depth_, ld_, ld_}, ld_, now,
                                                                              next, changed_.data());
    } else if (options_.sparse) {
      multiply(simd2::sparse_factors{compressed_.values.data(), compressed_.positions.data(), now, n_, n_, depth_,
                                     simd2::compressed_ld(n_), ld_},
               now, next);
    } else {
      const half* const left = options_.algorithm == "bellman-ford" ? w_.data() : now;
      multiply(simd2::dense_factors{left, now, n_, n_, depth_, ld_, ld_}, now, next);
    }
  }
  template <typename Factors>
  void multiply(const Factors& x, half* now, half* next) const {
    simd2::preferred_tile(n_, n_) == 64 ? launch<64>(x, now, next) : launch<128>(x, now, next);
  }
  template <unsigned tile, typename Factors>
  void launch(const Factors& x, half* now, half* next) const {
    const unsigned groups = workload::groups(n_, tile);
    matrix_step<op, tile><<<dim3(groups, groups), simd2::workgroup_size>>>(x, ld_, now, next, changed_.data());
  }

  const Options& options_;
  unsigned n_, ld_, depth_, steps_;
  std::vector<half> edges_;
  workload::DeviceArray<half> w_, d_[2];
  workload::DeviceArray<unsigned> changed_;
  Compressed<op> compressed_;
  unsigned iterations_ = 0;
};

/// Returns the matrix as floats, without the gaps between its rows.
template <typename T>
std::vector<float> without_gaps(const std::vector<T>& matrix, unsigned vertices, unsigned ld) {
  std::vector<float> dense(size_t{vertices} * vertices);
  for (size_t i = 0; i < dense.size(); ++i) dense[i] = static_cast<float>(matrix[i / vertices * ld + i % vertices]);
  return dense;
}

/// Checks that the result for every pair of vertices equals the host's, which must be exactly representable as half, like the
/// matrix unit's inputs.
inline void check(workload::Program& program, const workload::Graph& graph, workload::Paths paths,
                  const std::vector<float>& got) {
  const std::vector<double> best = workload::best_paths(graph, paths);
  for (const double value : best) {
    if (static_cast<double>(static_cast<half>(static_cast<float>(value))) != value)
      throw workload::Error("a path of " + std::to_string(value) +
                            " is not exact in half precision: fewer vertices, or another graph");
  }
  program.check_equal("paths", got, std::vector<float>(best.begin(), best.end()));
}

// The following functions return the matrix of the best paths, without gaps between rows; with --slices, an empty one.

template <opcode op>
std::vector<float> run_baseline(workload::Program& program, const workload::Graph& graph, workload::Paths paths,
                                const Options& options) {
  const unsigned ld = pitch_of(graph.vertices), slices = static_cast<unsigned>(options.slices);
  const std::vector<float> edges = matrix_of<float>(graph, paths, ld);
  const workload::DeviceArray<float> d("the paths", edges);
  double whole = 1;
  program.measure([&] { d.upload(edges); }, [&] { whole = floyd_warshall<op>(d.data(), ld, graph.vertices, slices); });
  program.report("whole", whole);
  if (slices > 1) return {};
  return without_gaps(d.download(), graph.vertices, ld);
}

/// Runs CUDA-FW (predecessor_closure.h).
template <opcode op>
std::vector<float> run_with_predecessors(workload::Program& program, const workload::Graph& graph, workload::Paths paths,
                                         const Options& options) {
  const unsigned n = graph.vertices, ld = workload::groups(n, predecessor_tile) * predecessor_tile;
  // Padding rows and columns have no paths and change nothing.
  std::vector<float> edges(size_t{ld} * ld, workload::absent(paths));
  const std::vector<float> matrix = matrix_of<float>(graph, paths, ld);
  std::copy(matrix.begin(), matrix.end(), edges.begin());
  std::vector<unsigned> last(edges.size());
  for (size_t i = 0; i < last.size(); ++i) last[i] = static_cast<unsigned>(i / ld);
  const workload::DeviceArray<float> best("the paths", edges);
  const workload::DeviceArray<unsigned> predecessor("the predecessors", last);
  const auto slices = static_cast<unsigned>(options.slices);
  double whole = 1;
  program.measure([&] { best.upload(edges), predecessor.upload(last); },
                  [&] {
                    whole = predecessor_floyd_warshall<op>({best.data(), predecessor.data(), ld}, slices);
                  });
  program.report("whole", whole);
  if (slices > 1) return {};
  const std::vector<float> found = best.download();
  if (program.checks()) {
    const auto extended = [](float path, float edge) {
      return op == simd2::maxmin ? std::min(path, edge) : op == simd2::minmax ? std::max(path, edge) : path * edge;
    };
    program.check_true("every path ends with an edge from its predecessor",
                       predecessors_are_right(found, predecessor.download(), edges, n, ld, workload::absent(paths), extended));
  }
  return without_gaps(found, n, ld);
}

template <opcode op>
std::vector<float> run_published(workload::Program& program, const workload::Graph& graph, workload::Paths paths,
                                 const Options& options) {
  if constexpr (op == simd2::minplus || op == simd2::maxplus) {
    return run_baseline<op>(program, graph, paths, options);
  } else {
    return run_with_predecessors<op>(program, graph, paths, options);
  }
}

/// The main program of applications whose baseline is Floyd-Warshall. `weight` converts a whole number in [1, most] to a
/// weight.
template <opcode op, typename Weight>
int run(workload::Program& program, int argc, char** argv, workload::Paths paths, const std::vector<std::string>& graphs,
        unsigned most, Weight weight) {
  Options options;
  options.describe(program, graphs);
  return program.run(argc, argv, [&] {
    options.check_slices(program, {});
    workload::Graph graph = options.make_graph(program.random(), false, most);
    for (workload::Edge& edge : graph.edges) edge.weight = weight(edge.weight);
    program.report("edges", static_cast<double>(graph.edges.size()));
    std::vector<float> paths_found;
    if (options.algorithm == "published") {
      paths_found = run_published<op>(program, graph, paths, options);
    } else if (options.algorithm == "baseline") {
      paths_found = run_baseline<op>(program, graph, paths, options);
    } else {
      Steps<op> steps(options, graph, paths);
      program.measure([&] { steps.prepare(); }, [&] { steps.run(); });
      steps.report(program);
      if (options.slices == 1) paths_found = without_gaps(steps.result().download(), graph.vertices, steps.ld());
    }
    if (program.checks()) check(program, graph, paths, paths_found);
  });
}

}  // namespace closure
