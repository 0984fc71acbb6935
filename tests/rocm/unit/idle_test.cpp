// Tests a simulation without work, which checks for work from time to time and sleeps in between.
#include <gtest/gtest.h>
#include <atomic>
#include <chrono>
#include <systemc>
#include <thread>

#include "drivers/rocm/simulation.h"

namespace lacuna::rocm {
namespace {

TEST(Idle, PollsAreRareAndContinue) {
  using HostClock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kSleep{2};
  const RunParameters parameters({{true, "tiny"}, {false, "rocm.longest_sleep=2ms"}}, Machine::process);
  Settings settings;
  settings.write_results = false;
  static ProgressLine line(false);
  static HostWaits waits;
  static Simulation& simulation =
      *new Simulation(parameters, settings, line, waits);  // never deleted: its thread exists as long as the process
  static std::atomic<std::int64_t> looks{0};
  const auto wait_for_look = [](std::int64_t number) {
    while (looks < number) std::this_thread::yield();
  };
  simulation.start([](ProcessPlatform&) {}, {.any =
                                                 [](ProcessPlatform&) {
                                                   ++looks;
                                                   return false;
                                                 },
                                             .spinning = [](ProcessPlatform&) { return 0U; },
                                             .pass = [](ProcessPlatform&) { return false; }});
  // At first the simulation polls without sleeping; then it sleeps between polls, each time longer, up to the limit.
  wait_for_look(300);
  const std::int64_t first = looks;
  const auto begin = HostClock::now();
  wait_for_look(first + 20);
  const std::int64_t last = looks;
  // A sleep may last longer than requested, but is never shorter: this limits the number of sleeps during the measured time.
  EXPECT_LE(last - first, (HostClock::now() - begin) / kSleep + 1);

  // An idle simulation executes jobs.
  bool done = false;
  EXPECT_TRUE(simulation.call([&](ProcessPlatform&) { done = true; }));
  EXPECT_TRUE(done);

  // A thread queries the time while the simulation ends, as ROCm's runtime does: the time never decreases.
  std::atomic<bool> asking{false};
  Tick told{};
  std::thread asker([&] {
    for (unsigned after_the_end = 0; after_the_end < 100; after_the_end += simulation.ended() ? 1 : 0) {
      const Tick now = simulation.sample_time();
      EXPECT_GE(now, told);
      told = now;
      asking = true;
    }
  });
  while (!asking) std::this_thread::yield();
  simulation.stop(RunEnd::guest);
  EXPECT_TRUE(simulation.ended());
  asker.join();
  EXPECT_GT(told, Tick{});
  EXPECT_EQ(simulation.sample_time(), told);
}

}  // namespace
}  // namespace lacuna::rocm

// sc_start() is not called here: the simulation's own thread drives the SystemC kernel.
int sc_main(int argc, char* argv[]) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
