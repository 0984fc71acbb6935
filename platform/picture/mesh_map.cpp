#include "platform/picture/mesh_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <utility>

#include "platform/picture/svg.h"

namespace lacuna {
namespace {

using Anchor = SvgWriter::Anchor;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

MeetingShare share_of_all(const MeshMap& map, const EmnTable& table) {
  MeetingShare all;
  for (unsigned core = 0; core < map.cores.size(); ++core) {
    const MeetingShare one = meeting_share(table, core);
    all.pairs += one.pairs;
    all.meeting += one.meeting;
  }
  return all;
}

std::string share_text(const MeshMap& map, const EmnTable& table, unsigned core) {
  const MeetingShare own = meeting_share(table, core);
  return fmt::format("{} of {} pairs of different caches have a meeting node ({}); all cores: {}", own.meeting, own.pairs,
                     percent(own.share()), percent(share_of_all(map, table).share()));
}

/// Lists the pairs of different caches by the node at which their data meet: "0-6", or "0>6" if the node depends on the order.
std::map<unsigned, std::vector<std::string>> pairs_by_node(const EmnTable& table, unsigned core) {
  std::map<unsigned, std::vector<std::string>> pairs;
  const auto caches = static_cast<unsigned>(table.caches().size());
  for (unsigned a = 0; a < caches; ++a) {
    for (unsigned b = a + 1; b < caches; ++b) {
      const unsigned forward = table.find(core, a, b);
      const unsigned backward = table.find(core, b, a);
      if (forward == backward) {
        pairs[forward].push_back(fmt::format("{}-{}", a, b));
        continue;
      }
      pairs[forward].push_back(fmt::format("{}>{}", a, b));
      pairs[backward].push_back(fmt::format("{}>{}", b, a));
    }
  }
  return pairs;
}

void add(PortFlits& sum, const PortFlits& flits) {
  sum.requests += flits.requests;
  sum.replies += flits.replies;
}

/// Flits injected at a node: those that leave its switch, less those that arrive over links.
PortFlits injected(const MeshMap& map, const MeshUse& use, unsigned node) {
  PortFlits out;
  PortFlits in;
  for (const unsigned port : {MeshUse::east, MeshUse::west, MeshUse::north, MeshUse::south, MeshUse::ejection})
    add(out, use.nodes[node][port]);
  const unsigned x = node % map.columns;
  const unsigned y = node / map.columns;
  if (x > 0) add(in, use.nodes[node - 1][MeshUse::east]);
  if (x + 1 < map.columns) add(in, use.nodes[node + 1][MeshUse::west]);
  if (y > 0) add(in, use.nodes[node - map.columns][MeshUse::south]);
  if (y + 1 < map.rows()) add(in, use.nodes[node + map.columns][MeshUse::north]);
  const auto difference = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
  return {.requests = difference(out.requests, in.requests), .replies = difference(out.replies, in.replies)};
}

constexpr double kMargin = 24;
constexpr double kTitle = 56;  // height of the lines of text above the mesh

}  // namespace

std::string MeshMap::place(unsigned node) const { return fmt::format("({},{})", node % columns, node / columns); }

MeetingShare meeting_share(const EmnTable& table, unsigned core) {
  MeetingShare result;
  const auto caches = static_cast<unsigned>(table.caches().size());
  for (unsigned a = 0; a < caches; ++a) {
    for (unsigned b = 0; b < a; ++b) {
      ++result.pairs;
      if (table.find(core, a, b) != EmnTable::kNone) ++result.meeting;
    }
  }
  return result;
}

void write_meeting_text(const MeshMap& map, const EmnTable& table, unsigned core, std::ostream& out) {
  const auto caches = static_cast<unsigned>(table.caches().size());
  constexpr int kCell = 7;
  out << fmt::format("mesh of {} x {}: {} cores, {} last-level caches (L0 to L{})\n\n", map.columns, map.rows(),
                     map.cores.size(), caches, caches - 1);
  for (unsigned y = 0; y < map.rows(); ++y) {
    for (unsigned x = 0; x < map.columns; ++x) {
      const std::string& label = map.nodes[x + y * map.columns].label;
      out << fmt::format("{:>5}", label.empty() ? "." : label);
    }
    out << '\n';
  }
  out << fmt::format("\ncore {} at {}: node at which the data of two caches meet; \"-\": none\n\n{:>5}", core,
                     map.place(map.cores[core]), "");
  for (unsigned b = 0; b < caches; ++b) out << fmt::format("{:>{}}", fmt::format("L{}", b), kCell);
  out << '\n';
  for (unsigned a = 0; a < caches; ++a) {
    out << fmt::format("{:>5}", fmt::format("L{}", a));
    for (unsigned b = 0; b < caches; ++b) {
      const unsigned node = table.find(core, a, b);
      out << fmt::format("{:>{}}", node == EmnTable::kNone ? "-" : map.place(node), kCell);
    }
    out << '\n';
  }
  out << '\n' << share_text(map, table, core) << '\n';
}

void write_meeting_svg(const MeshMap& map, const EmnTable& table, unsigned core, std::ostream& out) {
  constexpr double kPitch = 88;
  constexpr double kSide = 76;
  constexpr double kLine = 11;
  constexpr std::size_t kInLine = 3;  // number of pairs per line
  constexpr std::size_t kMostLines = 5;
  std::map<unsigned, std::vector<std::string>> pairs = pairs_by_node(table, core);
  const std::vector<std::string> without = std::exchange(pairs[EmnTable::kNone], {});
  pairs.erase(EmnTable::kNone);
  const double width = 2 * kMargin + map.columns * kPitch;
  const double height = kTitle + map.rows() * kPitch + 2 * kMargin;
  const std::string title = fmt::format("Meeting nodes for core {}", core);
  SvgWriter svg(out, width, height, title);
  svg.text(kMargin, 26, 16, title, Anchor::start, "strong");
  svg.text(kMargin, 45, 11, share_text(map, table, core), Anchor::start, "faint");
  for (unsigned node = 0; node < map.nodes.size(); ++node) {
    const double x = kMargin + node % map.columns * kPitch;
    const unsigned row = node / map.columns;
    const double y = kTitle + row * kPitch;
    const MeshMap::Node& what = map.nodes[node];
    const auto found = pairs.find(node);
    const bool is_core = node == map.cores[core];
    const std::vector<std::string> here = found == pairs.end() ? std::vector<std::string>() : found->second;
    std::string tip = fmt::format("{} {}", map.place(node), what.label);
    for (const std::string& pair : here) tip += ' ' + pair;
    if (node % map.columns + 1 != map.columns) svg.rectangle(x + kSide, y + kSide / 2 - 1, kPitch - kSide, 2, "lane");
    if (node / map.columns + 1 != map.rows()) svg.rectangle(x + kSide / 2 - 1, y + kSide, 2, kPitch - kSide, "lane");
    svg.rectangle(x, y, kSide, kSide, is_core ? "core" : what.is_cache ? "cache" : here.empty() ? "node" : "meets", 1, tip);
    svg.text(x + kSide / 2, y + 15, 13, what.label, Anchor::middle, is_core || what.is_cache ? "strong" : "faint");
    for (std::size_t first = 0, line = 0; first < here.size(); first += kInLine, ++line) {
      std::string text;
      const bool cut = line + 1 == kMostLines && here.size() > kInLine * kMostLines;
      for (std::size_t i = first; i < std::min(first + kInLine, here.size()); ++i) text += (text.empty() ? "" : " ") + here[i];
      svg.text(x + kSide / 2, y + 29 + static_cast<double>(line) * kLine, 10, cut ? "..." : text, Anchor::middle);
      if (cut) break;
    }
  }
  constexpr double kSmall = 11;
  svg.text(kMargin, height - kMargin - 6, kSmall,
           "a-b: here the data of last-level caches a and b meet; a>b: only with a as the first operand");
  if (!without.empty()) {
    std::string pairs_without = "no meeting node:";
    for (const std::string& pair : without) pairs_without += ' ' + pair;
    svg.text(kMargin, height - kMargin + 10, kSmall, pairs_without);
  }
  svg.finish();
}

void set_injection(const MeshMap& map, MeshUse& use) {
  for (unsigned node = 0; node < map.nodes.size(); ++node) use.nodes[node][MeshUse::injection] = injected(map, use, node);
}

std::string MeshUse::port_name(unsigned port) {
  constexpr std::array<const char*, ports> kNames{"east", "west", "north", "south", "injection", "ejection"};
  return kNames.at(port);
}

namespace {

/// Draws the mesh with the use of its links and ports by one virtual network.
class UsePanel {
 public:
  UsePanel(SvgWriter& svg, const MeshMap& map, const MeshUse& use, std::uint64_t PortFlits::*flits, double left)
      : svg_(svg), map_(map), use_(use), flits_(flits), left_(left) {}

