// Topologies of routed networks: the switch inputs and outputs that a packet passes from one node to another.
//
// A switch output is a link or the ejection port of a node; a switch input is the end of a link or the injection port of a
// node. If a topology offers several paths between two nodes, these are alternatives 0, 1 ... of equal length. Paths are
// computed, not stored: a topology takes some bytes per node, less than a megabyte for 64 x 64 nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lacuna {

/// One switch of a path: the packet enters by `input` and leaves by `output`, indices over the whole network. 16 bits suffice:
/// the largest network has twelve stages of 4096 inputs.
struct SwitchPass {
  std::uint16_t input;
  std::uint16_t output;
};

constexpr SwitchPass make_pass(unsigned input, unsigned output) {
  return {static_cast<std::uint16_t>(input), static_cast<std::uint16_t>(output)};
}

/// Switches that a packet passes from one node to another, in order; never empty. The last output is an ejection port, all
/// others are links.
class SwitchPath {
 public:
  static constexpr unsigned kMost = 127;  ///< maximum number of switches of a path: corner to corner of a 64 x 64 mesh

  unsigned size() const { return size_; }
  const SwitchPass* begin() const { return passes_.data(); }
  const SwitchPass* end() const { return passes_.data() + size_; }
  const SwitchPass& front() const { return passes_[0]; }
  const SwitchPass& back() const { return passes_[size_ - 1]; }
  const SwitchPass& operator[](std::size_t i) const { return passes_[i]; }

 private:
  friend class Topology;

  unsigned size_ = 0;
  std::array<SwitchPass, kMost> passes_;
};

/// Base of all topologies. Immutable after construction, so that any number of threads may use a topology.
class Topology {
 public:
  virtual ~Topology() = default;

  unsigned nodes() const { return nodes_; }
  /// Number of nodes at which sources and destinations may be placed: nodes 0 to terminals() - 1. Further nodes belong to
  /// switches.
  virtual unsigned terminals() const { return nodes_; }
  unsigned inputs() const { return ports_; }
  unsigned outputs() const { return ports_; }
  /// Number of paths between two nodes, the same for all pairs: 1 or 2. The parameter `alternative` of find_path() selects one.
  unsigned alternatives() const { return alternatives_; }
  void find_path(unsigned from, unsigned to, unsigned alternative, SwitchPath& path) const {
    SwitchPass* const begin = path.passes_.data();
    path.size_ = static_cast<unsigned>(write_path(from, to, alternative, begin) - begin);
  }
  SwitchPath path(unsigned from, unsigned to, unsigned alternative = 0) const {
    SwitchPath path;
    find_path(from, to, alternative, path);
    return path;
  }
  /// Nodes whose switches a packet passes, both ends included. The default, for switches that belong to no node, returns the
  /// two ends only.
  virtual std::vector<unsigned> path_nodes(unsigned from, unsigned to, unsigned alternative = 0) const;
  /// Name of an output in the statistics: "x3y1_east", "x3y1_eject", "stage1_switch4_output2".
  virtual std::string output_name(unsigned output) const = 0;
  /// Whether an output is a link; otherwise it is an ejection port.
  virtual bool is_link(unsigned output) const = 0;
  /// The terminal that a word of a placement names; by default, the word is the terminal's number. Throws std::invalid_argument
  /// that describes the mistake.
  virtual unsigned parse_node(const std::string& word) const;
  /// Host memory that the topology occupies, in bytes.
  virtual std::size_t memory() const = 0;

 protected:
  Topology(unsigned nodes, unsigned ports, unsigned alternatives = 1)
      : nodes_(nodes), ports_(ports), alternatives_(alternatives) {}
  Topology(const Topology&) = default;
  Topology& operator=(const Topology&) = delete;

 private:
  /// Writes the passes of a path (at most SwitchPath::kMost) to the array that starts at `next`. Returns the end of the written
  /// passes. Called once per packet.
  virtual const SwitchPass* write_path(unsigned from, unsigned to, unsigned alternative, SwitchPass* next) const = 0;

  unsigned nodes_;
  unsigned ports_;
  unsigned alternatives_;
};

/// Parses a number below `nodes`. Throws std::invalid_argument otherwise.
unsigned parse_node_number(const std::string& word, unsigned nodes);

}  // namespace lacuna
