// Tests the memory phase at the end of a window: requests of first-level caches reach the network and memory in order of
// simulated time.
#include "models/gpu/memory_phase.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/cache/deciding_memory.h"
#include "tests/cache/memory_below.h"
#include "tests/gpu/response_recorder.h"
#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"

namespace lacuna::test {
namespace {

using namespace literals;

/// Three caches that send requests to two destinations over a network with flits of 32 bytes.
struct Requesters : sc_core::sc_module {
  Requesters(sc_core::sc_module_name module_name, const FabricParameters& parameters, Tick min_packet_time = {})
      : sc_module(module_name) {
    AddressRoute route{.name = "memory", .base = 0, .size = kSize, .first_destination = 0, .count = 2, .interleave = 64_B};
    fabric = make_fabric("noc", parameters, 3, AddressRoutes({route}));
    phase = std::make_unique<MemoryPhase>(*fabric, nullptr, nullptr, min_packet_time);
    for (unsigned i = 0; i < 3; ++i) {
      const std::string number = std::to_string(i);
      caches.push_back(std::make_unique<FirstLevelCache>(("cache" + number).c_str(), CacheParameters{}));
      initiators.push_back(std::make_unique<TestInitiator>(("initiator" + number).c_str()));
      initiators.back()->socket.bind(caches.back()->upstream[0]);
      caches.back()->downstream.bind(fabric->sources[i]);
      phase->add(*caches.back(), i, i);
    }
    for (unsigned i = 0; i < 2; ++i)
      memories.push_back(std::make_unique<MemoryBelow>(("memory" + std::to_string(i)).c_str(), kSize));
  }
  /// Drops requests in flight and the memories' records of requests.
  void reset() {
    phase->reset();
    for (auto& cache : caches) cache->reset();
    for (auto& memory : memories) memory->requests.clear();
    fabric->reset();
  }
  static constexpr Bytes kSize{1 << 20};
  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<MemoryPhase> phase;
  std::vector<std::unique_ptr<FirstLevelCache>> caches;
  std::vector<std::unique_ptr<MemoryBelow>> memories;
  std::vector<std::unique_ptr<TestInitiator>> initiators;
};

/// Requesters whose destinations are memories.
struct Machine : Requesters {
  Machine(sc_core::sc_module_name module_name, const FabricParameters& parameters) : Requesters(module_name, parameters) {
    for (unsigned i = 0; i < 2; ++i) fabric->destinations[i].bind(memories[i]->port);
  }
};

/// Requesters whose destinations are last-level caches with memories that respond late.
struct LateMachine : Requesters {
  LateMachine(sc_core::sc_module_name module_name, const FabricParameters& parameters, Tick min_packet_time)
      : Requesters(module_name, parameters, min_packet_time) {
    const CacheParameters l2_parameters{
        .write_policy = WritePolicy::write_back, .hit_latency = 20_cycles, .tag_latency = 4_cycles, .fill_latency = 3_cycles};
    for (unsigned i = 0; i < 2; ++i) {
      l2.push_back(std::make_unique<LastLevelCache>(("l2_" + std::to_string(i)).c_str(), l2_parameters, MemoryLevel::l2, 1,
                                                    fabric->routes().slice(i)));
      l2.back()->downstream.bind(memories[i]->port);
      fabric->destinations[i].bind(l2.back()->upstream[0]);
      phase->add_destination(i, *l2.back(), &late[i]);
    }
  }
  void reset() {
    Requesters::reset();
    for (auto& cache : l2) cache->reset();
    for (DecidingMemory& memory : late) memory.reset();
  }
  std::vector<std::unique_ptr<LastLevelCache>> l2;
  std::array<DecidingMemory, 2> late;
};

/// Machines and late machines, of each one on a crossbar with hops of 10 cycles and one on a row of five routers with memories
/// at its ends.
struct MemoryPhaseBench : sc_core::sc_module {
  explicit MemoryPhaseBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  Machine crossbar{"crossbar", FabricParameters{}};
  Machine stepped{
      "stepped",
      {.topology = FabricTopology::mesh, .columns = 5, .rows = 1, .placement = "0,0 4,0", .routers = RouterModel::stepped}};
  LateMachine late{"late", FabricParameters{}, 11_ns};
  LateMachine late_stepped{
      "late_stepped",
      {.topology = FabricTopology::mesh, .columns = 5, .rows = 1, .placement = "0,0 4,0", .routers = RouterModel::stepped},
      {}};
};

LACUNA_TEST_BENCH(MemoryPhaseBench)

/// Sends requests and records their responses by tag.
class Requesting {
 protected:
  void request(Requesters& machine, unsigned cache, std::uint64_t address, Tick after, std::uint32_t tag) {
    MemoryResponse response;
    const MemoryRequest read{.address = address, .bytes = 64, .kind = RequestKind::vector};
    if (machine.caches[cache]->request(read, start_ + after, responses_, tag, response))
      responses_.completed[tag] = response.done;
  }
  ResponseRecorder responses_;
  Tick start_{};
};

class MemoryPhaseTest : public testing::Test, protected Requesting {
 protected:
  explicit MemoryPhaseTest(Machine& machine) : b_(machine) {}
  Machine& b_;

