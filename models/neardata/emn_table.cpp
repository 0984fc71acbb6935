#include "models/neardata/emn_table.h"

#include <algorithm>
#include <utility>

namespace lacuna {
namespace {

unsigned meeting_node(unsigned core, unsigned a, unsigned b, const NodePaths& paths, unsigned alternatives) {
  const auto distance = [&](unsigned from, unsigned to) { return paths(from, to, 0).size() - 1; };
  unsigned best = EmnTable::kNone;
  std::size_t least = ~std::size_t{0};
  for (unsigned i = 0; i < alternatives; ++i) {
    const std::vector<unsigned> to_a = paths(core, a, i);
    for (unsigned j = 0; j < alternatives; ++j) {
      const std::vector<unsigned> to_b = paths(core, b, j);
      for (const unsigned node : to_a) {
        if (node == core || std::find(to_b.begin(), to_b.end(), node) == to_b.end()) continue;
        const std::size_t sum = distance(node, a) + distance(node, b);
        if (sum < least) {
          least = sum;
          best = node;
        }
      }
    }
  }
  return best;
}

}  // namespace

NodePaths mesh_paths(unsigned columns) {
  return [columns](unsigned from, unsigned to, unsigned alternative) {
    std::vector<unsigned> nodes{from};
    const auto go = [&](unsigned stride, unsigned begin, unsigned end) {
      for (; begin < end; ++begin) nodes.push_back(nodes.back() + stride);
      for (; begin > end; --begin) nodes.push_back(nodes.back() - stride);
    };
    const auto in_row = [&] { go(1, from % columns, to % columns); };
    const auto in_column = [&] { go(columns, from / columns, to / columns); };
    if (alternative == 0) {
      in_row();
      in_column();
    } else {
      in_column();
      in_row();
    }
    return nodes;
  };
}

EmnTable::EmnTable(const std::vector<unsigned>& cores, std::vector<unsigned> caches, const NodePaths& paths,
                   unsigned alternatives)
    : caches_(std::move(caches)) {
  nodes_.reserve(cores.size() * caches_.size() * caches_.size());
  for (const unsigned core : cores) {
    for (const unsigned a : caches_) {
      for (const unsigned b : caches_) {
        nodes_.push_back(a == b ? a : paths ? meeting_node(core, a, b, paths, alternatives) : kNone);
      }
    }
  }
}

}  // namespace lacuna
