#include "models/gpu/agent_registry.h"

#include <gtest/gtest.h>

#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace lacuna::test {
namespace {

struct FakeAgent : Agent {
  FakeAgent(std::string agent_name, std::vector<std::string>& calls) : name(std::move(agent_name)), log(calls) {}
  bool idle() const override { return is_idle; }
  bool busy() const override { return is_busy; }
  bool polled_after(Tick time) const override { return polled > time; }
  std::uint64_t progress() const override { return done; }
  void diagnose(std::ostream& out) const override { out << name << '\n'; }
  void describe_statistics(StatisticsGroup& device) const override { device.group(name).add("done", done, "done", "things"); }
  void retire(Tick horizon) override { log.push_back("retire " + name + " " + std::to_string(horizon.ps)); }
  void reset() override { log.push_back("reset " + name); }

  std::string name;
  std::vector<std::string>& log;
  bool is_idle = true;
  bool is_busy = false;
  Tick polled{};
  std::uint64_t done = 0;
};

struct AgentRegistryTest : testing::Test {
  std::vector<std::string> calls;
  FakeAgent a{"a", calls};
  FakeAgent b{"b", calls};
  AgentRegistry registry;
  AgentRegistryTest() {
    registry.add(a);
    registry.add(b);
  }
};

TEST(AgentRegistry, WithoutAgentsIsIdle) {
  const AgentRegistry none;
  EXPECT_TRUE(none.idle());
  EXPECT_FALSE(none.busy());
  EXPECT_EQ(none.progress(), 0u);
}

TEST_F(AgentRegistryTest, IsIdleWhenAllAreAndBusyWhenOneIs) {
  EXPECT_TRUE(registry.idle());
  EXPECT_FALSE(registry.busy());
  b.is_idle = false;  // not idle, but not busy: the agent polls memory
  EXPECT_FALSE(registry.idle());
  EXPECT_FALSE(registry.busy());
  b.is_busy = true;
  EXPECT_TRUE(registry.busy());
}

TEST_F(AgentRegistryTest, HasPolledWhenAllAgentsHave) {
  a.polled = Tick{10};
  b.polled = Tick{20};
  EXPECT_TRUE(registry.polled_after(Tick{9}));
  EXPECT_FALSE(registry.polled_after(Tick{10}));
  EXPECT_FALSE(registry.polled_after(Tick{20}));
}

TEST_F(AgentRegistryTest, SumsProgressAndVisitsInOrder) {
  a.done = 3;
  b.done = 4;
  EXPECT_EQ(registry.progress(), 7u);
  std::ostringstream text;
  registry.diagnose(text);
  EXPECT_EQ(text.str(), "a\nb\n");
  StatisticsGroup device("device");
  registry.describe_statistics(device);
  EXPECT_EQ(device.counts(), (std::vector<std::uint64_t>{3, 4}));
  registry.retire(Tick{5});
  registry.reset();
  EXPECT_EQ(calls, (std::vector<std::string>{"retire a 5", "retire b 5", "reset a", "reset b"}));
}

}  // namespace
}  // namespace lacuna::test
