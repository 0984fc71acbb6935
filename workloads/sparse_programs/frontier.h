// Programs that follow edges from a list of vertices, the frontier: breadth-first search, neighbours within k hops, shortest
// paths and k-core. The list contains the elements of x that contribute to x A, so that the rest of the matrix is not read.
//
//   push    lanes share the edges that leave a vertex of the frontier
//   pull    a work-item searches the edges that enter its vertex for the first one from the frontier; used while the frontier
//           has many edges (Beamer et al., SC '12, with their alpha = 14 and beta = 24)
//
// A kernel appends to the next list with one atomic addition per wavefront, and counts edges with one atomic addition per
// vertex; the host reads the list's size before the next step.
#pragma once

#include <utility>

#include "workloads/sparse_programs/product.h"
#include "workloads/sparse_programs/run.h"

namespace workload {

constexpr unsigned unseen = ~0u;

/// A list of vertices written by a kernel, and the number of edges that leave them.
struct VertexList {
  unsigned *vertices, *size, *edges;

  /// Appends `vertex`, which has `degree` outgoing edges. Only the lanes that have found a vertex call the function.
  __device__ void append(unsigned vertex, unsigned degree) const {
    const unsigned long long finders = __ballot(true);
    const unsigned lane = threadIdx.x % 64;
    const int leader = __ffsll(finders) - 1;
    unsigned base = 0;
    if (static_cast<int>(lane) == leader) base = atomicAdd(size, static_cast<unsigned>(__popcll(finders)));
    base = __shfl(base, leader);
    vertices[base + __popcll(finders & ((1ull << lane) - 1))] = vertex;
    if (degree != 0) atomicAdd(edges, degree);
  }
};

/// Calls step.edge(index in the list, entry, vertex that the edge enters) for each edge that leaves a listed vertex.
template <unsigned lanes, typename Step>
__global__ void __launch_bounds__(group_size) push(Rows rows, const unsigned* __restrict__ list, unsigned size, Step step) {
  const unsigned item = blockIdx.x * group_size + threadIdx.x, place = item / lanes, lane = item % lanes;
  if (place >= size) return;
  const unsigned vertex = list[place];
  for (unsigned entry = rows.offsets[vertex] + lane, end = rows.offsets[vertex + 1]; entry < end; entry += lanes)
    step.edge(place, entry, rows.columns[entry]);
}

/// Calls step.vertex(i) for all vertices.
template <typename Step>
__global__ void __launch_bounds__(group_size) each_vertex(Step step, unsigned count) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i < count) step.vertex(i);
}

/// Passes size and number of edges of a list to the host and clears the counters. A template only so that a header can define
/// it.
template <unsigned counters>
__global__ void publish(unsigned* counts, unsigned* for_host) {
  for_host[threadIdx.x] = counts[threadIdx.x];
  counts[threadIdx.x] = 0;
}

/// The lists of two consecutive steps, in GPU memory.
class Frontier {
 public:
  explicit Frontier(unsigned vertices)
      : first_("the frontier", vertices), second_("the next frontier", vertices), counts_("the frontier's size", 2) {}

  /// Sets the first list; to be called before each run.
  void start(const std::vector<unsigned>& vertices) {
    counts_.clear();
    from_ = &first_, to_ = &second_;
    size_ = static_cast<unsigned>(vertices.size()), edges_ = 0;
    if (!vertices.empty())
      require(hipMemcpy(first_.data(), vertices.data(), size_ * sizeof(unsigned), hipMemcpyHostToDevice),
              "copying the frontier");
  }
  const unsigned* list() const { return from_->data(); }
  unsigned size() const { return size_; }
  unsigned edges() const { return edges_; }
  VertexList next() const { return {to_->data(), counts_.data(), counts_.data() + 1}; }
  /// Waits for the kernels, then makes the next list the current list.
  void advance() {
    publish<2><<<1, 2>>>(counts_.data(), for_host_.data());
    size_ = for_host_[0], edges_ = for_host_[1];
    std::swap(from_, to_);
  }
  std::vector<unsigned> download() const {
    std::vector<unsigned> vertices = from_->download();
    vertices.resize(size_);
    return vertices;
  }
  template <typename Step>
  void push_from(const Rows& rows, unsigned lanes, const Step& step) const {
    if (size_ == 0) return;
    const auto kernel = lanes == 1    ? push<1, Step>
                        : lanes == 2  ? push<2, Step>
                        : lanes == 4  ? push<4, Step>
                        : lanes == 8  ? push<8, Step>
                        : lanes == 16 ? push<16, Step>
                        : lanes == 32 ? push<32, Step>
                                      : push<64, Step>;
    kernel<<<groups(size_t(size_) * lanes, group_size), group_size>>>(rows, from_->data(), size_, step);
  }

