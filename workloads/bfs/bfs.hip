// Breadth-first search, level by level: a work-item for each node of the frontier looks at its neighbours, and the wavefront
// appends those that nobody has seen to the next frontier with one atomic addition. SHOC's BFS on a random graph; sizes are
// MGPUSim's.
#include <hip/hip_runtime.h>

#include "workloads/common/csr.h"
#include "workloads/common/program.h"

constexpr unsigned group_size = 256, unseen = ~0u;

__global__ void __launch_bounds__(group_size)
    expand(const unsigned* __restrict__ offsets, const unsigned* __restrict__ neighbours, unsigned* levels,
           const unsigned* __restrict__ frontier, unsigned size, unsigned* __restrict__ next, unsigned* next_size,
           unsigned level) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i >= size) return;
  const unsigned node = frontier[i], lane = threadIdx.x % 64;
  for (unsigned edge = offsets[node], end = offsets[node + 1]; edge < end; ++edge) {
    const unsigned neighbour = neighbours[edge];
    // The load only saves atomics; the exchange decides who of several has found the node.
    if (levels[neighbour] != unseen || atomicCAS(&levels[neighbour], unseen, level) != unseen) continue;
    const unsigned long long finders = __ballot(true);
    const int leader = __ffsll(finders) - 1;
    unsigned base = 0;
    if (static_cast<int>(lane) == leader) base = atomicAdd(next_size, static_cast<unsigned>(__popcll(finders)));
    base = __shfl(base, leader);
    next[base + __popcll(finders & ((1ull << lane) - 1))] = neighbour;
  }
}

static std::vector<unsigned> reference_levels(const workload::Csr& graph) {
  std::vector<unsigned> levels(graph.rows(), unseen), frontier{0}, next;
  levels[0] = 0;
  for (unsigned level = 1; !frontier.empty(); ++level) {
    next.clear();
    for (const unsigned node : frontier) {
      for (unsigned edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge) {
        unsigned& found = levels[graph.columns[edge]];
        if (found == unseen) found = level, next.push_back(graph.columns[edge]);
      }
    }
    frontier.swap(next);
  }
  return levels;
}

int main(int argc, char** argv) {
  workload::Program program("bfs", "Breadth-first search in a random graph", "LazyGPU (ISCA '25), Table 3: BFS of SHOC");
  int nodes = 0, degree = 0;
  program.size(nodes, "nodes", "nodes", {4000, 64, 1 << 17}, 1, 1 << 26);
  program.size(degree, "degree", "edges that leave each node, at most as many as nodes", {3, 3, 6}, 1, 1024);
  return program.run(argc, argv, [&] {
    const workload::Csr graph = workload::random_regular_csr(program.random(), nodes, nodes, degree);
    const workload::DeviceArray<unsigned> offsets("the row offsets", graph.offsets), neighbours("the edges", graph.columns);
    const workload::DeviceArray<unsigned> levels("the levels", nodes), frontier("the frontier", nodes),
        next("the next frontier", nodes);
    const workload::DeviceArray<unsigned> next_size("the frontier's size", 1);
    std::vector<unsigned> start(nodes, unseen);
    start[0] = 0;
    unsigned depth = 0;
    program.measure([&] { levels.upload(start), frontier.upload({0}); },
                    [&] {
                      const workload::DeviceArray<unsigned>*from = &frontier, *to = &next;
                      depth = 0;
                      for (unsigned size = 1; size != 0; std::swap(from, to)) {
                        next_size.clear();
                        expand<<<workload::groups(size, group_size), group_size>>>(offsets.data(), neighbours.data(),
                                                                                   levels.data(), from->data(), size,
                                                                                   to->data(), next_size.data(), ++depth);
                        size = next_size.download()[0];
                      }
                    });
    program.report("kernels", depth);
    if (!program.checks()) return;
    program.check_equal("the level", levels.download(), reference_levels(graph));
  });
}
