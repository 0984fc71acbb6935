#include "models/noc/topology/mesh.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <stdexcept>

#include "models/noc/fabric_topology.h"

namespace lacuna {
namespace {

constexpr unsigned kMaxSide = 64;

using Output = MeshTopology::Output;
constexpr unsigned kOutputs = Output::kOutputs;
/// An input has the number of the output in the same direction; the injection port has that of the ejection port.
constexpr unsigned kLocal = Output::kEject;
constexpr std::array<const char*, kOutputs> kOutputNames{"eject", "east", "west", "north", "south"};

/// Number of nodes of a mesh. Throws std::invalid_argument if the shape is invalid.
unsigned mesh_nodes(unsigned columns, unsigned rows) {
  if (columns == 0 || rows == 0 || columns > kMaxSide || rows > kMaxSide) {
    throw std::invalid_argument(fmt::format("a mesh has 1 to {0} x {0} nodes, not {1} x {2}", kMaxSide, columns, rows));
  }
  return columns * rows;
}

std::unique_ptr<const Topology> make_mesh(const FabricParameters& p) {
  // Packets of the two dimension orders must not share a channel: they could wait for each other in a cycle, a deadlock.
  if (p.routing == MeshRouting::o1turn && p.virtual_channels < 2)
    throw std::invalid_argument("routing = o1turn needs virtual_channels of at least 2: one for each order");
  return std::make_unique<MeshTopology>(p.columns, p.rows, p.routing);
}

}  // namespace

constinit const FabricTopology FabricTopology::mesh{"mesh", "columns x rows of routers, each linked to its neighbours",
                                                    make_mesh};

MeshTopology::MeshTopology(unsigned columns, unsigned rows, MeshRouting routing)
    : Topology(mesh_nodes(columns, rows), columns * rows * kOutputs, routing == MeshRouting::o1turn ? 2 : 1),
      columns_(columns),
      y_first_(routing == MeshRouting::yx) {
  positions_.reserve(nodes());
  for (unsigned node = 0; node < nodes(); ++node)
    positions_.push_back({static_cast<std::uint8_t>(node % columns), static_cast<std::uint8_t>(node / columns)});
}

const SwitchPass* MeshTopology::write_path(unsigned from, unsigned to, unsigned alternative, SwitchPass* next) const {
  const Position at = positions_[from];
  const Position end = positions_[to];
  unsigned ports = from * kOutputs;
  unsigned input = kLocal;
  const auto go = [&](unsigned begin, unsigned finish, unsigned stride, Output forward, Output backward) {
    if (begin == finish) return;
    const bool ahead = finish > begin;
    const unsigned output = ahead ? forward : backward;
    const unsigned step = (ahead ? stride : 0U - stride) * kOutputs;
    const unsigned links = ahead ? finish - begin : begin - finish;
    *next++ = make_pass(ports + input, ports + output);
    // Moves along a row or column, from switch to switch.
    input = ahead ? backward : forward;
    // A single addition per step updates both port numbers of a pass.
    auto both = std::bit_cast<std::uint32_t>(make_pass(ports + input, ports + output));
    const std::uint32_t both_step = step * 0x1'0001U;
    for (const SwitchPass* const last = next + (links - 1); next != last; ++next) {
      *next = std::bit_cast<SwitchPass>(both += both_step);
    }
    ports += step * links;
  };
  // Alternative 1 of o1turn is the opposite order.
  const bool y_first = y_first_ != (alternative != 0);
  if (y_first) go(at.y, end.y, columns_, Output::kSouth, Output::kNorth);
  go(at.x, end.x, 1, Output::kEast, Output::kWest);
  if (!y_first) go(at.y, end.y, columns_, Output::kSouth, Output::kNorth);
  *next++ = make_pass(ports + input, ports + kLocal);
  return next;
}

std::vector<unsigned> MeshTopology::path_nodes(unsigned from, unsigned to, unsigned alternative) const {
  std::vector<unsigned> passed;
  for (const SwitchPass& pass : path(from, to, alternative)) passed.push_back(pass.output / kOutputs);
  return passed;
}

std::string MeshTopology::output_name(unsigned output) const {
  const unsigned node = output / kOutputs;
  return fmt::format("x{}y{}_{}", node % columns_, node / columns_, kOutputNames[output % kOutputs]);
}

bool MeshTopology::is_link(unsigned output) const { return output % kOutputs != kLocal; }

unsigned MeshTopology::parse_node(const std::string& word) const {
  unsigned x = 0;
  unsigned y = 0;
  const char* const end = word.data() + word.size();
  const auto [comma, bad_x] = std::from_chars(word.data(), end, x);
  const bool split = bad_x == std::errc() && comma != end && *comma == ',';
  const auto [parsed, bad_y] = std::from_chars(split ? comma + 1 : end, end, y);
  if (!split || bad_y != std::errc() || parsed != end)
    throw std::invalid_argument(fmt::format("\"{}\" is not a position \"x,y\"", word));
  const unsigned rows = nodes() / columns_;
  if (x >= columns_ || y >= rows)
    throw std::invalid_argument(fmt::format("position {} is outside the mesh of {} x {}", word, columns_, rows));
  return x + y * columns_;
}

std::size_t MeshTopology::memory() const { return sizeof *this + positions_.capacity() * sizeof(Position); }

}  // namespace lacuna