 private:
  DeviceArray<unsigned> first_, second_, counts_;
  const DeviceArray<unsigned>*from_ = &first_, *to_ = &second_;
  HostScalars<unsigned> for_host_{2};
  unsigned size_ = 0, edges_ = 0;
};

/// A matrix stored by rows, without values; kernels follow its entries as edges.
class Edges {
 public:
  explicit Edges(const SparseValues& matrix)
      : offsets_("the row offsets", matrix.pattern.offsets), columns_("the columns", matrix.pattern.columns) {
    const size_t mean = matrix.pattern.entries() / matrix.pattern.rows() + 1;
    // One wavefront per vertex if some vertices have very many edges.
    while (lanes_ < 64 && (lanes_ * 2 <= mean || matrix.pattern.longest_row() > 1024)) lanes_ *= 2;
  }
  Rows rows() const { return {offsets_.data(), columns_.data(), nullptr}; }
  unsigned lanes() const { return lanes_; }

 private:
  DeviceArray<unsigned> offsets_, columns_;
  unsigned lanes_ = 1;
};

// -- breadth-first search, neighbours within k hops

/// `once`: each vertex is reached once, and `from` and `to` are the same array; otherwise, a vertex may be reached again in
/// each step. Both arrays hold the last step that has reached each vertex.
template <bool once>
struct ReachStep {
  const unsigned* from;
  unsigned* to;
  const unsigned* leaving;  ///< row offsets of outgoing edges
  VertexList next;
  unsigned level;

  __device__ bool claim(unsigned vertex) const {
    if constexpr (once) return to[vertex] == unseen && atomicCAS(&to[vertex], unseen, level) == unseen;
    return to[vertex] != level && atomicExch(&to[vertex], level) != level;
  }
  __device__ void edge(unsigned, unsigned, unsigned vertex) const {
    if (claim(vertex)) next.append(vertex, leaving[vertex + 1] - leaving[vertex]);
  }
};

template <bool once>
struct PullStep {
  ReachStep<once> reach;
  Rows entering;

  __device__ void vertex(unsigned vertex) const {
    if (once && reach.to[vertex] != unseen) return;
    for (unsigned entry = entering.offsets[vertex], end = entering.offsets[vertex + 1]; entry < end; ++entry) {
      if (reach.from[entering.columns[entry]] != reach.level - 1) continue;
      reach.to[vertex] = reach.level;
      reach.next.append(vertex, reach.leaving[vertex + 1] - reach.leaving[vertex]);
      return;
    }
  }
};

template <bool once>
ProgramRun run_reach(Program& program, const Application& application, const RunOptions& options) {
  const unsigned vertices = application.rows();
  const Edges leaving(application.by_rows()), entering(application.by_columns());
  std::vector<unsigned> start(vertices, unseen);
  start[options.source] = 0;
  const DeviceArray<unsigned> reached("the step that reaches a vertex", start),
      other("the same of the next step", once ? 1 : vertices);
  Frontier frontier(vertices);
  ProgramRun run;
  unsigned pulls = 0;
  program.measure(
      [&] {
        reached.upload(start);
        if (!once) other.upload(std::vector<unsigned>(vertices, unseen));
        frontier.start({options.source});
      },
      [&] {
        unsigned *from = reached.data(), *to = once ? reached.data() : other.data();
        std::uint64_t left = application.entries();
        bool pull = false;
        run.iterations = pulls = 0;
        do {
          const auto level = static_cast<unsigned>(++run.iterations);
          const ReachStep<once> step{from, to, leaving.rows().offsets, frontier.next(), level};
          pull = frontier.edges() > left / 14 || (pull && frontier.size() >= vertices / 24);
          if (pull) {
            each_vertex<<<groups(vertices, group_size), group_size>>>(PullStep<once>{step, entering.rows()}, vertices);
          } else {
            frontier.push_from(leaving.rows(), leaving.lanes(), step);
          }
          pulls += pull;
          if (once) left -= std::min<std::uint64_t>(left, frontier.edges());
          frontier.advance();
          std::swap(from, to);
        } while (run.iterations < application.limit() && (!once || frontier.size() != 0));
      });
  if (once) {
    run.check = [&program, levels = reached.download()](const ApplicationResult& expected) {
      const std::vector<int> depths = expected.elements<int>();
      program.check_equal("the depth", levels, std::vector<unsigned>(depths.begin(), depths.end()));
    };
  } else {
    std::vector<unsigned char> neighbours(vertices);
    for (const unsigned vertex : frontier.download()) neighbours[vertex] = 1;
    run.check = [&program, neighbours](const ApplicationResult& expected) {
      program.check_equal("the neighbour", neighbours, expected.elements<unsigned char>());
    };
  }
  program.report("form", "push_" + std::to_string(leaving.lanes()));
  program.report("pulls", pulls);
  return run;
}

