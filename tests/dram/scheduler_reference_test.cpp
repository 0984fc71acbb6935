// Compares the command scheduler with a reference that simulates every cycle, on random traffic: column commands of reads and
// entries of writes into their queue must be in the same cycle, in the same order and for the same request, however far one
// call advances time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "models/dram/detail/inline_scheduling.h"
#include "tests/dram/reference_scheduler.h"
#include "tests/dram/small_dram.h"

namespace lacuna {
namespace {

using namespace literals;
using Cycle = CommandScheduler::Cycle;
using Random = std::mt19937_64;
using Reference = test::ReferenceScheduler;

struct Traffic {
  const char* name;
  unsigned gap;     // cycles from one request to the next, on average
  unsigned rows;    // number of rows used in each bank
  unsigned stream;  // number of consecutive requests to the same bank and row
  unsigned writes;  // percentage of writes
};
constexpr Traffic kTraffics[] = {{"light", 40, 3, 1, 40}, {"random", 9, 3, 1, 30},   {"stream", 5, 2, 24, 0},
                                 {"copies", 6, 8, 4, 50}, {"overload", 3, 4, 2, 45}, {"reads", 7, 6, 1, 0},
                                 {"writes", 7, 6, 2, 100}};

void PrintTo(const Traffic& traffic, std::ostream* out) { *out << traffic.name; }

struct Request {
  std::uint64_t id;
  bool write;
  std::uint32_t bank;
  std::uint64_t row;
  Cycle at;
};

using Command = CommandScheduler::Command;

Command command_of(Reference::Command command) {
  return command == Reference::Command::column      ? Command::column
         : command == Reference::Command::precharge ? Command::precharge
                                                    : Command::activate;
}

/// The scheduler under test. Most requests have their number as requester; every fourth request has no requester.
struct Scheduler {
  static constexpr std::int64_t kWeight = std::int64_t{1} << 32;

  explicit Scheduler(const DramParameters& p)
      : parameters(p), commands(parameters, RefreshTimes(p.tREFI.n, {}, false), statistics) {}
  static bool has_requester(std::uint64_t id) { return id % 4 != 0; }
  void request(const Request& r) {
    const CommandScheduler::Burst burst{r.id, r.row, r.bank};
    const auto requester =
        has_requester(r.id) ? static_cast<CommandScheduler::Requester>(r.id) : CommandScheduler::kNoRequester;
    if (r.write) {
      commands.write(burst, r.at, requester);
    } else if (has_requester(r.id)) {
      commands.read_later(burst, r.at, requester);
    } else {
      commands.read(burst, r.at, static_cast<Cycle>(static_cast<std::int64_t>(r.id) * kWeight));
    }
  }
  /// Sum of cycle - id * kWeight over the reads without requester that were served since the last call.
  std::int64_t take_sum() {
    const std::int64_t sum = commands.owed();
    commands.pay(sum);
    return sum;
  }

