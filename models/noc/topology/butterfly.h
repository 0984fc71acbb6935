// Butterfly: stages of switches between the nodes' injection ports and their ejection ports.
#pragma once

#include <vector>

#include "models/noc/topology.h"

namespace lacuna {

/// radix^stages nodes, each injecting into the first stage and ejecting from the last; radix^(stages - 1) switches per stage
/// (Dally and Towles, "Principles and Practices of Interconnection Networks", chapter 4). Switches belong to no node.
class ButterflyTopology final : public Topology {
 public:
  /// Throws std::invalid_argument for more than 4096 nodes.
  ButterflyTopology(unsigned radix, unsigned stages);

  std::string output_name(unsigned output) const override;
  bool is_link(unsigned output) const override;
  std::size_t memory() const override;

 private:
  const SwitchPass* write_path(unsigned from, unsigned to, unsigned alternative, SwitchPass* next) const override;

  unsigned radix_;
  // Indexed by stage * nodes + position.
  std::vector<std::uint16_t> low_digits_;  // digits of the position that later stages set
  std::vector<std::uint16_t> stage_port_;  // input or output of the stage's switches at the position
};

}  // namespace lacuna
