// The DRAM schedule with requesters that wait for its responses, compared with a controller that decides cycle by cycle
// (dram_controller.h): each requester reads a line, writes a line when the data have arrived, and continues with the next line.
// Unlike in traffic that is fixed beforehand (dram_mixed_test.cpp), the completion times determine when the next requests
// arrive, so a difference of one cycle would propagate.
//
// With few requesters the channel waits for them. With many, reads wait together while writes are served. The requesters
// therefore proceed together, and the bus changes direction less often than the watermarks require. Schedule and controller
// must transfer every line in the same cycles.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
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

constexpr Cycle kStart = 5000;     // cycle after the first refresh
constexpr unsigned kLines = 8192;  // number of copied lines
constexpr unsigned kLineBytes = 64;
constexpr std::uint64_t kCopy = 1 << 25;  // destination of the lines
constexpr Cycle kAnswer = 300;            // cycles from the arrival of a read's last datum at the controller to its receipt
constexpr Cycle kBeforeWrite = 200;       // cycles from the requester's receipt of the data to its write
constexpr Cycle kBeforeRead = 100;        // cycles from the write's acceptance to the next read

struct Event {
  enum class Kind : std::uint8_t { read, answered, write };
  Cycle at;
  Kind kind;
  unsigned line;
  bool operator>(const Event& other) const { return std::tuple(at, kind, line) > std::tuple(other.at, other.kind, other.line); }
};
using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

/// The first read of each requester; requesters begin two cycles apart, and copy lines in order.
Events first_reads(unsigned requesters) {
  Events events;
  for (unsigned i = 0; i < requesters; ++i) events.push({kStart + 2 * i, Event::Kind::read, i});
  return events;
}

unsigned burst_of(const DramParameters& p) { return static_cast<unsigned>(p.burst.n) * p.bytes_per_cycle; }

/// Time at which the last datum of each line's read has arrived at the controller, and at which its write has been accepted.
struct Copy {
  std::vector<Cycle> read = std::vector<Cycle>(kLines);
  std::vector<Cycle> written = std::vector<Cycle>(kLines);

  /// Number of copied bytes per cycle.
  double rate() const {
    return 2.0 * kLines * kLineBytes / static_cast<double>(*std::max_element(written.begin(), written.end()) - kStart);
  }
};

/// Lines that wait for room in a queue, by arrival.
struct Offers {
  struct Line {
    unsigned number;
    Cycle at;
  };
  std::deque<Line> lines;
  unsigned bursts = 0;  // bursts of the first line that have been accepted
  bool full = false;    // the queue is full in this cycle
};

Copy run_controller(const DramParameters& p, unsigned requesters) {
  const unsigned burst = burst_of(p);
  const unsigned bursts = kLineBytes / burst;
  validation::DramController controller(p);
  while (controller.now() < kStart) controller.tick();
  Copy copy;
  Events events = first_reads(requesters);
  std::vector<unsigned> missing(kLines, bursts);  // for each line: bursts of its read whose data have not arrived
  Offers reads;
  Offers writes;
  unsigned next = requesters;
  unsigned copied = 0;
  while (copied < kLines) {
    const Cycle now = controller.now();
    for (; !events.empty() && events.top().at <= now; events.pop()) {
      const Event event = events.top();
      if (event.kind == Event::Kind::read) reads.lines.push_back({event.line, now});
      if (event.kind == Event::Kind::write) writes.lines.push_back({event.line, now});
      if (event.kind == Event::Kind::answered && --missing[event.line] == 0) {
        copy.read[event.line] = now;
        events.push({now + kAnswer + kBeforeWrite, Event::Kind::write, event.line});
      }
    }
    // Offers bursts of the oldest line whose queue has room.
    reads.full = writes.full = false;
    const auto may_enter = [](const Offers& offers) { return !offers.full && !offers.lines.empty(); };
    while (may_enter(reads) || may_enter(writes)) {
      const bool write = !may_enter(reads) || (may_enter(writes) && writes.lines.front().at < reads.lines.front().at);
      Offers& offers = write ? writes : reads;
      const unsigned line = offers.lines.front().number;
      const std::uint64_t address = (write ? kCopy : 0) + std::uint64_t{line} * kLineBytes + offers.bursts * burst;
      if (!controller.offer(address, write, 2 * line + write)) {
        offers.full = true;
        continue;
      }
      if (++offers.bursts < bursts) continue;
      offers.bursts = 0;
      offers.lines.pop_front();
      if (!write) continue;
      if (next < kLines) events.push({now + kBeforeRead, Event::Kind::read, next++});
      ++copied;
      copy.written[line] = now;
    }
    controller.tick();
    for (const validation::DramController::Completion& done : controller.completed()) {
      if (done.id % 2 == 0) events.push({done.done, Event::Kind::answered, static_cast<unsigned>(done.id / 2)});
    }
  }
  return copy;
}