  DramParameters parameters;
  DramStatistics statistics;
  CommandScheduler commands;
};

/// Random requests that arrive in [begin, end), shuffled.
std::vector<Request> batch(const DramParameters& p, const Traffic& traffic, Cycle begin, Cycle end, Random& random,
                           std::uint64_t& id) {
  const unsigned banks = p.pseudo_channels * p.bank_groups * p.banks_per_group;
  std::vector<Request> result;
  std::uint64_t choice = 0;
  for (Cycle at = begin; (at += random() % (2 * traffic.gap + 1)) < end; ++id) {
    if (id % traffic.stream == 0) choice = random();
    result.push_back(
        {id, random() % 100 < traffic.writes, static_cast<std::uint32_t>(choice % banks), (choice >> 32) % traffic.rows, at});
  }
  std::shuffle(result.begin(), result.end(), random);
  return result;
}

/// Events of the reference, as decisions and counts that the scheduler must report.
struct Expected {
  std::vector<CommandScheduler::Decision> decisions;  // decisions of the whole run
  std::int64_t sum = 0;                               // expected result of Scheduler::take_sum()
  std::vector<std::uint64_t> written;                 // writes issued since the last check
  DramStatistics writes;
  std::vector<bool> writing;  // whether each pseudo channel's last column command was a write's
};

void expect(Expected& expected, const Reference::Event& event, std::uint32_t pseudo, Cycle now) {
  const auto requester = static_cast<CommandScheduler::Requester>(event.id);
  const bool asked = Scheduler::has_requester(event.id);
  if (event.enters) {
    if (event.write && asked) expected.decisions.push_back({requester, Command::none, now});
    return;
  }
  expected.writes.write_drains += event.write && !expected.writing[pseudo];
  expected.writing[pseudo] = event.write;
  if (event.write) {
    expected.written.push_back(event.id);
    ++expected.writes.writes;
    expected.writes.row_hits += event.first == Reference::Command::column;
    expected.writes.row_conflicts += event.first == Reference::Command::precharge;
    expected.writes.row_empty += event.first == Reference::Command::activate;
  } else if (asked) {
    expected.decisions.push_back({requester, command_of(event.first), now});
  } else {
    expected.sum += static_cast<std::int64_t>(now) - static_cast<std::int64_t>(event.id) * Scheduler::kWeight;
  }
}

/// Runs scheduler and reference on the same traffic and compares their decisions. `jump`: cycles by which each call advances
/// the scheduler.
void compare(const DramParameters& p, const Traffic& traffic, unsigned seed, Cycle jump) {
  constexpr Cycle kBatch = 128;
  constexpr Cycle kTraffic = 4000;
  Reference reference(p);
  Scheduler scheduler(p);
  CommandScheduler& commands = scheduler.commands;
  Random random(seed);
  std::uint64_t id = 1;
  std::vector<std::uint32_t> pseudo_of(1);
  Expected expected;
  expected.writing.resize(p.pseudo_channels);
  std::size_t compared = 0;  // number of decisions compared so far
  Cycle silent_until = 0;
  for (Cycle now = 0; now < kTraffic || !reference.idle(); ++now) {
    if (now % kBatch == 0 && now < kTraffic) {
      pseudo_of.resize(id + 2 * kBatch);
      for (const Request& r : batch(p, traffic, now, now + kBatch, random, id)) {
        reference.request(r.id, r.write, r.bank, r.row, r.at);
        scheduler.request(r);
        pseudo_of[r.id] = r.bank / p.banks_per_group / p.bank_groups;
      }
    }
    if (now % jump == 0) silent_until = commands.next_decision();
    for (const Reference::Event& event : reference.tick()) {
      // The scheduler admits requests of a step's first cycle at the end of the previous step.
      const bool before = event.enters && now % jump == 0;
      ASSERT_TRUE(before || silent_until <= now) << event.id << " in cycle " << now << ", not before " << silent_until;
      if (event.write && !event.enters) {
        ASSERT_TRUE(commands.is_pending(event.id)) << event.id << " before cycle " << now;
      }
      expect(expected, event, pseudo_of[event.id], now);
    }
    ASSERT_LT(now, 40 * kTraffic);
    if ((now + 1) % jump != 0) continue;
    commands.advance(now + 1);
    // The scheduler's decisions may already include writes that enter in the current cycle.
    const auto& decisions = commands.decisions();
    ASSERT_GE(decisions.size(), expected.decisions.size()) << "cycle " << now;
    for (; compared != expected.decisions.size(); ++compared) {
      const CommandScheduler::Decision& ours = decisions[compared];
      const CommandScheduler::Decision& theirs = expected.decisions[compared];
      ASSERT_EQ(ours.requester, theirs.requester) << "cycle " << theirs.at << ", ours " << ours.at;
      ASSERT_EQ(ours.at, theirs.at) << ours.requester;
      ASSERT_EQ(ours.first, theirs.first) << ours.requester << " in cycle " << ours.at;
    }
    for (std::size_t i = compared; i != decisions.size(); ++i) {
      ASSERT_EQ(decisions[i].first, Command::none);
      ASSERT_EQ(decisions[i].at, now + 1);
    }
    ASSERT_EQ(scheduler.take_sum(), expected.sum) << "cycle " << now;
    for (const std::uint64_t write : expected.written) {
      ASSERT_FALSE(commands.is_pending(write)) << write << " in cycle " << now;
    }
    ASSERT_EQ(scheduler.statistics.bus_busy.ps, expected.writes.writes * p.burst.n * p.clock.period().ps) << "cycle " << now;
    expected.sum = 0;
    expected.written.clear();
  }
  ASSERT_GT(id, kTraffic / traffic.gap / 2);
  commands.advance(reference.now());
  EXPECT_EQ(scheduler.take_sum(), expected.sum);
  EXPECT_EQ(commands.waiting(), 0U);
  EXPECT_EQ(commands.next_decision(), CommandScheduler::kNever);
  EXPECT_EQ(commands.decisions().size(), expected.decisions.size());
  EXPECT_EQ(scheduler.statistics.write_drains, expected.writes.write_drains);
  EXPECT_EQ(scheduler.statistics.row_hits, expected.writes.row_hits);
  EXPECT_EQ(scheduler.statistics.row_empty, expected.writes.row_empty);
  EXPECT_EQ(scheduler.statistics.row_conflicts, expected.writes.row_conflicts);
  const Cycle refreshes = p.tREFI.n != 0 ? reference.now() / p.tREFI.n : 0;
  EXPECT_EQ(scheduler.statistics.refreshes, refreshes * p.pseudo_channels);
}

class SchedulerReference : public testing::TestWithParam<Traffic> {
 public:
  static DramParameters parameters() { return test::small_dram(); }
  static void compare_all(const DramParameters& p) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
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

TEST_P(SchedulerReference, InOrderWithPseudoChannelsAndRefresh) {
  DramParameters p = parameters();
  p.scheduler = DramScheduler::fcfs;
  p.pseudo_channels = 2;
  p.tREFI = 500_cycles;
  p.tRFC = 60_cycles;
  compare_all(p);
}

TEST_P(SchedulerReference, ClosedPagesWithRefreshAndInOrder) {
  DramParameters p = parameters();
  p.page_policy = DramPagePolicy::closed;
  p.tREFI = 500_cycles;
  p.tRFC = 60_cycles;
  compare_all(p);
  p.scheduler = DramScheduler::fcfs;
  p.pseudo_channels = 2;
  p.activate_cycles = 2_cycles;
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
  p.banks_per_group = 16;  // more banks than bits in a word of BankSet
  compare_all(p);
}

TEST_P(SchedulerReference, RowsAreOpenedFasterThanTheyAreUsed) {
  DramParameters p = parameters();
  p.bank_groups = 8;
  p.banks_per_group = 16;
  p.tRRDS = p.tRRDL = p.tFAW = 1_cycles;
  p.write_queue = 64;
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

/// Parameters with random organization, timing, queues and policies.
DramParameters random_parameters(Random& random) {
  const auto any = [&random](std::uint64_t least, std::uint64_t most) { return least + random() % (most - least + 1); };
  const auto cycles = [&any](std::uint64_t least, std::uint64_t most) { return lacuna::Cycles{any(least, most)}; };
  DramParameters p = test::small_dram();
  p.pseudo_channels = 1U << any(0, 1);
  p.bank_groups = 1U << any(0, 3);
  p.banks_per_group = 1U << any(0, 3);
  p.scheduler = any(0, 3) == 0 ? DramScheduler::fcfs : DramScheduler::frfcfs;
  p.page_policy = any(0, 3) == 0 ? DramPagePolicy::closed : DramPagePolicy::open;
  p.read_queue = static_cast<unsigned>(any(1, 40));
  p.write_queue = static_cast<unsigned>(any(1, 40));
  p.write_high = 0.05 * static_cast<double>(any(0, 20));
  p.write_low = p.write_high * 0.1 * static_cast<double>(any(0, 10));
  p.activate_cycles = cycles(1, 2);
  p.burst = lacuna::Cycles{std::uint64_t{1} << any(0, 3)};
  p.tCL = cycles(3, 20);
  p.tCWL = cycles(1, 12);
  p.tRCDRD = cycles(2, 20);
  p.tRCDWR = cycles(2, 20);
  p.tRP = cycles(2, 20);
  p.tRAS = cycles(2, 40);
  p.tRC = cycles(4, 60);
  p.tRTP = cycles(1, 10);
  p.tWR = cycles(1, 20);
  p.tCCDS = cycles(1, 6);
  p.tCCDL = p.tCCDS + cycles(0, 4);
  p.tRRDS = cycles(1, 6);
  p.tRRDL = p.tRRDS + cycles(0, 4);
  p.tFAW = cycles(1, 40);
  p.tWTRS = cycles(1, 8);
  p.tWTR = p.tWTRS + cycles(0, 6);
  p.tRTRS = cycles(0, 4);
  p.tRFC = cycles(1, 100);
  if (any(0, 1) == 1) p.tREFI = p.tRAS + p.tRP + p.tRFC + cycles(100, 1000);
  return p;
}

TEST_P(SchedulerReference, AnyParameters) {
  Random random(GetParam().gap);
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const DramParameters p = random_parameters(random);
    SCOPED_TRACE(testing::Message() << "set " << seed);
    compare(p, GetParam(), seed, std::array<Cycle, 4>{1, 2, 16, 128}[seed % 4]);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Traffics, SchedulerReference, testing::ValuesIn(kTraffics),
                         [](const testing::TestParamInfo<Traffic>& instance) { return instance.param.name; });

}  // namespace
}  // namespace lacuna