  void SetUp() override {
    b_.reset();
    start_ = now();
  }
  void request(unsigned cache, std::uint64_t address, Tick after, std::uint32_t tag) {
    Requesting::request(b_, cache, address, after, tag);
  }
};

class CrossbarPhaseTest : public MemoryPhaseTest {
 protected:
  CrossbarPhaseTest() : MemoryPhaseTest(bench<MemoryPhaseBench>().crossbar) {}
};

TEST_F(CrossbarPhaseTest, AMissTakesAsLongAsThroughTheSockets) {
  request(0, 0, 0_ns, 1);
  b_.phase->resolve(start_ + 58_ns);
  // In ns: L1 lookup 8 + one flit over a hop 11 + memory 100 + two flits over a hop 12 + L1 fill 8 = 139.
  EXPECT_EQ(responses_.completed.at(1), start_ + 139_ns);
}

TEST_F(CrossbarPhaseTest, RequestsReachMemoryInOrderOfTime) {
  std::mt19937 random(1);
  for (std::uint32_t i = 0; i < 60; ++i) request(2 - i % 3, 128ULL * i, Tick{1000 * (random() % 50)}, i);
  b_.phase->resolve(start_ + 500_ns);
  EXPECT_EQ(responses_.completed.size(), 60U);
  const auto& seen = b_.memories[0]->requests;
  ASSERT_EQ(seen.size(), 60U);
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_LE(seen[i - 1].at, seen[i].at) << i;
}

TEST_F(CrossbarPhaseTest, RequestsThatLeaveAfterTheWindowWaitForTheNextPhase) {
  request(0, 0, 0_ns, 1);
  request(1, 64, 55_ns, 2);  // leaves at 63 ns
  b_.phase->resolve(start_ + 58_ns);
  EXPECT_EQ(responses_.completed.count(1), 1U);
  EXPECT_EQ(responses_.completed.count(2), 0U);
  EXPECT_EQ(b_.phase->next(), start_ + 63_ns);
  b_.phase->resolve(start_ + 116_ns);
  EXPECT_EQ(responses_.completed.count(2), 1U);
  EXPECT_EQ(b_.phase->next(), kNever);
}

// Misses that wait for MSHRs leave as soon as responses before the window's end release them, and complete in the same phase.
TEST_F(CrossbarPhaseTest, RequestsThatAResponseReleasesLeaveInTheSamePhase) {
  const std::uint32_t misses = 3 * CacheParameters{}.mshrs;
  for (std::uint32_t i = 0; i < misses; ++i) request(0, 64ULL * i, 0_ns, i);
  b_.phase->resolve(start_ + 1_us);
  EXPECT_EQ(responses_.completed.size(), misses);
  EXPECT_EQ(b_.phase->next(), kNever);
}

TEST_F(CrossbarPhaseTest, TwoRequestsToOnePortAreServedByTime) {
  request(0, 0, 20_ns, 1);
  request(1, 128, 0_ns, 2);
  b_.phase->resolve(start_ + 58_ns);
  EXPECT_EQ(responses_.completed.at(2), start_ + 139_ns) << "requested later by the host, and not delayed by it";
  EXPECT_EQ(responses_.completed.at(1), start_ + 159_ns);
}

class LateMemoryTest : public testing::TestWithParam<bool>, protected Requesting {
 protected:
  LateMachine& b_ = GetParam() ? bench<MemoryPhaseBench>().late_stepped : bench<MemoryPhaseBench>().late;
  Tick end_{};