  static constexpr double kPitch = 66;
  static constexpr double kSide = 36;
  static double width(const MeshMap& map) { return map.columns * kPitch - (kPitch - kSide); }

  void draw() {
    for (unsigned node = 0; node < map_.nodes.size(); ++node) {
      draw_node(node);
      draw_links(node);
    }
  }

 private:
  static constexpr double kLane = 9;

  double share(unsigned node, unsigned port) const {
    return use_.cycles == 0 ? 0 : static_cast<double>(use_.nodes[node].at(port).*flits_) / static_cast<double>(use_.cycles);
  }
  std::string tip(unsigned node, unsigned port) const {
    return fmt::format("{} {}: {:.1f} %", map_.place(node), MeshUse::port_name(port), 100 * share(node, port));
  }
  double x_of(unsigned node) const { return left_ + node % map_.columns * kPitch; }
  double y_of(unsigned node) const {
    const unsigned row = node / map_.columns;
    return kTitle + row * kPitch;
  }

  void bar(double x, double y, double width, double height, unsigned node, unsigned port) {
    svg_.rectangle(x, y, width, height, "lane");
    svg_.rectangle(x, y, width, height, "use", std::min(1.0, share(node, port)), tip(node, port));
  }
  void draw_node(unsigned node) {
    const double x = x_of(node);
    const double y = y_of(node);
    const MeshMap::Node& what = map_.nodes[node];
    svg_.rectangle(x, y, kSide, kSide, what.is_cache ? "cache" : "node");
    svg_.text(x + kSide / 2, y + 14, 12, what.label, Anchor::middle, what.is_cache ? "strong" : "ink");
    const double half = kSide / 2;
    for (const unsigned port : {MeshUse::injection, MeshUse::ejection}) {
      const double left = x + 1 + (port == MeshUse::injection ? 0 : half);
      bar(left, y + 19, half - 2, 16, node, port);
      svg_.text(left + half / 2 - 1, y + 30, 9, fmt::format("{:.0f}", 100 * share(node, port)), Anchor::middle);
    }
  }
  // Each direction is drawn on the right-hand side of the link, as in road traffic.
  void draw_links(unsigned node) {
    const double x = x_of(node);
    const double y = y_of(node);
    constexpr double kGap = kPitch - kSide - 4;
    const double middle = kSide / 2;
    if (node % map_.columns + 1 != map_.columns) {
      bar(x + kSide + 2, y + middle + 1, kGap, kLane, node, MeshUse::east);
      bar(x + kSide + 2, y + middle - 1 - kLane, kGap, kLane, node + 1, MeshUse::west);
    }
    if (node / map_.columns + 1 != map_.rows()) {
      bar(x + middle - 1 - kLane, y + kSide + 2, kLane, kGap, node, MeshUse::south);
      bar(x + middle + 1, y + kSide + 2, kLane, kGap, node + map_.columns, MeshUse::north);
    }
  }

