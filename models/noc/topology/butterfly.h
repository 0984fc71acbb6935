// Butterfly: stages of switches between the nodes' injection ports and their ejection ports.
#pragma once

#include <vector>

#include "models/noc/topology.h"

namespace lacuna {

/// Numbering of a butterfly's nodes: terminals, then the last switches.
struct ButterflyNodes {
  unsigned terminals;
  unsigned radix;
  /// The node of the last switch before a terminal, in a butterfly with switch nodes.
  unsigned switch_of(unsigned terminal) const { return terminals + terminal / radix; }
};

/// radix^stages nodes, each injecting into the first stage and ejecting from the last; radix^(stages - 1) switches per stage
/// (Dally and Towles, "Principles and Practices of Interconnection Networks", chapter 4). Without switch nodes, switches belong
/// to no node.
///
/// With switch nodes, each switch of the last stage has a node, numbered after the terminals. Packets to such a node leave the
/// switch by a separate output. Packets from such a node enter by a separate input: of the same switch if the receiver is one
/// of the switch's terminals, otherwise of the first-stage switch that these terminals inject into.
class ButterflyTopology final : public Topology {
 public:
  /// Throws std::invalid_argument for a radix below 2, no stages, or more than 4096 terminals.
  ButterflyTopology(unsigned radix, unsigned stages, bool switch_nodes = false);

  unsigned terminals() const override { return terminals_; }
  std::string output_name(unsigned output) const override;
  bool is_link(unsigned output) const override;
  std::size_t memory() const override;

 private:
  const SwitchPass* write_path(unsigned from, unsigned to, unsigned alternative, SwitchPass* next) const override;

  unsigned stage_ports() const { return static_cast<unsigned>(stage_port_.size()); }

  unsigned radix_;
  unsigned terminals_;
  // Both are indexed by stage * terminals + position.
  std::vector<std::uint16_t> low_digits_;  // part of the position that later stages set
  std::vector<std::uint16_t> stage_port_;  // switch input or output at the position
};

}  // namespace lacuna
