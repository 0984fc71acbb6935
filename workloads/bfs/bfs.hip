// Breadth-first search, level by level: one work-item per node of the frontier visits the node's neighbours, and the wavefront
// appends those not yet reached to the next frontier with one atomic addition. SHOC's BFS on a random graph; sizes are
// MGPUSim's.
//
//   tuned   as above
//   suite   the kernels of Rodinia, for near-data computing, after P. Harish and P. J. Narayanan (2007): one work-item per node
//           of the graph, active if the frontier's mask contains the node; costs and masks per node instead of a list, and no
//           atomic operations
//   shoc    the kernel of SHOC, for LazyGPU, after S. Hong et al. (PPoPP 2011): 32 lanes read the levels of 32 nodes one after
//           the other and share the edges of each node of the current level; no list, and no atomic operations
#include <hip/hip_runtime.h>

#include "workloads/common/csr.h"
#include "workloads/common/program.h"
#include "workloads/suite/operands.h"

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
    // The load only avoids atomics; the exchange decides which of several lanes has reached the node first.
    if (levels[neighbour] != unseen || atomicCAS(&levels[neighbour], unseen, level) != unseen) continue;
    const unsigned long long finders = __ballot(true);
    const int leader = __ffsll(finders) - 1;
    unsigned base = 0;
    if (static_cast<int>(lane) == leader) base = atomicAdd(next_size, static_cast<unsigned>(__popcll(finders)));
    base = __shfl(base, leader);
    next[base + __popcll(finders & ((1ull << lane) - 1))] = neighbour;
  }
}

// One work-item per node. `edges_begin` and `edges_count` are two arrays: members of a structure would be read by one load of 8
// bytes. Pointers are not `restrict`, so that each iteration of the loop reloads the operands of its condition and of the cost,
// as written in the source. `unknown` extends a mask's byte to 32 bits, because offload packets support comparisons of 32 bits.
extern "C" __global__ void __launch_bounds__(group_size)
    bfs_visit(const unsigned* edges_begin, const unsigned* edges_count, const unsigned* edges, unsigned char* mask,
              unsigned char* updated, const unsigned char* visited, unsigned* cost, unsigned nodes) {
  const unsigned node = blockIdx.x * group_size + threadIdx.x;
  if (node >= nodes || workload::unknown(unsigned{mask[node]}) == 0) return;
  mask[node] = 0;
  for (unsigned edge = edges_begin[node]; edge < edges_begin[node] + edges_count[node]; ++edge) {
    const unsigned neighbour = edges[edge];
    if (workload::unknown(unsigned{visited[neighbour]}) != 0) continue;
    cost[neighbour] = cost[node] + 1;
    updated[neighbour] = 1;
  }
}

// The nodes that were reached become the next frontier; *more is set if there are any.
extern "C" __global__ void __launch_bounds__(group_size)
    bfs_update(unsigned char* mask, unsigned char* updated, unsigned char* visited, unsigned* more, unsigned nodes) {
  const unsigned node = blockIdx.x * group_size + threadIdx.x;
  if (node >= nodes || workload::unknown(unsigned{updated[node]}) == 0) return;
  mask[node] = 1;
  visited[node] = 1;
  *more = 1;
  updated[node] = 0;
}

// *more is set if a node was reached. Several lanes may reach a node at a time: all of them store the same level.
__global__ void __launch_bounds__(group_size)
    expand_chunks(const unsigned* __restrict__ offsets, const unsigned* __restrict__ neighbours, unsigned* levels,
                  unsigned* more, unsigned nodes, unsigned level) {
  constexpr unsigned chunk = 32;
  const unsigned item = blockIdx.x * group_size + threadIdx.x, lane = item % chunk;
  const unsigned first = item - lane, end = min(first + chunk, nodes);
  for (unsigned node = first; node < end; ++node) {
    if (levels[node] != level) continue;
    const unsigned edges_end = offsets[node + 1];
    for (unsigned edge = offsets[node] + lane; edge < edges_end; edge += chunk) {
      const unsigned neighbour = neighbours[edge];
      if (levels[neighbour] != unseen) continue;
      levels[neighbour] = level + 1;
      *more = 1;
    }
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
  std::string form;
  program.size(nodes, "nodes", "nodes", {4000, 64, 1 << 17}, 1, 1 << 26);
  program.size(degree, "degree", "edges that leave each node, at most as many as nodes", {3, 3, 6}, 1, 1024);
  program.choice(form, "form", "the kernels", {"tuned", "suite", "shoc"}, std::string("tuned"));
  return program.run(argc, argv, [&] {
    const workload::Csr graph = workload::random_regular_csr(program.random(), nodes, nodes, degree);
    const workload::DeviceArray<unsigned> offsets("the row offsets", graph.offsets), neighbours("the edges", graph.columns);
    const workload::DeviceArray<unsigned> levels("the levels", nodes);
    std::vector<unsigned> start(nodes, unseen);
    start[0] = 0;
    // Arrays that a form does not use have one element: lists of `tuned` and masks of `suite`.
    const bool suite = form == "suite", tuned = form == "tuned";
    const size_t list = tuned ? nodes : 1, masks = suite ? nodes : 1;
    const workload::DeviceArray<unsigned> frontier("the frontier", list), next("the next frontier", list);
    const workload::DeviceArray<unsigned> next_size("the frontier's size", 1);
    std::vector<unsigned> degrees(masks, degree);
    std::vector<unsigned char> only_first(masks);
    only_first[0] = 1;
    const workload::DeviceArray<unsigned> counts("the numbers of edges", degrees);
    const workload::DeviceArray<unsigned char> mask("the mask", masks), updated("the next mask", masks),
        visited("nodes reached", masks);
    unsigned depth = 0;
    const auto search_by_list = [&] {
      const workload::DeviceArray<unsigned>*from = &frontier, *to = &next;
      for (unsigned size = 1; size != 0; std::swap(from, to)) {
        next_size.clear();
        expand<<<workload::groups(size, group_size), group_size>>>(offsets.data(), neighbours.data(), levels.data(),
                                                                   from->data(), size, to->data(), next_size.data(), ++depth);
        size = next_size.download()[0];
      }
    };
    const auto search_by_masks = [&] {
      const unsigned groups = workload::groups(nodes, group_size);
      for (unsigned more = 1; more != 0; ++depth) {
        next_size.clear();
        bfs_visit<<<groups, group_size>>>(offsets.data(), counts.data(), neighbours.data(), mask.data(), updated.data(),
                                          visited.data(), levels.data(), nodes);
        bfs_update<<<groups, group_size>>>(mask.data(), updated.data(), visited.data(), next_size.data(), nodes);
        more = next_size.download()[0];
      }
    };
    const auto search_by_levels = [&] {
      const unsigned groups = workload::groups(nodes, group_size);
      for (unsigned more = 1; more != 0; ++depth) {
        next_size.clear();
        expand_chunks<<<groups, group_size>>>(offsets.data(), neighbours.data(), levels.data(), next_size.data(), nodes, depth);
        more = next_size.download()[0];
      }
    };
    program.measure(
        [&] {
          levels.upload(start), frontier.upload({0});
          mask.upload(only_first), visited.upload(only_first), updated.clear();
        },
        [&] {
          depth = 0;
          tuned ? search_by_list() : suite ? search_by_masks() : search_by_levels();
        });
    program.report("kernels", suite ? 2 * depth : depth);
    if (!program.checks()) return;
    program.check_equal("the level", levels.download(), reference_levels(graph));
  });
}
