// The nodes of a mesh, and pictures of it: the nodes at which data of two last-level caches meet, and the use of links and
// ports.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "models/neardata/emn_table.h"

namespace lacuna {

struct MeshMap {
  struct Node {
    std::string label;  ///< "36" for core 36, "L5" for last-level cache 5; empty for other nodes
    bool is_cache = false;
  };
  unsigned columns = 0;
  std::vector<Node> nodes;      ///< node x + y * columns is at (x, y)
  std::vector<unsigned> cores;  ///< node of each core; cores that share an L1 cache share its node

  unsigned rows() const { return static_cast<unsigned>(nodes.size()) / columns; }
  /// Coordinates as text, such as "(1,5)".
  std::string place(unsigned node) const;
};

/// Number of pairs of different last-level caches, and of those whose data can meet on their paths to a core.
struct MeetingShare {
  unsigned pairs = 0;
  unsigned meeting = 0;
  double share() const { return pairs == 0 ? 0 : static_cast<double>(meeting) / pairs; }
};
MeetingShare meeting_share(const EmnTable& table, unsigned core);

/// Writes the mesh, the meeting node of each pair of last-level caches for a core, and the share of pairs that have a meeting
/// node, for this core and for all cores.
void write_meeting_text(const MeshMap& map, const EmnTable& table, unsigned core, std::ostream& out);
void write_meeting_svg(const MeshMap& map, const EmnTable& table, unsigned core, std::ostream& out);

/// Flits that a port has carried.
struct PortFlits {
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
};

/// Flits that a mesh has carried in a number of cycles.
struct MeshUse {
  /// Ports of a node: the links that leave it, and its injection and ejection port.
  enum Port : unsigned { east, west, north, south, injection, ejection, ports };
  static std::string port_name(unsigned port);

  std::uint64_t cycles = 0;
  std::vector<std::array<PortFlits, ports>> nodes;  ///< flits by node and port
};

/// Computes the flits of injection ports from those of links and ejection ports. Flits on links at the beginning or end of the
/// interval cause a small error, a few flits in a busy mesh.
void set_injection(const MeshMap& map, MeshUse& use);

/// Draws the use of each link and port, in flits per cycle, once for requests and once for replies.
void write_use_svg(const MeshMap& map, const MeshUse& use, const std::string& title, std::ostream& out);

}  // namespace lacuna
