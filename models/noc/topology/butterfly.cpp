#include "models/noc/topology/butterfly.h"

#include <fmt/format.h>

#include <stdexcept>

#include "models/noc/fabric_parameters.h"
#include "models/noc/fabric_topology.h"

namespace lacuna {
namespace {

constexpr unsigned kMaxNodes = 4096;

/// Number of nodes of a valid butterfly.
unsigned nodes_of(unsigned radix, unsigned stages) {
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
      return std::make_unique<ButterflyTopology>(p.radix, p.stages);
    }};

ButterflyTopology::ButterflyTopology(unsigned radix, unsigned stages)
    : Topology(nodes_of(radix, stages), nodes_of(radix, stages) * stages), radix_(radix) {
  // Input and output p of a stage belong to switch p / radix. Between stage s and the next, a packet is at the position whose
  // upper s + 1 digits are the destination's and whose lower ones are still the source's.
  low_digits_.reserve(outputs());
  stage_port_.reserve(outputs());
  // A stage's switch sets the digit of weight radix^(stages - 1 - stage); its ports are numbered with that digit lowest.
  for (unsigned stage = 0, weight = nodes() / radix; stage < stages; ++stage, weight /= radix) {
    for (unsigned position = 0; position < nodes(); ++position) {
      const unsigned digit = position / weight % radix;
      const unsigned above = position / (weight * radix);
      const unsigned below = position % weight;
      low_digits_.push_back(static_cast<std::uint16_t>(below));
      stage_port_.push_back(static_cast<std::uint16_t>(stage * nodes() + (above * weight + below) * radix + digit));
    }
  }
}

const SwitchPass* ButterflyTopology::write_path(unsigned from, unsigned to, unsigned /*alternative*/, SwitchPass* next) const {
  unsigned position = from;
  for (unsigned stage = 0; stage < outputs(); stage += nodes()) {
    const unsigned input = stage_port_[stage + position];
    position = to - low_digits_[stage + to] + low_digits_[stage + from];
    *next++ = make_pass(input, stage_port_[stage + position]);
  }
  return next;
}

std::string ButterflyTopology::output_name(unsigned output) const {
  const unsigned port = output % nodes();
  return fmt::format("stage{}_switch{}_output{}", output / nodes(), port / radix_, port % radix_);
}

bool ButterflyTopology::is_link(unsigned output) const { return output < outputs() - nodes(); }

std::size_t ButterflyTopology::memory() const {
  return sizeof *this + (low_digits_.capacity() + stage_port_.capacity()) * sizeof(std::uint16_t);
}

}  // namespace lacuna
