#include "models/noc/topology.h"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

namespace lacuna {
namespace {

constexpr unsigned kMaxSide = 64;
constexpr unsigned kMaxNodes = 4096;

enum Direction : unsigned { kLocal, kEast, kWest, kNorth, kSouth, kDirections };
constexpr std::array<const char*, kDirections> kDirectionNames{"eject", "east", "west", "north", "south"};

SwitchPass make_pass(unsigned input, unsigned output) {
  return {static_cast<std::uint16_t>(input), static_cast<std::uint16_t>(output)};
}

template <class T>
std::size_t bytes(const std::vector<T>& v) {
  return v.capacity() * sizeof(T);
}

}  // namespace

Topology Topology::mesh(unsigned columns, unsigned rows, MeshRouting routing) {
  if (columns == 0 || rows == 0 || columns > kMaxSide || rows > kMaxSide) {
    throw std::invalid_argument(fmt::format("a mesh has 1 to {0} x {0} nodes, not {1} x {2}", kMaxSide, columns, rows));
  }
  Topology topology;
  topology.nodes_ = columns * rows;
  topology.ports_ = topology.nodes_ * kDirections;
  topology.alternatives_ = routing == MeshRouting::o1turn ? 2 : 1;
  topology.columns_ = columns;
  topology.y_first_ = routing == MeshRouting::yx;
  topology.positions_.reserve(topology.nodes_);
  for (unsigned node = 0; node < topology.nodes_; ++node) {
    topology.positions_.push_back({static_cast<std::uint8_t>(node % columns), static_cast<std::uint8_t>(node / columns)});
  }
  return topology;
}

const SwitchPass* Topology::find_in_mesh(unsigned from, unsigned to, unsigned alternative, SwitchPass* next) const {
  const Position at = positions_[from];
  const Position end = positions_[to];
  unsigned ports = from * kDirections;
  unsigned input = kLocal;
  const auto go = [&](unsigned begin, unsigned finish, unsigned stride, Direction forward, Direction backward) {
    if (begin == finish) return;
    const bool ahead = finish > begin;
    const unsigned output = ahead ? forward : backward;
    const unsigned step = (ahead ? stride : 0U - stride) * kDirections;
    const unsigned links = ahead ? finish - begin : begin - finish;
    *next++ = make_pass(ports + input, ports + output);
    // Along a row or column, from switch to switch.
    input = ahead ? backward : forward;
    // Both ports of a pass in one number: a step is one addition.
    auto both = std::bit_cast<std::uint32_t>(make_pass(ports + input, ports + output));
    const std::uint32_t both_step = step * 0x1'0001U;
    for (const SwitchPass* const last = next + (links - 1); next != last; ++next) {
      *next = std::bit_cast<SwitchPass>(both += both_step);
    }
    ports += step * links;
  };
  // Alternative 1 of o1turn is the other order.
  const bool y_first = y_first_ != (alternative != 0);
  if (y_first) go(at.y, end.y, columns_, kSouth, kNorth);
  go(at.x, end.x, 1, kEast, kWest);
  if (!y_first) go(at.y, end.y, columns_, kSouth, kNorth);
  *next++ = make_pass(ports + input, ports + kLocal);
  return next;
}

Topology Topology::butterfly(unsigned radix, unsigned stages) {
  std::uint64_t nodes = radix >= 2 && stages >= 1 ? 1 : 0;
  for (unsigned i = 0; i < stages && nodes <= kMaxNodes; ++i) nodes *= radix;
  if (nodes == 0 || nodes > kMaxNodes) {
    throw std::invalid_argument(fmt::format(
        "a butterfly has a radix of at least 2, at least one stage and at most {} nodes, not radix {} and {} stages", kMaxNodes,
        radix, stages));
  }
  // Input and output p of a stage belong to switch p / radix. Between stage s and the next, a packet is at the position whose
  // upper s + 1 digits are the destination's and whose lower ones are still the source's.
  Topology topology;
  topology.nodes_ = static_cast<unsigned>(nodes);
  topology.ports_ = topology.nodes_ * stages;
  topology.radix_ = radix;
  topology.low_digits_.reserve(topology.ports_);
  topology.stage_port_.reserve(topology.ports_);
  // A stage's switch sets the digit of weight radix^(stages - 1 - stage); its ports are numbered with that digit lowest.
  for (unsigned stage = 0, weight = topology.nodes_ / radix; stage < stages; ++stage, weight /= radix) {
    for (unsigned position = 0; position < topology.nodes_; ++position) {
      const unsigned digit = position / weight % radix;
      const unsigned above = position / (weight * radix);
      const unsigned below = position % weight;
      topology.low_digits_.push_back(static_cast<std::uint16_t>(below));
      topology.stage_port_.push_back(
          static_cast<std::uint16_t>(stage * topology.nodes_ + (above * weight + below) * radix + digit));
    }
  }
  return topology;
}

const SwitchPass* Topology::find_in_butterfly(unsigned from, unsigned to, SwitchPass* next) const {
  unsigned position = from;
  for (unsigned stage = 0; stage < ports_; stage += nodes_) {
    const unsigned input = stage_port_[stage + position];
    position = to - low_digits_[stage + to] + low_digits_[stage + from];
    *next++ = make_pass(input, stage_port_[stage + position]);
  }
  return next;
}

std::vector<unsigned> Topology::path_nodes(unsigned from, unsigned to, unsigned alternative) const {
  if (columns_ == 0) return from == to ? std::vector<unsigned>{from} : std::vector<unsigned>{from, to};
  std::vector<unsigned> nodes;
  for (const SwitchPass& pass : path(from, to, alternative)) nodes.push_back(pass.output / kDirections);
  return nodes;
}

std::string Topology::output_name(unsigned output) const {
  if (columns_ != 0) {
    const unsigned node = output / kDirections;
    return fmt::format("x{}y{}_{}", node % columns_, node / columns_, kDirectionNames[output % kDirections]);
  }
  const unsigned port = output % nodes_;
  return fmt::format("stage{}_switch{}_output{}", output / nodes_, port / radix_, port % radix_);
}

bool Topology::is_link(unsigned output) const {
  return columns_ != 0 ? output % kDirections != kLocal : output < ports_ - nodes_;
}

std::size_t Topology::memory() const { return sizeof *this + bytes(positions_) + bytes(low_digits_) + bytes(stage_port_); }

}  // namespace lacuna