  void SetUp() override {
    b_.reset();
    start_ = now();
  }
  void request(unsigned cache, std::uint64_t address, Tick after, std::uint32_t tag) {
    Requesting::request(b_, cache, address, after, tag);
  }
  /// Resolves windows of 4 ns, from the next window to the window that ends at `until`.
  void resolve(Tick until) {
    for (; end_ < until; end_ += 4_ns) b_.phase->resolve(start_ + end_ + 4_ns);
  }
  /// Resolves windows of 4 ns as long as there are requests.
  void resolve_all() {
    for (unsigned windows = 0; b_.phase->next() != kNever; ++windows) {
      ASSERT_LT(windows, 10'000U);
      const Tick next = b_.phase->next();
      if (next > start_ + end_) end_ = Tick{(next - start_).ps / 4000 * 4000};
      end_ += 4_ns;
      b_.phase->resolve(start_ + end_);
    }
  }
};

TEST_P(LateMemoryTest, AMissIsCompletedInThePhaseInWhichItsMemoryDecides) {
  request(0, 0, 0_ns, 1);
  resolve(200_ns);
  // In ns, crossbar: L1 lookup 8 + one flit over a hop 11 + L2 lookup 4 + memory 100 + L2 fill 3 + two flits over a hop 12 + L1
  // fill 8 = 146. In the row of routers, each of the two packets takes 1 ns less.
  EXPECT_EQ(responses_.completed.at(1), start_ + (GetParam() ? 144_ns : 146_ns));
  EXPECT_EQ(b_.phase->next(), kNever);
}

TEST_P(LateMemoryTest, NextSkipsWindowsWithoutWork) {
  request(0, 0, 0_ns, 1);
  unsigned windows = 0;
  for (; b_.phase->next() != kNever; ++windows) {
    ASSERT_LT(windows, 100U);
    end_ = later(end_, b_.phase->next() - start_) + 4_ns;
    b_.phase->resolve(start_ + end_);
  }
  EXPECT_EQ(responses_.completed.at(1), start_ + (GetParam() ? 144_ns : 146_ns));
  EXPECT_LE(windows, GetParam() ? 20U : 4U);
}

TEST_P(LateMemoryTest, EveryRequestIsCompletedOnceInWindowsOfAnyLength) {
  for (const Tick window : {4_ns, 1_ns, 2_ns}) {
    SetUp();
    responses_.completed.clear();
    std::mt19937 random(1);
    for (std::uint32_t i = 0; i < 400; ++i) request(2 - i % 3, 64ULL * (random() % 300), Tick{1000 * (random() % 50)}, i);
    for (Tick end{}; responses_.completed.size() < 400; end += window) {
      ASSERT_LT(end, 100'000_ns);
      b_.phase->resolve(start_ + end + window);
    }
    EXPECT_EQ(b_.phase->next(), kNever);
    for (const DecidingMemory& memory : b_.late) {
      for (std::size_t i = 1; i < memory.requests.size(); ++i) EXPECT_LE(memory.requests[i - 1].at, memory.requests[i].at) << i;
    }
  }
}

TEST_P(LateMemoryTest, ResetDropsRequestsInFlight) {
  for (std::uint32_t i = 0; i < 8; ++i) request(i % 3, 64ULL * i, 0_ns, i);
  resolve(24_ns);
  SetUp();
  responses_.completed.clear();
  EXPECT_EQ(b_.phase->next(), kNever);
  request(1, 0, 0_ns, 9);
  resolve_all();
  EXPECT_EQ(responses_.completed.size(), 1U);
  EXPECT_EQ(responses_.completed.count(9), 1U);
}

INSTANTIATE_TEST_SUITE_P(Networks, LateMemoryTest, testing::Bool(),
                         [](const auto& instance) { return std::string(instance.param ? "stepped" : "crossbar"); });

class SteppedPhaseTest : public MemoryPhaseTest {
 protected:
  SteppedPhaseTest() : MemoryPhaseTest(bench<MemoryPhaseBench>().stepped) {}
  /// Resolves windows of 4 ns, from the next window to the window that ends at `until`.
  void resolve(Tick until) {
    for (; end_ < until; end_ += 4_ns) b_.phase->resolve(start_ + end_ + 4_ns);
  }
  Tick end_{};
};

TEST_F(SteppedPhaseTest, AMissIsCompletedWhenItsReplyHasArrived) {
  request(0, 0, 0_ns, 1);
  EXPECT_EQ(b_.phase->next(), start_ + 8_ns);
  // In ns: L1 lookup 8 + one flit over a link 10 + memory 100 + two flits over a link 11 + L1 fill 8 = 137. The reply leaves
  // its last switch 4 ns before it arrives.
  resolve(124_ns);
  EXPECT_EQ(responses_.completed.count(1), 0U);
  EXPECT_LE(b_.phase->next(), start_ + 125_ns);
  resolve(128_ns);
  EXPECT_EQ(responses_.completed.at(1), start_ + 137_ns);
  EXPECT_EQ(b_.phase->next(), kNever);
}

TEST_F(SteppedPhaseTest, NextSkipsTheTimeUntilTheReplyLeaves) {
  request(0, 0, 0_ns, 1);
  resolve(20_ns);  // the request has arrived
  EXPECT_EQ(b_.phase->next(), start_ + 118_ns) << "when its reply leaves";
}

TEST_F(SteppedPhaseTest, RequestsReachMemoryInOrderOfTimeAndAllAreCompleted) {
  std::mt19937 random(1);
  for (std::uint32_t i = 0; i < 60; ++i) request(2 - i % 3, 128ULL * i, Tick{1000 * (random() % 50)}, i);
  for (unsigned window = 0; b_.phase->next() != kNever; ++window) {
    ASSERT_LT(window, 10'000U);
    resolve(end_ + 4_ns);
  }
  EXPECT_EQ(responses_.completed.size(), 60U);
  const auto& seen = b_.memories[0]->requests;
  ASSERT_EQ(seen.size(), 60U);
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_LE(seen[i - 1].at, seen[i].at) << i;
}

TEST_F(SteppedPhaseTest, ResetDropsPacketsInFlight) {
  request(0, 0, 0_ns, 1);
  request(1, 64, 0_ns, 2);
  resolve(20_ns);
  SetUp();
  end_ = {};
  EXPECT_EQ(b_.phase->next(), kNever);
  request(2, 128, 0_ns, 3);
  resolve(400_ns);
  EXPECT_EQ(responses_.completed.count(1), 0U);
  EXPECT_EQ(responses_.completed.count(2), 0U);
  EXPECT_EQ(responses_.completed.count(3), 1U);
}

}  // namespace
}  // namespace lacuna::test
