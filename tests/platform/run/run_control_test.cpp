// Tests the run loop with a small model: a simulation ends in every way that the loop detects, at the correct simulated time.
#include "platform/run/run_control.h"

#include <gtest/gtest.h>
#include <csignal>
#include <systemc>

#include "models/common/time/tlm_time.h"

namespace lacuna {
namespace {

using namespace literals;

/// Performs `steps_left` steps of work, one every `period`. Afterwards idle, with events every `idle_period` unless that is 0.
struct Worker : sc_core::sc_module {
  std::uint64_t steps_left = 0;
  std::uint64_t work = 0;
  Tick period{};
  Tick idle_period{};
  sc_core::sc_event next;

  explicit Worker(sc_core::sc_module_name module_name) : sc_module(module_name) {
    SC_HAS_PROCESS(Worker);
    SC_METHOD(step);
    sensitive << next;
    dont_initialize();
  }
  void start(std::uint64_t steps, Tick work_period, Tick idle) {
    steps_left = steps;
    period = work_period;
    idle_period = idle;
    next.notify(to_sc_time(period));
  }
  void step() {
    if (steps_left > 0) {
      --steps_left;
      ++work;
      next.notify(to_sc_time(period));
    } else if (idle_period != Tick{}) {
      next.notify(to_sc_time(idle_period));
    }
  }
};

Worker& worker() {
  static Worker instance("worker");
  return instance;
}

struct Outcome {
  RunEnd end;
  Tick duration;
};

Outcome run(const SimulationParameters& limits, bool timer_armed = false, std::uint64_t end_after = ~std::uint64_t{0},
            bool output_fails = false) {
  RunObserver observer;
  observer.ended = [=] { return worker().work >= end_after; };
  observer.progress = [] { return worker().work; };
  observer.timer_armed = [=] { return timer_armed; };
  observer.output_failed = [=] { return output_fails; };
  observer.between_slices = [] {};
  const RunEnd end = run_simulation(limits, observer);
  return {end, to_tick(sc_core::sc_time_stamp())};
}

// A process has only one SystemC kernel, so all cases run on it, in this order.
TEST(RunControl, EndsInEveryWayAtTheRightTime) {
  // The time limit is reached. A step of work every 10 us; events at the limit itself do not occur.
  worker().start(~std::uint64_t{0}, 10_us, Tick{});
  Outcome r = run({.max_time = 1000_us, .max_idle = 100_us});
  EXPECT_EQ(r.end, RunEnd::time_limit);
  EXPECT_EQ(r.duration, 1000_us);
  EXPECT_EQ(worker().work, 99u);

  // The guest exits.
  r = run({.max_time = Tick{}, .max_idle = 100_us}, false, 200);
  EXPECT_EQ(r.end, RunEnd::guest);

  // The run ends after a request to stop.
  {
    const InterruptHandler handler;
    EXPECT_FALSE(InterruptHandler::requested());
    std::raise(SIGINT);
    EXPECT_TRUE(InterruptHandler::requested());
    EXPECT_EQ(InterruptHandler::signal(), SIGINT);
    EXPECT_EQ(run({.max_time = Tick{}, .max_idle = 100_us}).end, RunEnd::interrupted);
  }

  // The run ends because its output would be lost.
  EXPECT_EQ(run({.max_time = Tick{}, .max_idle = 100_us}, false, ~std::uint64_t{0}, true).end, RunEnd::output_failed);

  // Idle events continue forever. They count as progress only if a timer is pending.
  worker().steps_left = 0;
  worker().idle_period = 50_us;
  const Tick begin = to_tick(sc_core::sc_time_stamp());
  r = run({.max_time = begin + 5000_us, .max_idle = 100_us}, true);
  EXPECT_EQ(r.end, RunEnd::time_limit);
  EXPECT_LT(begin + 4950_us, r.duration) << "time stands at the last event before the limit, less than a period away";
  EXPECT_LE(r.duration, begin + 5000_us);
  r = run({.max_time = Tick{}, .max_idle = 100_us}, false);
  EXPECT_EQ(r.end, RunEnd::no_progress);

  // The run ends because no events are pending.
  worker().idle_period = Tick{};
  r = run({.max_time = Tick{}, .max_idle = 10'000_us}, false);
  EXPECT_EQ(r.end, RunEnd::no_events);
}

}  // namespace
}  // namespace lacuna

int sc_main(int argc, char* argv[]) {
  lacuna::worker();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
