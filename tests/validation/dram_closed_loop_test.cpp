// The DRAM schedule under requesters that wait for its answers, against a controller that decides cycle by cycle
// (dram_controller.h): each of them reads a line, writes one when the data have come, and goes on with the next. The time
// that a read is given decides when writes and further reads come; in traffic that is fixed beforehand (dram_mixed_test.cpp) it
// does not.
//
// With few requesters both carry the same. With many, the controller's reads wait together while writes are served, so that the
// requesters take their turns together, and it turns the bus round less often than its watermarks ask for. The schedule tells a
// read its time when it is made, and spreads what it learns later over the next ones: the turns do not come together, and
// copies that saturate a channel are up to a quarter slower. See docs/DEVIATIONS.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "models/dram/dram_schedule.h"
#include "tests/validation/dram_controller.h"
#include "tests/validation/dram_preset.h"
#include "tests/validation/reference_table.h"

namespace lacuna {
namespace {

using Cycle = std::uint64_t;

constexpr Cycle kStart = 5000;     // behind the first refresh
constexpr unsigned kLines = 8192;  // that are copied
constexpr unsigned kLineBytes = 64;
constexpr std::uint64_t kCopy = 1 << 25;  // where they go
constexpr Cycle kAnswer = 300;            // from the last datum to the requester
constexpr Cycle kBeforeWrite = 200;       // from there to the write
constexpr Cycle kBeforeRead = 100;        // from the write's acceptance to the next read

struct Event {
  enum class Kind : std::uint8_t { read, answered, write };
  Cycle at;
  Kind kind;
  unsigned line;
  bool operator>(const Event& other) const { return std::tuple(at, kind, line) > std::tuple(other.at, other.kind, other.line); }
};
using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

/// Requesters begin two cycles apart. Lines are taken in order.
Events first_reads(unsigned requesters) {
  Events events;
  for (unsigned i = 0; i < requesters; ++i) events.push({kStart + 2 * i, Event::Kind::read, i});
  return events;
}

unsigned burst_of(const DramParameters& p) { return static_cast<unsigned>(p.burst.n) * p.bytes_per_cycle; }

/// Bytes a cycle.
double rate(Cycle last) { return 2.0 * kLines * kLineBytes / static_cast<double>(last - kStart); }

double controller_rate(const DramParameters& p, unsigned requesters) {
  const unsigned burst = burst_of(p);
  const unsigned bursts = kLineBytes / burst;
  validation::DramController controller(p);
  while (controller.now() < kStart) controller.tick();
  Events events = first_reads(requesters);
  std::vector<unsigned> missing(kLines, bursts);  // of each line's read
  std::deque<unsigned> reads;                     // lines that wait for room in the queue
  std::deque<unsigned> writes;
  unsigned offered_read = 0;  // bursts of the first of them
  unsigned offered_write = 0;
  unsigned next = requesters;
  unsigned copied = 0;
  Cycle last = kStart;
  while (copied < kLines) {
    const Cycle now = controller.now();
    for (; !events.empty() && events.top().at <= now; events.pop()) {
      const Event event = events.top();
      if (event.kind == Event::Kind::read) reads.push_back(event.line);
      if (event.kind == Event::Kind::write) writes.push_back(event.line);
      if (event.kind == Event::Kind::answered && --missing[event.line] == 0)
        events.push({now + kAnswer + kBeforeWrite, Event::Kind::write, event.line});
    }
    const auto address = [&](unsigned line, unsigned number) { return std::uint64_t{line} * kLineBytes + number * burst; };
    while (!reads.empty() && controller.offer(address(reads.front(), offered_read), false, 2 * reads.front())) {
      if (++offered_read < bursts) continue;
      offered_read = 0;
      reads.pop_front();
    }
    while (!writes.empty() && controller.offer(kCopy + address(writes.front(), offered_write), true, 2 * writes.front() + 1)) {
      if (++offered_write < bursts) continue;
      offered_write = 0;
      writes.pop_front();
      if (next < kLines) events.push({now + kBeforeRead, Event::Kind::read, next++});
      ++copied;
      last = now;
    }
    controller.tick();
    for (const validation::DramController::Completion& done : controller.completed()) {
      if (done.id % 2 == 0) events.push({done.done, Event::Kind::answered, static_cast<unsigned>(done.id / 2)});
    }
  }
  return rate(last);
}

double schedule_rate(const DramParameters& p, unsigned requesters) {
  const unsigned burst = burst_of(p);
  const std::uint64_t period = p.clock.period().ps;
  DramSchedule schedule(p, {}, std::size_t{requesters} * kLineBytes / burst);
  Events events = first_reads(requesters);
  unsigned next = requesters;
  unsigned copied = 0;
  Cycle last = kStart;
  while (copied < kLines) {
    const Event event = events.top();
    events.pop();
    const Tick at{event.at * period};
    const std::uint64_t address = std::uint64_t{event.line} * kLineBytes;
    if (event.kind == Event::Kind::read) {
      const Cycle done = schedule.read(address, kLineBytes, at).done.ps / period;
      events.push({done + kAnswer + kBeforeWrite, Event::Kind::write, event.line});
    } else {
      const Cycle accepted = schedule.write(kCopy + address, kLineBytes, at).ps / period;
      if (next < kLines) events.push({accepted + kBeforeRead, Event::Kind::read, next++});
      ++copied;
      last = std::max(last, accepted);
    }
    if (copied % 64 == 0) schedule.retire(at);
  }
  return rate(last);
}

struct Case {
  const char* standard;
  double saturated;  ///< allowed error with 256 requesters
};

class ClosedLoop : public testing::TestWithParam<Case> {};

TEST_P(ClosedLoop, CopiesOfRequestersThatWait) {
  const auto& [standard, saturated] = GetParam();
  const DramParameters parameters = validation::dram_preset(fmt::format("{}.cfg", standard).c_str());
  validation::Comparison results(fmt::format("dram_closed_loop_{}.csv", standard), {"requesters"});
  for (const unsigned requesters : {16, 32, 64, 128, 256}) {
    const double allowed = requesters == 256 ? saturated : 0.1;
    const double expected = controller_rate(parameters, requesters);
    const double ours = schedule_rate(parameters, requesters);
    const double error = results.add({fmt::format("{}", requesters)}, "bytes a cycle", ours, expected, allowed);
    fmt::print("{:6} {:4} requesters: {:6.2f} bytes a cycle, {:6.2f} ({:+.1f} %)\n", standard, requesters, ours, expected,
               100 * error);
    EXPECT_LE(std::abs(error), allowed) << requesters << " requesters";
  }
}

constexpr Case kCases[] = {{"hbm", 0.05}, {"hbm2", 0.15}, {"hbm2e", 0.25}, {"gddr5", 0.14}};
INSTANTIATE_TEST_SUITE_P(Standards, ClosedLoop, testing::ValuesIn(kCases),
                         [](const auto& instance) { return std::string(instance.param.standard); });

}  // namespace
}  // namespace lacuna
