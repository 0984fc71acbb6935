// Tests the ports of a channel: a response is delivered when the request's commands are decided.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

#include "models/common/transport/memory_request.h"
#include "tests/dram/channel_bench.h"

namespace lacuna {
namespace {

using namespace literals;
using test::DramBench;
using test::fresh;
using test::kBanks;
using test::kBase;
using test::kMasks;
using test::kRow;
using test::kSize;

/// Makes requests to a port and records the responses. Times are relative to the bench's epoch.
class PortClient : public MemoryClient {
 public:
  struct Answer {
    std::uint32_t number;
    Tick done;
    Tick waiting;
    bool operator==(const Answer&) const = default;
  };

  PortClient(DramBench& bench, DeferredMemory& port) : epoch_(bench.initiator.epoch()), port_(port) {}
  /// The part of a request's result that the call itself returns.
  struct Reply {
    Tick done;
    Tick waiting;
    bool known;
    bool failed;
  };
  Reply ask(std::uint32_t number, bool write, std::uint64_t address, unsigned bytes, Tick at) {
    MemoryResponse response;
    const MemoryRequest request{.address = address, .bytes = static_cast<std::uint16_t>(bytes), .write = write};
    const bool known = port_.request(request, epoch_ + at, *this, number, response);
    EXPECT_EQ(response.arrived, epoch_ + at);
    return {response.done - epoch_, response.queueing, known, response.failed};
  }
  Reply read(std::uint32_t number, std::uint64_t offset, Tick at, unsigned bytes = 64) {
    return ask(number, false, kBase + offset, bytes, at);
  }
  Reply write(std::uint32_t number, std::uint64_t offset, Tick at, unsigned bytes = 64) {
    return ask(number, true, kBase + offset, bytes, at);
  }
  void decide(Tick until) { port_.decide(epoch_ + until); }
  Tick next_decision() {
    const Tick next = port_.next_decision();
    return next == kNever ? next : next - epoch_;
  }
  void on_response(std::uint32_t number, const MemoryResponse& response) override {
    EXPECT_EQ(response.queueing + response.service, response.done - response.arrived) << number;
    answers.push_back({number, response.done - epoch_, response.queueing});
    if (then) then(answers.back());
  }

  std::vector<Answer> answers;
  std::function<void(Answer)> then = {};  ///< called for each answer

