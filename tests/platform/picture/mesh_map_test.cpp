// Tests pictures of a mesh: contents of nodes, nodes where data meet, and use of links.
#include "platform/picture/mesh_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A mesh of 3 x 2 nodes, with caches 0 and 1 at (1,0) and (2,1), and cores at the other nodes.
MeshMap small_map() {
  MeshMap map{.columns = 3, .nodes = {}, .cores = {0, 2, 3, 4}};
  map.nodes = {{.label = "0"}, {.label = "L0", .is_cache = true}, {.label = "1"}, {.label = "2"},
               {.label = "3"}, {.label = "L1", .is_cache = true}};
  return map;
}
EmnTable small_table() { return {{0, 2, 3, 4}, {1, 5}, mesh_paths(3), 2}; }

std::string meeting_svg(unsigned core) {
  std::ostringstream out;
  write_meeting_svg(small_map(), small_table(), core, out);
  return out.str();
}

unsigned count(const std::string& text, const std::string& part) {
  unsigned found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(MeshMap, PairsThatMeet) {
  const EmnTable table = small_table();
  // Core 0 at (0,0): the paths to both caches pass (1,0). Core 3 at (1,1) is between the caches.
  EXPECT_EQ(table.find(0, 0, 1), 1u);
  EXPECT_EQ(table.find(3, 0, 1), EmnTable::kNone);
  EXPECT_EQ(meeting_share(table, 0).pairs, 1u);
  EXPECT_EQ(meeting_share(table, 0).meeting, 1u);
  EXPECT_EQ(meeting_share(table, 3).meeting, 0u);
}

TEST(MeshMap, TextHasMeshAndTable) {
  std::ostringstream out;
  write_meeting_text(small_map(), small_table(), 0, out);
  EXPECT_THAT(out.str(), HasSubstr("mesh of 3 x 2: 4 cores, 2 last-level caches"));
  EXPECT_THAT(out.str(), HasSubstr("    0   L0    1\n    2    3   L1\n"));
  EXPECT_THAT(out.str(), HasSubstr("core 0 at (0,0)"));
  EXPECT_THAT(out.str(), HasSubstr("   L0  (1,0)  (1,0)\n   L1  (1,0)  (2,1)\n"));
  EXPECT_THAT(out.str(), HasSubstr("1 of 1 pairs of different caches have a meeting node (100 %); all cores: 50 %"));
}

TEST(MeshMap, PictureNamesPairsAtTheirNode) {
  const std::string svg = meeting_svg(0);
  EXPECT_THAT(svg, HasSubstr("<title>(1,0) L0 0-1</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("no meeting node")));
  EXPECT_EQ(count(svg, "class=\"core\""), 1u);
  EXPECT_EQ(count(svg, "class=\"cache\""), 2u);
  EXPECT_THAT(meeting_svg(3), HasSubstr("no meeting node: 0-1"));
  for (const char* part : {"<svg ", "</svg>\n", "prefers-color-scheme: dark"}) EXPECT_EQ(count(svg, part), 1u) << part;
}

// The mesh has carried a reply of 5 flits from cache 0 through (0,0) to core 2, a reply of 2 flits from (0,0) to core 2, and a
// request of 1 flit from (0,0) to cache 0.
TEST(MeshMap, InjectionIsOutgoingLessIncomingFlits) {
  const MeshMap map = small_map();
  MeshUse use;
  use.cycles = 10;
  use.nodes.resize(map.nodes.size());
  use.nodes[1][MeshUse::west].replies = 5;
  use.nodes[0][MeshUse::south].replies = 5 + 2;
  use.nodes[3][MeshUse::ejection].replies = 5 + 2;
  use.nodes[0][MeshUse::east].requests = 1;
  use.nodes[1][MeshUse::ejection].requests = 1;
  set_injection(map, use);
  EXPECT_EQ(use.nodes[1][MeshUse::injection].replies, 5u);
  EXPECT_EQ(use.nodes[0][MeshUse::injection].replies, 2u);
  EXPECT_EQ(use.nodes[0][MeshUse::injection].requests, 1u);
  EXPECT_EQ(use.nodes[3][MeshUse::injection].replies, 0u);
  EXPECT_EQ(use.nodes[1][MeshUse::injection].requests, 0u);
}

TEST(MeshMap, LinksAreFilledByTheirUse) {
  const MeshMap map = small_map();
  MeshUse use;
  use.cycles = 100;
  use.nodes.resize(map.nodes.size());
  use.nodes[0][MeshUse::east].requests = 40;
  use.nodes[1][MeshUse::west].replies = 100;
  std::ostringstream out;
  write_use_svg(map, use, "a < b", out);
  const std::string svg = out.str();
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"0.4\"><title>(0,0) east: 40.0 %</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>(1,0) west: 100.0 %</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>a &lt; b</title>"));
  // Requests and replies, each for seven pairs of neighbours with two directions, and for two ports of each of six nodes.
  EXPECT_EQ(count(svg, " %</title>"), 2u * (7 * 2 + 6 * 2));
}

TEST(MeshMap, WithoutCyclesNothingIsUsed) {
  const MeshMap map = small_map();
  MeshUse use;
  use.nodes.resize(map.nodes.size());
  use.nodes[0][MeshUse::east].requests = 40;
  std::ostringstream out;
  write_use_svg(map, use, "nothing", out);
  EXPECT_THAT(out.str(), HasSubstr("(0,0) east: 0.0 %"));
}

}  // namespace
}  // namespace lacuna
