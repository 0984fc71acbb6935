// The edge of a window: what first-level caches ask for reaches the network and memory in order of simulated time.
#include "models/gpu/memory_edge.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/cache/memory_below.h"
#include "tests/gpu/line_answers.h"
#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"

namespace lacuna::test {
namespace {

using namespace literals;

/// Three caches and two memories on a crossbar: hop 10 cycles, 32 bytes a flit.
struct EdgeBench : sc_core::sc_module {
  explicit EdgeBench(sc_core::sc_module_name module_name) : sc_module(module_name) {
    AddressRoute route{
        .name = "memory", .base = 0, .size = Bytes{1 << 20}, .first_destination = 0, .count = 2, .interleave = 64_B};
    fabric = make_fabric("noc", FabricParameters{}, 3, AddressRoutes({route}));
    edge = std::make_unique<MemoryEdge>(*fabric, nullptr);
    for (unsigned i = 0; i < 3; ++i) {
      const std::string number = std::to_string(i);
      caches.push_back(std::make_unique<FirstLevelCache>(("cache" + number).c_str(), CacheParameters{}));
      initiators.push_back(std::make_unique<TestInitiator>(("initiator" + number).c_str()));
      initiators.back()->socket.bind(caches.back()->upstream[0]);
      caches.back()->downstream.bind(fabric->sources[i]);
      edge->add(*caches.back(), i, i);
    }
    for (unsigned i = 0; i < 2; ++i) {
      memories.push_back(std::make_unique<MemoryBelow>(("memory" + std::to_string(i)).c_str(), Bytes{1 << 20}));
      fabric->destinations[i].bind(memories.back()->port);
    }
  }
  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<MemoryEdge> edge;
  std::vector<std::unique_ptr<FirstLevelCache>> caches;
  std::vector<std::unique_ptr<MemoryBelow>> memories;
  std::vector<std::unique_ptr<TestInitiator>> initiators;
};

LACUNA_TEST_BENCH(EdgeBench)

class MemoryEdgeTest : public testing::Test {
 protected:
  EdgeBench& b_ = bench<EdgeBench>();
  Answers answers_;

  void SetUp() override {
    for (auto& cache : b_.caches) cache->reset();
    for (auto& memory : b_.memories) memory->requests.clear();
    b_.fabric->reset();
    start_ = now();
  }
  void ask(unsigned cache, std::uint64_t address, Tick after, std::uint32_t tag) {
    LineAnswer answer;
    const LineAccess access{.address = address, .bytes = 64, .kind = RequestKind::vector};
    if (b_.caches[cache]->access(access, start_ + after, answers_, tag, answer)) answers_.told[tag] = answer.done;
  }
  Tick start_{};
};

TEST_F(MemoryEdgeTest, AMissTakesAsLongAsThroughTheSockets) {
  ask(0, 0, 0_ns, 1);
  b_.edge->settle(start_ + 58_ns);
  // Look-up 8, one flit over a hop 11, memory 100, two flits 12, fill 8.
  EXPECT_EQ(answers_.told.at(1), start_ + 139_ns);
}

TEST_F(MemoryEdgeTest, RequestsReachMemoryInOrderOfTimeWhoeverAskedFirst) {
  std::mt19937 random(1);
  for (std::uint32_t i = 0; i < 60; ++i) ask(2 - i % 3, 128ULL * i, Tick{1000 * (random() % 50)}, i);
  b_.edge->settle(start_ + 500_ns);
  EXPECT_EQ(answers_.told.size(), 60U);
  const auto& seen = b_.memories[0]->requests;
  ASSERT_EQ(seen.size(), 60U);
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_LE(seen[i - 1].at, seen[i].at) << i;
}

TEST_F(MemoryEdgeTest, WhatLeavesAfterTheEdgeWaitsForTheNext) {
  ask(0, 0, 0_ns, 1);
  ask(1, 64, 55_ns, 2);  // leaves at 63
  b_.edge->settle(start_ + 58_ns);
  EXPECT_EQ(answers_.told.count(1), 1U);
  EXPECT_EQ(answers_.told.count(2), 0U);
  EXPECT_EQ(b_.edge->next(), start_ + 63_ns);
  b_.edge->settle(start_ + 116_ns);
  EXPECT_EQ(answers_.told.count(2), 1U);
  EXPECT_EQ(b_.edge->next(), kNever);
}

TEST_F(MemoryEdgeTest, TwoRequestsToOnePortAreServedByTime) {
  ask(0, 0, 20_ns, 1);
  ask(1, 128, 0_ns, 2);
  b_.edge->settle(start_ + 58_ns);
  EXPECT_EQ(answers_.told.at(2), start_ + 139_ns) << "it came later in host time and is not delayed";
  EXPECT_EQ(answers_.told.at(1), start_ + 159_ns);
}

}  // namespace
}  // namespace lacuna::test