Copy run_schedule(const DramParameters& p, unsigned requesters) {
  const std::uint64_t period = p.clock.period().ps;
  DramSchedule schedule(p);
  Copy copy;
  Events events = first_reads(requesters);
  std::vector<DramSchedule::Completion> completed;
  unsigned next = requesters;
  unsigned copied = 0;
  const auto accepted = [&](unsigned line, Cycle cycle) {
    if (next < kLines) events.push({cycle + kBeforeRead, Event::Kind::read, next++});
    ++copied;
    copy.written[line] = cycle;
  };
  Cycle now = kStart;
  while (copied < kLines) {
    // Advances to the next event, but no further than the first event that an undecided completion may cause.
    now = std::min(now + kBeforeRead, events.empty() ? ~Cycle{0} : events.top().at);
    completed.clear();
    schedule.decide(Tick{now * period}, completed);
    for (const DramSchedule::Completion& completion : completed) {
      const unsigned line = completion.number / 2;
      const Cycle done = completion.read.done.ps / period;
      if (completion.number % 2 == 0) {
        copy.read[line] = done;
        events.push({done + kAnswer + kBeforeWrite, Event::Kind::write, line});
      } else {
        accepted(line, done);
      }
    }
    if (events.empty() || events.top().at != now) continue;
    const Event event = events.top();
    events.pop();
    const Tick at{event.at * period};
    const std::uint64_t address = std::uint64_t{event.line} * kLineBytes;
    if (event.kind == Event::Kind::read) {
      schedule.read_later(address, kLineBytes, at, 2 * event.line);
    } else if (const auto taken = schedule.write_later(kCopy + address, kLineBytes, at, 2 * event.line + 1)) {
      accepted(event.line, taken->ps / period);
    }
  }
  return copy;
}

class ClosedLoop : public testing::TestWithParam<const char*> {};

TEST_P(ClosedLoop, CopiesOfRequestersThatWait) {
  const char* const standard = GetParam();
  const DramParameters parameters = validation::dram_preset(fmt::format("{}.cfg", standard).c_str());
  validation::Comparison results(fmt::format("dram_closed_loop_{}.csv", standard), {"requesters"});
  for (const unsigned requesters : {16, 32, 64, 128, 256}) {
    const Copy expected = run_controller(parameters, requesters);
    const Copy ours = run_schedule(parameters, requesters);
    const double error = results.add({fmt::format("{}", requesters)}, "bytes a cycle", ours.rate(), expected.rate(), 0);
    fmt::print("{:6} {:4} requesters: {:6.2f} bytes a cycle, {:6.2f} ({:+.1f} %)\n", standard, requesters, ours.rate(),
               expected.rate(), 100 * error);
    EXPECT_EQ(ours.rate(), expected.rate()) << requesters << " requesters";
    for (unsigned line = 0; line < kLines; ++line) {
      ASSERT_EQ(ours.read[line], expected.read[line]) << "line " << line << " of " << requesters << " requesters";
      ASSERT_EQ(ours.written[line], expected.written[line]) << "line " << line << " of " << requesters << " requesters";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Standards, ClosedLoop, testing::Values("hbm", "hbm2", "hbm2e", "gddr5"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace lacuna