// -- shortest paths

/// Relaxes edges of vertices whose distance has changed. Distances are not negative, so that their bit patterns have the same
/// order.
struct RelaxStep {
  const double *values, *start;  ///< value of each entry; distance of each vertex in the list
  unsigned long long* distances;
  unsigned* queued;  ///< for each vertex, the last step that has listed it
  VertexList next;
  unsigned step;

  __device__ void edge(unsigned place, unsigned entry, unsigned vertex) const {
    const double candidate = start[place] + values[entry];
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(candidate));
    if (bits >= distances[vertex] || bits >= atomicMin(&distances[vertex], bits)) return;
    if (atomicExch(&queued[vertex], step) != step) next.append(vertex, 0);
  }
};

/// Copies the distances from which this step starts, so that the step's changes only affect the next step.
struct TakeDistances {
  const unsigned* list;
  const double* distances;
  double* start;

  __device__ void vertex(unsigned place) const { start[place] = distances[list[place]]; }
};

inline ProgramRun run_sssp(Program& program, const Application& application, const RunOptions& options) {
  const unsigned vertices = application.rows();
  const SparseValues matrix = application.by_rows();
  const Edges leaving(matrix);
  const std::vector<double> infinite = application.contents<double>("distance", vertices);
  const DeviceArray<double> values("the lengths", matrix.values), distances("the distances", infinite),
      taken("starts", vertices);
  const DeviceArray<unsigned> queued("the listed vertices", vertices);
  Frontier frontier(vertices);
  ProgramRun run;
  program.measure(
      [&] {
        distances.upload(infinite);
        queued.clear();
        frontier.start({options.source});
      },
      [&] {
        run.iterations = 0;
        do {
          const auto step = static_cast<unsigned>(++run.iterations);
          each_vertex<<<groups(frontier.size(), group_size), group_size>>>(
              TakeDistances{frontier.list(), distances.data(), taken.data()}, frontier.size());
          frontier.push_from(leaving.rows(), leaving.lanes(),
                             RelaxStep{values.data(), taken.data(), reinterpret_cast<unsigned long long*>(distances.data()),
                                       queued.data(), frontier.next(), step});
          frontier.advance();
        } while (run.iterations < application.limit() && frontier.size() != 0);
      });
  run.check = [&program, result = distances.download()](const ApplicationResult& expected) {
    program.check_equal("the distance", result, expected.elements<double>());
  };
  program.report("form", "push_" + std::to_string(leaving.lanes()));
  return run;
}

// -- k-core

/// Decrements the degree of a neighbour of a peeled vertex.
struct DecrementStep {
  int* degrees;
  __device__ void edge(unsigned, unsigned, unsigned vertex) const { atomicSub(&degrees[vertex], 1); }
};

struct PeelStep {
  const int* degrees;
  int *left, *cores;
  VertexList next;
  int k;

  __device__ void vertex(unsigned vertex) const {
    if (left[vertex] == 0 || degrees[vertex] > k) return;
    left[vertex] = 0;
    cores[vertex] = k;
    next.append(vertex, 0);
  }
};

inline ProgramRun run_kcore(Program& program, const Application& application, const RunOptions&) {
  const unsigned vertices = application.rows();
  const Edges leaving(application.by_rows());
  const std::vector<int> start = application.contents<int>("degree", vertices);
  const DeviceArray<int> degrees("the degrees", start), left("the remaining vertices", std::vector<int>(vertices, 1)),
      cores("cores", vertices);
  Frontier frontier(vertices);
  ProgramRun run;
  program.measure(
      [&] {
        degrees.upload(start);
        left.upload(std::vector<int>(vertices, 1));
        cores.clear();
        frontier.start({});
      },
      [&] {
        unsigned remaining = vertices;
        int k = 0;
        bool peeled = true;
        run.iterations = 0;
        do {
          frontier.push_from(leaving.rows(), leaving.lanes(), DecrementStep{degrees.data()});
          if (!peeled) ++k;
          each_vertex<<<groups(vertices, group_size), group_size>>>(
              PeelStep{degrees.data(), left.data(), cores.data(), frontier.next(), k}, vertices);
          frontier.advance();
          peeled = frontier.size() != 0;
          remaining -= frontier.size();
        } while (++run.iterations < application.limit() && remaining != 0);
      });
  run.check = [&program, result = cores.download()](const ApplicationResult& expected) {
    program.check_equal("the core number", result, expected.elements<int>());
  };
  program.report("form", "push_" + std::to_string(leaving.lanes()));
  return run;
}

}  // namespace workload
