// Wiring rules that every topology must obey.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "models/noc/topology.h"

namespace lacuna::test {

/// Checks that a link ends at the same input on every path, that an ejection port belongs to one node, and that a path between
/// two nodes has length() switches.
inline void check_wiring(const Topology& topology, const std::function<std::size_t(unsigned, unsigned)>& length) {
  std::map<std::uint32_t, std::uint32_t> ends;
  std::map<std::uint32_t, unsigned> ejects;
  std::map<unsigned, std::uint32_t> injects;
  for (unsigned from = 0; from < topology.nodes(); ++from) {
    for (unsigned to = 0; to < topology.nodes(); ++to) {
      const auto path = topology.path(from, to);
      ASSERT_EQ(path.size(), length(from, to)) << from << " to " << to;
      EXPECT_EQ(injects.emplace(from, path.front().input).first->second, path.front().input);
      EXPECT_EQ(ejects.emplace(path.back().output, to).first->second, to);
      for (std::size_t i = 0; i < path.size(); ++i) {
        ASSERT_LT(path[i].input, topology.inputs());
        ASSERT_LT(path[i].output, topology.outputs());
        EXPECT_EQ(topology.is_link(path[i].output), i + 1 < path.size());
        if (i + 1 == path.size()) continue;
        EXPECT_EQ(ends.emplace(path[i].output, path[i + 1].input).first->second, path[i + 1].input);
      }
    }
  }
  std::set<std::uint32_t> inputs;
  for (const auto& [link, input] : ends) EXPECT_TRUE(inputs.insert(input).second) << "two links end at input " << input;
  for (const auto& [node, input] : injects) EXPECT_TRUE(inputs.insert(input).second);
  EXPECT_EQ(ejects.size(), topology.nodes());
  std::set<std::string> names;
  for (unsigned output = 0; output < topology.outputs(); ++output) names.insert(topology.output_name(output));
  EXPECT_EQ(names.size(), topology.outputs()) << "each output has its own name";
}

}  // namespace lacuna::test