  SvgWriter& svg_;
  const MeshMap& map_;
  const MeshUse& use_;
  std::uint64_t PortFlits::*flits_;
  double left_;
};

}  // namespace

void write_use_svg(const MeshMap& map, const MeshUse& use, const std::string& title, std::ostream& out) {
  constexpr double kBetween = 48;
  const double panel = UsePanel::width(map);
  const double bottom = kTitle + map.rows() * UsePanel::kPitch - (UsePanel::kPitch - UsePanel::kSide);
  SvgWriter svg(out, 2 * kMargin + 2 * panel + kBetween, bottom + 56, title);
  svg.text(kMargin, 24, 15, title, Anchor::start, "strong");
  svg.text(kMargin, 44, 12, "Requests", Anchor::start, "strong");
  svg.text(kMargin + panel + kBetween, 44, 12, "Replies", Anchor::start, "strong");
  UsePanel(svg, map, use, &PortFlits::requests, kMargin).draw();
  UsePanel(svg, map, use, &PortFlits::replies, kMargin + panel + kBetween).draw();
  // Legend.
  const double y = bottom + 22;
  constexpr unsigned kSteps = 5;
  constexpr double kStep = 36;
  svg.text(kMargin, y + 10, 11, "flits a cycle:", Anchor::start);
  for (unsigned i = 0; i < kSteps; ++i) {
    const double x = kMargin + 80 + i * kStep;
    svg.rectangle(x, y, kStep - 2, 12, "lane");
    svg.rectangle(x, y, kStep - 2, 12, "use", static_cast<double>(i) / (kSteps - 1));
    svg.text(x + kStep / 2, y + 24, 9, fmt::format("{} %", 100 * i / (kSteps - 1)), Anchor::middle);
  }
  svg.text(
      kMargin + 80 + kSteps * kStep + 16, y + 10, 11,
      "links: on the right in the direction of travel; in a node: its injection port on the left, its ejection port on the "
      "right, in %",
      Anchor::start);
  svg.finish();
}

}  // namespace lacuna
