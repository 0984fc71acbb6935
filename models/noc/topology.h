// Topologies of routed networks: which switch inputs and outputs a packet passes from one node to another.
//
// A switch output is a link (or the ejection port of a node), a switch input is where a link ends (or the injection port of a
// node). Routing is deterministic, so that a topology is a table of paths.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lacuna {

/// One switch on the way: the packet enters by `input` and leaves by `output` (indices over the whole network, of which there
/// are no more than 2^16: twelve stages of 4096). Small, because there is a path for every pair of nodes.
struct SwitchPass {
  std::uint16_t input;
  std::uint16_t output;
};

/// Position in a mesh.
struct MeshNode {
  unsigned x = 0;
  unsigned y = 0;
  bool operator==(const MeshNode&) const = default;
};

enum class MeshRouting : int { xy, yx };

class Topology {
 public:
  /// columns x rows, node x + y * columns; dimension-order routing.
  static Topology mesh(unsigned columns, unsigned rows, MeshRouting routing);
  /// radix^stages nodes, each injecting into the first stage and ejecting from the last; radix^(stages - 1) switches a stage
  /// (Dally and Towles, "Principles and Practices of Interconnection Networks", chapter 4). std::invalid_argument beyond 4096
  /// nodes.
  static Topology butterfly(unsigned radix, unsigned stages);

  unsigned nodes() const { return nodes_; }
  unsigned inputs() const { return inputs_; }
  unsigned outputs() const { return static_cast<unsigned>(output_names_.size()); }
  /// Switches from `from` to `to`, in order; never empty. The last one's output is the ejection port of `to`, all others' are
  /// links.
  std::span<const SwitchPass> path(unsigned from, unsigned to) const {
    const std::size_t i = std::size_t{from} * nodes_ + to;
    return {passes_.data() + first_[i], first_[i + 1] - first_[i]};
  }
  /// "x3y1_east", "x3y1_eject", "stage1_switch4_output2".
  const std::string& output_name(unsigned output) const { return output_names_[output]; }
  bool is_link(unsigned output) const { return is_link_[output]; }

 private:
  Topology(unsigned nodes, unsigned inputs) : nodes_(nodes), inputs_(inputs), first_{0} {}
  void add_output(std::string name, bool link);
  void add_pass(unsigned input, unsigned output);

  unsigned nodes_;
  unsigned inputs_;
  std::vector<std::string> output_names_;
  std::vector<bool> is_link_;
  std::vector<SwitchPass> passes_;
  std::vector<std::uint32_t> first_;  // by from * nodes + to
};

/// Nodes as "x,y x,y ..." (blanks or semicolons between them). std::invalid_argument names what is wrong: not two numbers,
/// outside the mesh, twice the same.
std::vector<MeshNode> parse_placement(const std::string& text, unsigned columns, unsigned rows);

}  // namespace lacuna
