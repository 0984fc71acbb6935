#include "models/noc/topology/butterfly.h"

#include <fmt/format.h>

#include <stdexcept>

#include "models/noc/fabric_parameters.h"
#include "models/noc/fabric_topology.h"

namespace lacuna {
namespace {

constexpr unsigned kMaxNodes = 4096;

/// Number of nodes of a butterfly. Throws std::invalid_argument if the shape is invalid.
unsigned butterfly_nodes(unsigned radix, unsigned stages) {
  std::uint64_t nodes = radix >= 2 && stages >= 1 ? 1 : 0;
  for (unsigned i = 0; i < stages && nodes <= kMaxNodes; ++i) nodes *= radix;
  if (nodes == 0 || nodes > kMaxNodes) {
    throw std::invalid_argument(fmt::format(
        "a butterfly has a radix of at least 2, at least one stage and at most {} nodes, not radix {} and {} stages", kMaxNodes,
        radix, stages));
  }
  return static_cast<unsigned>(nodes);
}

}  // namespace

constinit const FabricTopology FabricTopology::butterfly{
    "butterfly", "radix^stages nodes, with stages of switches between their injection and ejection ports",
    [](const FabricParameters& p) -> std::unique_ptr<const Topology> {
      return std::make_unique<ButterflyTopology>(p.radix, p.stages, p.switch_nodes);
    }};

ButterflyTopology::ButterflyTopology(unsigned radix, unsigned stages, bool switch_nodes)
    : Topology(butterfly_nodes(radix, stages) + (switch_nodes ? butterfly_nodes(radix, stages) / radix : 0),
               butterfly_nodes(radix, stages) * stages + (switch_nodes ? butterfly_nodes(radix, stages) / radix : 0)),
      radix_(radix),
      terminals_(butterfly_nodes(radix, stages)) {
  // Input and output p of a stage belong to switch p / radix. Between stage s and the next, a packet's position has the
  // destination's upper s + 1 digits and the source's lower digits.
  low_digits_.reserve(std::size_t{terminals_} * stages);
  stage_port_.reserve(std::size_t{terminals_} * stages);
  // A stage's switch sets the digit of weight radix^(stages - 1 - stage); in port numbers, that digit is the lowest.
  for (unsigned stage = 0, weight = terminals_ / radix; stage < stages; ++stage, weight /= radix) {
    for (unsigned position = 0; position < terminals_; ++position) {
      const unsigned digit = position / weight % radix;
      const unsigned above = position / (weight * radix);
      const unsigned below = position % weight;
      low_digits_.push_back(static_cast<std::uint16_t>(below));
      stage_port_.push_back(static_cast<std::uint16_t>(stage * terminals_ + (above * weight + below) * radix + digit));
    }
  }
}

// Ports of switch nodes are numbered after the ports of the stages.
const SwitchPass* ButterflyTopology::write_path(unsigned from, unsigned to, unsigned /*alternative*/, SwitchPass* next) const {
  const bool from_switch = from >= terminals_;
  const bool to_switch = to >= terminals_;
  const unsigned first = from_switch ? (from - terminals_) * radix_ : from;
  const unsigned last = to_switch ? (to - terminals_) * radix_ : to;
  // A packet from a last switch's node to the same switch passes only the last stage.
  unsigned stage = from_switch && first / radix_ == last / radix_ ? stage_ports() - terminals_ : 0;
  unsigned position = stage == 0 ? first : last;
  const SwitchPass* const begin = next;
  for (; stage < stage_ports(); stage += terminals_) {
    const unsigned input = from_switch && next == begin ? stage_ports() + from - terminals_ : stage_port_[stage + position];
    position = last - low_digits_[stage + last] + low_digits_[stage + first];
    const bool ejects = to_switch && stage == stage_ports() - terminals_;
    *next++ = make_pass(input, ejects ? stage_ports() + to - terminals_ : stage_port_[stage + position]);
  }
  return next;
}

std::string ButterflyTopology::output_name(unsigned output) const {
  if (output >= stage_ports())
    return fmt::format("stage{}_switch{}_node", stage_ports() / terminals_ - 1, output - stage_ports());
  const unsigned port = output % terminals_;
  return fmt::format("stage{}_switch{}_output{}", output / terminals_, port / radix_, port % radix_);
}

bool ButterflyTopology::is_link(unsigned output) const { return output < stage_ports() - terminals_; }

std::size_t ButterflyTopology::memory() const {
  return sizeof *this + (low_digits_.capacity() + stage_port_.capacity()) * sizeof(std::uint16_t);
}

}  // namespace lacuna