 private:
  Tick epoch_;
  DeferredMemory& port_;
};

using Answers = std::vector<PortClient::Answer>;

void PrintTo(const PortClient::Answer& answer, std::ostream* out) {
  *out << answer.number << " done at " << answer.done.ps << " ps, waited " << answer.waiting.ps << " ps";
}

TEST(DramPort, UnloadedLatencies) {
  auto& b = fresh();
  PortClient client(b, b.channel.port());
  EXPECT_EQ(client.next_decision(), kNever);
  const PortClient::Reply reply = client.read(1, 0, 0_ns);
  EXPECT_FALSE(reply.known);
  EXPECT_FALSE(reply.failed);
  EXPECT_EQ(reply.done, 35_ns) << "not before: 20 + 11 + 4";
  EXPECT_EQ(reply.waiting, 0_ns);
  client.read(2, 64, 1000_ns);
  client.read(3, 128, 3000_ns, 128);
  client.read(4, kRow * kBanks, 5000_ns);
  client.decide(10_us);
  EXPECT_EQ(client.answers, (Answers{{1, 40_ns, 0_ns}, {2, 1035_ns, 0_ns}, {3, 3039_ns, 0_ns}, {4, 5047_ns, 0_ns}}));
  EXPECT_EQ(client.next_decision(), kNever);
}

TEST(DramPort, ResponsesArriveAsSoonAsNoLaterRequestCanChangeThem) {
  auto& b = fresh();
  PortClient client(b, b.channel.port());
  client.read(1, 0, 0_ns);
  EXPECT_EQ(client.next_decision(), 0_ns);
  // The read's column command is issued at 25 ns: requests sent up to 5 ns arrive in time to be considered.
  client.decide(3_ns);
  EXPECT_EQ(client.next_decision(), 5_ns);
  client.decide(5_ns);
  EXPECT_TRUE(client.answers.empty());
  client.decide(6_ns);
  EXPECT_EQ(client.answers, (Answers{{1, 40_ns, 0_ns}}));
}

TEST(DramPort, ALaterRequestMayGoFirst) {
  auto& b = fresh();
  PortClient client(b, b.channel.port());
  client.read(1, 0, 0_ns);
  client.read(2, kRow * kBanks, 1_ns);  // waits until the first read's row may be closed, at 35 ns
  client.decide(10_ns);
  client.read(3, 64, 14_ns);  // finds the first read's row open
  client.decide(1_us);
  // Activates are issued at 20 ns and, after a precharge at 38 ns (tRTP after the last column command), at 45 ns.
  EXPECT_EQ(client.answers, (Answers{{1, 40_ns, 0_ns}, {3, 49_ns, 0_ns}, {2, 65_ns, 17_ns}}));
}

TEST(DramPort, WritesCompleteImmediatelyWhileTheQueueHasRoom) {
  auto& b = fresh();
  PortClient client(b, b.channel.port());
  const Tick stall = b.channel.statistics().write_stall;
  for (unsigned i = 0; i < 4; ++i) {
    const PortClient::Reply reply = client.write(i, 64 * i, 0_ns);
    EXPECT_TRUE(reply.known) << i;
    EXPECT_EQ(reply.done, 0_ns) << i;
    EXPECT_EQ(reply.waiting, 0_ns) << i;
  }
  EXPECT_EQ(b.channel.statistics().write_stall, stall);
  EXPECT_EQ(client.next_decision(), kNever) << "nothing waits for an answer";
  for (unsigned i = 4; i < 7; ++i) {
    const PortClient::Reply reply = client.write(i, 64 * i, Tick{(i - 4) * 1000});
    EXPECT_FALSE(reply.known) << i;
    EXPECT_EQ(reply.done, Tick{(i - 4) * 1000}) << i;
  }
  // The row is opened for the first write at 20 ns, so the fifth write enters at 21 ns. The second and the third write have
  // their column commands at 29 and 33 ns.
  client.decide(1_us);
  EXPECT_EQ(client.answers, (Answers{{4, 1_ns, 1_ns}, {5, 10_ns, 9_ns}, {6, 14_ns, 12_ns}}));
  EXPECT_EQ(b.channel.statistics().write_stall - stall, 22_ns);
}

TEST(DramPort, AReadOfAWaitingWriteIsAnsweredFromTheQueue) {
  auto& b = fresh();
  PortClient client(b, b.channel.port());
  const std::uint64_t forwarded = b.channel.statistics().forwarded;
  client.read(1, kRow, 0_ns);
  client.write(2, 0, 0_ns);
  client.read(3, 0, 1_ns);
  client.decide(0_ns);
  EXPECT_EQ(client.answers, (Answers{{3, 25_ns, 0_ns}}));
  client.decide(1_us);
  EXPECT_EQ(client.answers.size(), 2U);
  EXPECT_EQ(b.channel.statistics().forwarded - forwarded, 1U);
}

TEST(DramPort, Statistics) {
  auto& b = fresh();
  PortClient client(b, b.channel.port());
  const DramStatistics before = b.channel.statistics();
  client.read(1, 0, 0_ns);
  client.read(2, kRow * kBanks, 100_ns, 32);
  client.write(3, kRow * kBanks + 64, 200_ns);
  client.write(4, kRow * kBanks + 128, 200_ns);
  client.read(5, kRow * kBanks, 300_ns, 32);
  client.read(6, kRow * kBanks + 64, 300_ns);
  const DramStatistics asked = b.channel.statistics();
  EXPECT_EQ(asked.reads - before.reads, 4U);
  EXPECT_EQ(asked.writes - before.writes, 2U);
  EXPECT_EQ(asked.row_hits + asked.row_empty + asked.row_conflicts, before.row_hits + before.row_empty + before.row_conflicts)
      << "nothing is decided";
  client.decide(1_us);
  const DramStatistics& after = b.channel.statistics();
  // The write to the same burst is still waiting when the last read is made; therefore the read is forwarded.
  EXPECT_EQ(after.forwarded - before.forwarded, 1U);
  EXPECT_EQ(after.bytes_read - before.bytes_read, 192U);
  EXPECT_EQ(after.bytes_written - before.bytes_written, 128U);
  EXPECT_EQ(after.row_empty - before.row_empty, 1U);
  EXPECT_EQ(after.row_conflicts - before.row_conflicts, 1U);
  EXPECT_EQ(after.row_hits - before.row_hits, 3U);
  EXPECT_EQ(after.write_drains - before.write_drains, 1U);
  EXPECT_EQ(after.read_latency - before.read_latency, 40_ns + 47_ns + 35_ns + 24_ns);
  EXPECT_EQ(after.queueing - before.queueing, 0_ns);
  EXPECT_EQ(after.write_stall - before.write_stall, 0_ns);
  EXPECT_EQ(after.bus_busy - before.bus_busy, 20_ns);
  EXPECT_EQ(after.errors, before.errors);
}

TEST(DramPort, QueueingIsCounted) {
  auto& b = fresh();
  PortClient client(b, b.channel.port());
  const DramStatistics before = b.channel.statistics();
  client.read(1, 0, 0_ns);
  client.read(2, 64, 0_ns);
  client.decide(1_us);
  EXPECT_EQ(client.answers, (Answers{{1, 40_ns, 0_ns}, {2, 44_ns, 9_ns}}));
  EXPECT_EQ(b.channel.statistics().queueing - before.queueing, 9_ns);
}

TEST(DramPort, ARequestOutsideTheSliceFails) {
  auto& b = fresh();
  PortClient client(b, b.second.port());
  const DramStatistics before = b.second.statistics();
  for (const bool write : {false, true}) {
    for (const auto& [offset, bytes] : std::vector<std::pair<std::uint64_t, unsigned>>{{0, 64}, {128 + 64, 65}, {256, 1}}) {
      const PortClient::Reply reply = client.ask(1, write, kBase + offset, bytes, 5_ns);
      EXPECT_TRUE(reply.known);
      EXPECT_TRUE(reply.failed);
      EXPECT_EQ(reply.done, 5_ns);
    }
  }
  EXPECT_FALSE(client.read(2, 128, 5_ns, 128).failed);
  client.decide(1_us);
  EXPECT_EQ(client.answers.size(), 1U);
  EXPECT_EQ(b.second.statistics().errors - before.errors, 6U);
  EXPECT_EQ(b.second.statistics().reads - before.reads, 1U);
  EXPECT_EQ(b.second.statistics().writes, before.writes);
}

TEST(DramPort, MasksHaveRowsOfTheirOwnInTheSameBanks) {
  auto& b = fresh();
  PortClient data(b, b.masked.port());
  PortClient masks(b, b.masked.second_port());
  EXPECT_TRUE(masks.ask(9, false, kBase, 64, 0_ns).failed);
  EXPECT_TRUE(data.ask(9, false, kMasks, 64, 0_ns).failed);
  data.read(1, 0, 0_ns);
  masks.ask(2, false, kMasks, 64, 100_ns);
  masks.ask(3, false, kMasks + 64, 64, 200_ns);
  data.read(4, 0, 300_ns);
  masks.ask(5, true, kMasks + kRow, 64, 400_ns);
  EXPECT_EQ(masks.next_decision(), data.next_decision());
  data.decide(1_us);  // decides the requests of both ports
  EXPECT_EQ(data.answers, (Answers{{1, 40_ns, 0_ns}, {4, 347_ns, 0_ns}}));
  EXPECT_EQ(masks.answers, (Answers{{2, 147_ns, 0_ns}, {3, 235_ns, 0_ns}}));
  // Transactions of the sockets have the same latencies.
  b.masked.reset();
  EXPECT_EQ(b.masked_initiator.time_read(10_us, kBase, 64).at, 10_us + 40_ns);
  EXPECT_EQ(b.masks_initiator.time_read(11_us, kMasks, 64).at, 11_us + 47_ns);
}

// Responses to the clients of both ports are delivered in time order.
TEST(DramPort, ResponsesAreInTimeOrder) {
  auto& b = fresh();
  PortClient data(b, b.masked.port());
  PortClient masks(b, b.masked.second_port());
  std::vector<Tick> done;
  data.then = masks.then = [&done](PortClient::Answer answer) { done.push_back(answer.done); };
  std::mt19937_64 random(7);
  for (unsigned i = 0; i < 200; ++i) {
    const Tick at{random() % 2000 * 1000};
    if (random() % 4 == 0) {
      masks.ask(i, false, kMasks + random() % 256 * 64, 64, at);
    } else {
      data.read(i, random() % 1024 * 64, at);
    }
  }
  data.decide(700_ns);
  const std::size_t first = done.size();
  EXPECT_GT(first, 20U);
  EXPECT_LT(first, 150U);
  masks.decide(100_us);
  EXPECT_EQ(done.size(), 200U);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST(DramPort, ARequestMadeForAResponseGoesBeforeLaterArrivals) {
  auto& b = fresh();
  PortClient client(b, b.channel.port());
  client.then = [&client](PortClient::Answer answer) {
    if (answer.number == 1) client.read(3, 64, answer.done);
  };
  client.read(1, 0, 0_ns);
  client.read(2, kRow * kBanks, 41_ns);  // must not close the row that read 3, arriving one cycle earlier, needs
  client.decide(1_us);
  EXPECT_EQ(client.answers, (Answers{{1, 40_ns, 0_ns}, {3, 75_ns, 0_ns}, {2, 91_ns, 3_ns}}));
}

TEST(DramPort, ARequestThatFollowsAnAcceptedWriteIsNotLate) {
  auto& b = fresh();
  PortClient client(b, b.channel.port());
  for (unsigned i = 0; i < 5; ++i) client.write(i, 64 * i, 0_ns);
  client.write(6, 64 * 6, 5_ns);
  client.then = [&client](PortClient::Answer answer) {
    if (answer.number != 4) return;
    client.write(5, 64 * 5, answer.done);
    client.read(7, kRow, answer.done);
  };
  client.decide(1_us);
  // The fifth write enters at 21 ns. The next two wait for the column commands at 29 and 33 ns, in order of arrival. All writes
  // precede the read, the last at 49 ns; the read's column command is issued at 61 ns, tWTR after the last data.
  EXPECT_EQ(client.answers, (Answers{{4, 1_ns, 1_ns}, {5, 10_ns, 9_ns}, {6, 14_ns, 9_ns}, {7, 76_ns, 35_ns}}));
}

// Requesters repeatedly read a line and write it elsewhere once or twice, with one call of decide() or with many.
TEST(DramPort, ResultsDoNotDependOnTheStepsOfDecide) {
  const auto run = [](unsigned requesters, Tick step) {
    auto& b = fresh();
    PortClient client(b, b.channel.port());
    constexpr unsigned kLines = 400;
    unsigned next = 0;
    unsigned copied = 0;
    std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> all;
    const auto address = [](unsigned line) { return (line * 2654435761U >> 8) % 8192 * 64ULL; };
    // A line's read has a number divisible by 3; its writes have the next two numbers.
    const auto read = [&](Tick at) {
      if (next == kLines) return;
      client.read(3 * next, address(next), at, next % 3 == 0 ? 128 : 64);
      ++next;
    };
    std::function<void(unsigned, unsigned, Tick)> write;
    const auto written = [&](std::uint32_t number, Tick done, Tick waiting) {
      all[number] = {done.ps, waiting.ps};
      if (number % 3 == 1 && number % 2 == 0) {
        write(number / 3, 2, done);
      } else {
        ++copied;
        read(done);
      }
    };
    write = [&](unsigned line, unsigned stage, Tick at) {
      const std::uint32_t number = 3 * line + stage;
      const PortClient::Reply reply = client.write(number, kSize.n / 2 + address(line + 1000 * stage), at);
      if (reply.known) written(number, reply.done, reply.waiting);
    };
    client.then = [&](PortClient::Answer answer) {
      if (answer.number % 3 != 0) return written(answer.number, answer.done, answer.waiting);
      all[answer.number] = {answer.done.ps, answer.waiting.ps};
      write(answer.number / 3, 1, answer.done + 2_ns);
    };
    for (unsigned i = 0; i < requesters; ++i) read(Tick{i * 1000});
    for (Tick until = step; copied < kLines && until < 1000_us; until += step) client.decide(until);
    EXPECT_EQ(copied, kLines);
    return all;
  };
  for (const unsigned requesters : {1U, 3U, 16U, 64U}) {
    const auto expected = run(requesters, 1_ns);
    EXPECT_EQ(run(requesters, 7_ns), expected) << requesters;
    EXPECT_EQ(run(requesters, 1_us), expected) << requesters;
    EXPECT_EQ(run(requesters, 900_us), expected) << requesters;
  }
}

TEST(DramPort, SocketForecastsFollowWaitingRequests) {
  auto& b = fresh();
  PortClient client(b, b.channel.port());
  for (unsigned i = 0; i < 8; ++i) client.read(i, 64 * i, 0_ns);
  EXPECT_GE(b.initiator.time_read(0_ns, kBase + 512, 64).at, 67_ns);
  client.decide(1_us);
  EXPECT_EQ(client.answers.back().done, 68_ns);
}

TEST(DramPort, FinishServesWaitingRequests) {
  auto& b = fresh();
  PortClient client(b, b.channel.port());
  const Tick busy = b.channel.statistics().bus_busy;
  client.read(1, 0, 0_ns);
  client.write(2, kRow, 0_ns);
  b.channel.finish();
  EXPECT_EQ(b.channel.statistics().bus_busy - busy, 8_ns);
  client.decide(0_ns);
  EXPECT_EQ(client.answers, (Answers{{1, 40_ns, 0_ns}}));
}

TEST(DramPort, ResetDropsWaitingRequests) {
  auto& b = fresh();
  PortClient client(b, b.channel.port());
  for (unsigned i = 0; i < 3; ++i) client.read(i, kRow * kBanks * i, 0_ns);
  for (unsigned i = 3; i < 12; ++i) client.write(i, kRow + 64 * i, 0_ns);
  client.read(12, kRow + 64 * 3, 1_ns);  // forwarded from a waiting write
  client.decide(6_ns);
  const Answers before = client.answers;
  EXPECT_FALSE(before.empty());
  client.read(13, kRow + 64 * 11, 6_ns);
  b.channel.reset();
  EXPECT_EQ(client.next_decision(), kNever);
  client.decide(1_us);
  EXPECT_EQ(client.answers, before);
  client.read(20, 0, 2_us);
  client.decide(10_us);
  ASSERT_EQ(client.answers.size(), before.size() + 1);
  EXPECT_EQ(client.answers.back(), (PortClient::Answer{20, 2_us + 40_ns, 0_ns})) << "no row is open";
}

}  // namespace
}  // namespace lacuna
