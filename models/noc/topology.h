// Topologies of routed networks: which switch inputs and outputs a packet passes from one node to another.
//
// A switch output is a link (or the ejection port of a node), a switch input is where a link ends (or the injection port of a
// node). Where a topology has several ways between two nodes that a router may choose from, they are alternatives 0, 1 ... of
// the same length. Ways are computed: a topology takes some bytes for each node, 64 x 64 of them less than a megabyte.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/noc/fabric_parameters.h"

namespace lacuna {

/// One switch on the way: the packet enters by `input` and leaves by `output` (indices over the whole network, of which there
/// are no more than 2^16: twelve stages of 4096).
struct SwitchPass {
  std::uint16_t input;
  std::uint16_t output;
};

/// The switches from one node to another, in order; never empty. The last one's output is the ejection port, all others' are
/// links.
class SwitchPath {
 public:
  unsigned size() const { return size_; }
  const SwitchPass* begin() const { return passes_.data(); }
  const SwitchPass* end() const { return passes_.data() + size_; }
  const SwitchPass& front() const { return passes_[0]; }
  const SwitchPass& back() const { return passes_[size_ - 1]; }
  const SwitchPass& operator[](std::size_t i) const { return passes_[i]; }

 private:
  friend class Topology;
  static constexpr unsigned kMost = 127;  // from corner to corner of 64 x 64

  unsigned size_ = 0;
  std::array<SwitchPass, kMost> passes_;
};

class Topology {
 public:
  /// columns x rows of at most 64 each, node x + y * columns. Alternatives: dimension order as `routing` says; of o1turn, 0 is
  /// xy and 1 is yx.
  static Topology mesh(unsigned columns, unsigned rows, MeshRouting routing);
  /// radix^stages nodes, each injecting into the first stage and ejecting from the last; radix^(stages - 1) switches a stage
  /// (Dally and Towles, "Principles and Practices of Interconnection Networks", chapter 4). std::invalid_argument beyond 4096
  /// nodes.
  static Topology butterfly(unsigned radix, unsigned stages);

  unsigned nodes() const { return nodes_; }
  unsigned inputs() const { return ports_; }
  unsigned outputs() const { return ports_; }
  /// Ways that a packet may take between two nodes: 2 of o1turn, else 1. Functions below take one of them.
  unsigned alternatives() const { return alternatives_; }
  void find_path(unsigned from, unsigned to, unsigned alternative, SwitchPath& path) const {
    SwitchPass* const begin = path.passes_.data();
    const SwitchPass* const end =
        columns_ != 0 ? find_in_mesh(from, to, alternative, begin) : find_in_butterfly(from, to, begin);
    path.size_ = static_cast<unsigned>(end - begin);
  }
  SwitchPath path(unsigned from, unsigned to, unsigned alternative = 0) const {
    SwitchPath path;
    find_path(from, to, alternative, path);
    return path;
  }
  /// The nodes whose switches a packet passes, both ends included. Switches of a butterfly belong to no node: the ends alone.
  std::vector<unsigned> path_nodes(unsigned from, unsigned to, unsigned alternative = 0) const;
  /// "x3y1_east", "x3y1_eject", "stage1_switch4_output2".
  std::string output_name(unsigned output) const;
  bool is_link(unsigned output) const;
  /// Bytes that it takes on the host.
  std::size_t memory() const;

 private:
  struct Position {
    std::uint8_t x;
    std::uint8_t y;
  };
  Topology() = default;
  // Both write the passes and return where they end.
  const SwitchPass* find_in_mesh(unsigned from, unsigned to, unsigned alternative, SwitchPass* next) const;
  const SwitchPass* find_in_butterfly(unsigned from, unsigned to, SwitchPass* next) const;

  unsigned nodes_ = 0;
  unsigned ports_ = 0;
  unsigned alternatives_ = 1;
  // Mesh.
  unsigned columns_ = 0;
  bool y_first_ = false;             // alternative 0
  std::vector<Position> positions_;  // by node
  // Butterfly. By stage * nodes + position.
  unsigned radix_ = 0;
  std::vector<std::uint16_t> low_digits_;  // of a position: those that the stages behind this one set
  std::vector<std::uint16_t> stage_port_;  // input or output of the stage's switches at a position
};

}  // namespace lacuna
