// The command scheduler against the reference that looks at every cycle, over random traffic: each column command in the same
// cycle and for the same request; the same sums when time goes on in steps of many cycles.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "models/dram/command_scheduler.h"
#include "tests/dram/reference_scheduler.h"
#include "tests/dram/small_dram.h"

namespace lacuna {
namespace {

using namespace literals;
using Cycle = CommandScheduler::Cycle;
using Random = std::mt19937_64;

struct Traffic {
  const char* name;
  unsigned gap;     // cycles from one request to the next, on average
  unsigned rows;    // that are used of each bank
  unsigned stream;  // requests in a row that have the same bank and row
  unsigned writes;  // of a hundred
};
constexpr Traffic kTraffics[] = {{"light", 40, 3, 1, 40}, {"random", 9, 3, 1, 30},   {"stream", 5, 2, 24, 0},
                                 {"copies", 6, 8, 4, 50}, {"overload", 3, 4, 2, 45}, {"reads", 7, 6, 1, 0},
                                 {"writes", 7, 6, 2, 100}};

struct Request {
  std::uint64_t id;
  bool write;
  std::uint32_t bank;
  std::uint64_t row;
  Cycle at;
};

/// A scheduler that is told requests; of those reads that are served, the sum of cycle - id * kWeight.
struct Scheduler {
  static constexpr std::int64_t kWeight = std::int64_t{1} << 32;

  explicit Scheduler(const DramParameters& p)
      : parameters(p), commands(parameters, RefreshTimes(p.tREFI.n, {}, false), statistics) {}
  void request(const Request& r) {
    const CommandScheduler::Burst burst{r.id, r.row, r.bank};
    if (r.write) {
      commands.write(burst, r.at, r.at);
    } else {
      commands.read(burst, r.at, static_cast<Cycle>(static_cast<std::int64_t>(r.id) * kWeight));
    }
  }
  std::int64_t served_until(Cycle cycle) {
    commands.advance(cycle);
    const std::int64_t sum = commands.owed();
    commands.pay(sum);
    return sum;
  }

  DramParameters parameters;
  DramStatistics statistics;
  CommandScheduler commands;
};

/// Requests of the cycles from `begin` to `end`. The last comes first in the list, and well after the others in time: when many
/// come in order, or nearly, the scheduler makes their sender wait for room.
std::vector<Request> batch(const DramParameters& p, const Traffic& traffic, Cycle begin, Cycle end, Random& random,
                           std::uint64_t& id) {
  const unsigned banks = p.pseudo_channels * p.bank_groups * p.banks_per_group;
  std::vector<Request> result;
  std::uint64_t choice = 0;
  constexpr Cycle kApart = 20;
  for (Cycle at = begin; (at += random() % (2 * traffic.gap + 1)) < end - kApart; ++id) {
    if (id % traffic.stream == 0) choice = random();
    result.push_back(
        {id, random() % 100 < traffic.writes, static_cast<std::uint32_t>(choice % banks), (choice >> 32) % traffic.rows, at});
  }
  if (result.empty()) return result;
  result.back().at += kApart;
  std::rotate(result.begin(), result.end() - 1, result.end());
  return result;
}

/// `jump`: cycles of a step of time; 1 also says in which cycle each column command is.
void compare(const DramParameters& p, const Traffic& traffic, unsigned seed, Cycle jump) {
  constexpr Cycle kBatch = 128;
  constexpr Cycle kTraffic = 4000;
  test::ReferenceScheduler reference(p);
  Scheduler scheduler(p);
  Random random(seed);
  std::uint64_t id = 1;
  std::vector<bool> writes(1);
  std::vector<std::uint64_t> written;  // in this step
  std::uint64_t all_written = 0;
  std::int64_t expected = 0;
  for (Cycle now = 0; now < kTraffic || !reference.idle(); ++now) {
    if (now % kBatch == 0 && now < kTraffic) {
      for (const Request& r : batch(p, traffic, now, now + kBatch, random, id)) {
        reference.request(r.id, r.write, r.bank, r.row, r.at);
        scheduler.request(r);
        if (writes.size() <= r.id) writes.resize(r.id + 1);
        writes[r.id] = r.write;
      }
    }
    if (const std::optional<std::uint64_t> served = reference.tick(now % jump == 0); !served) {
    } else if (writes[*served]) {
      ASSERT_TRUE(scheduler.commands.is_pending(*served)) << *served << " before cycle " << now;
      written.push_back(*served);
    } else {
      expected += static_cast<std::int64_t>(now) - static_cast<std::int64_t>(*served) * Scheduler::kWeight;
    }
    ASSERT_LT(now, 40 * kTraffic);
    if ((now + 1) % jump != 0) continue;
    ASSERT_EQ(scheduler.served_until(now + 1), expected) << "cycle " << now;
    for (const std::uint64_t write : written) {
      ASSERT_FALSE(scheduler.commands.is_pending(write)) << write << " in cycle " << now;
    }
    all_written += written.size();
    ASSERT_EQ(scheduler.statistics.bus_busy.ps, all_written * p.burst.n * p.clock.period().ps) << "cycle " << now;
    expected = 0;
    written.clear();
  }
  ASSERT_GT(id, kTraffic / traffic.gap / 2);
  EXPECT_EQ(scheduler.served_until(reference.now()), expected);
  EXPECT_EQ(scheduler.commands.waiting(), 0U);
}

class SchedulerReference : public testing::TestWithParam<Traffic> {
 public:
  static DramParameters parameters() { return test::small_dram(); }
  static void compare_all(const DramParameters& p) {
    for (unsigned seed = 1; seed <= 2; ++seed) {
      for (const Cycle jump : {1, 4, 64}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << jump << " cycles at a time");
        compare(p, GetParam(), seed, jump);
      }
    }
  }
};

TEST_P(SchedulerReference, OpenPages) { compare_all(parameters()); }

TEST_P(SchedulerReference, ClosedPages) {
  DramParameters p = parameters();
  p.page_policy = DramPagePolicy::closed;
  compare_all(p);
}

TEST_P(SchedulerReference, InOrder) {
  DramParameters p = parameters();
  p.scheduler = DramScheduler::fcfs;
  compare_all(p);
}

TEST_P(SchedulerReference, Refresh) {
  DramParameters p = parameters();
  p.tREFI = 500_cycles;
  p.tRFC = 60_cycles;
  compare_all(p);
}

TEST_P(SchedulerReference, PseudoChannelsAndLongActivates) {
  DramParameters p = parameters();
  p.pseudo_channels = 2;
  p.activate_cycles = 2_cycles;
  p.tREFI = 900_cycles;
  p.tRFC = 60_cycles;
  compare_all(p);
}

TEST_P(SchedulerReference, ManyBanks) {
  DramParameters p = parameters();
  p.bank_groups = 8;
  p.banks_per_group = 16;  // more than a word of bits
  compare_all(p);
}

TEST_P(SchedulerReference, ShortQueues) {
  for (const unsigned queue : {3U, 5U}) {
    DramParameters p = parameters();
    p.read_queue = queue;
    p.write_queue = queue + 1;
    p.write_low = 0;
    compare_all(p);
  }
}

INSTANTIATE_TEST_SUITE_P(Traffics, SchedulerReference, testing::ValuesIn(kTraffics),
                         [](const testing::TestParamInfo<Traffic>& instance) { return instance.param.name; });

}  // namespace
}  // namespace lacuna
