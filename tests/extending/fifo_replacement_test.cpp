// Tests the replacement policy of docs/guide/extending.md, in a tag array and in a cache.
#include "tests/extending/fifo_replacement.h"

#include <gtest/gtest.h>

#include "models/cache/cache.h"
#include "tests/cache/memory_below.h"
#include "tests/cache/replacement_contract.h"
#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"

namespace lacuna {
namespace {

using namespace literals;

TEST(Fifo, ObeysTheContract) { test::check_replacement(kFifo); }

// A cache of one set with two ways. The test below installs two lines, hits the first, installs a third, and reads the first.
CacheParameters two_ways(const ReplacementPolicy& policy) { return {.size = 128_B, .ways = 2, .replacement = policy}; }

struct FifoBench : sc_core::sc_module {
  explicit FifoBench(sc_core::sc_module_name n) : sc_module(n) {
    fifo_initiator.socket.bind(fifo.upstream[0]);
    fifo.downstream.bind(fifo_memory.port);
    lru_initiator.socket.bind(lru.upstream[0]);
    lru.downstream.bind(lru_memory.port);
  }
  test::TestInitiator fifo_initiator{"fifo_initiator"};
  test::TestInitiator lru_initiator{"lru_initiator"};
  Cache fifo{"fifo", two_ways(kFifo), MemoryLevel::l1};
  Cache lru{"lru", two_ways(ReplacementPolicy::lru), MemoryLevel::l1};
  test::MemoryBelow fifo_memory{"fifo_memory", Bytes{1 << 16}};
  test::MemoryBelow lru_memory{"lru_memory", Bytes{1 << 16}};
};
LACUNA_TEST_BENCH(FifoBench)

TEST(Fifo, AUseDoesNotKeepALine) {
  auto& b = test::bench<FifoBench>();
  for (test::TestInitiator* initiator : {&b.fifo_initiator, &b.lru_initiator}) {
    Tick at{};
    for (const std::uint64_t address : {0x000, 0x040, 0x000, 0x080, 0x000}) initiator->time_read(at += 1_us, address, 4);
  }
  EXPECT_EQ(b.lru.statistics().read_hits, 2U);
  EXPECT_EQ(b.fifo.statistics().read_hits, 1U) << "the first line was replaced, although used last";
}

struct Section {
  Choice<ReplacementPolicy> replacement = ReplacementPolicy::lru;
  void describe(ParameterSection& section) {
    static constexpr const ReplacementPolicy* kPolicies[] = {&ReplacementPolicy::lru, &kFifo};
    section.add<ReplacementPolicy>("replacement", replacement, "Line of a full set that is replaced", kPolicies);
  }
};

TEST(Fifo, IsSelectedByName) {
  Section section;
  ParameterSet set;
  set.describe("l1v", section);
  Parameter& parameter = *set.find("l1v.replacement");
  EXPECT_EQ(parameter.description,
            "Line of a full set that is replaced. lru: the line whose last use is the longest ago; fifo: the line that was "
            "installed first");
  EXPECT_EQ(parameter.legal(), "lru | fifo");
  EXPECT_EQ(parameter.parse("fito"), "\"fito\" is not one of lru | fifo; did you mean fifo?");
  EXPECT_EQ(parameter.text(), "lru");
  EXPECT_EQ(parameter.parse("fifo"), std::nullopt);
  EXPECT_EQ(section.replacement, kFifo);
  EXPECT_EQ(parameter.text(), "fifo");
}

}  // namespace
}  // namespace lacuna
