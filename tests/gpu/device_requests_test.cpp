// Tests the counts of load requests over time: intervals, their completion, and requests in flight.
#include "models/gpu/device_requests.h"

#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <stdexcept>
#include <vector>

namespace lacuna {

void PrintTo(const RequestSample& s, std::ostream* out) {
  *out << '[' << s.begin.ps << ", " << s.end.ps << ") " << s.counts.started << " started, " << s.counts.answered
       << " answered in " << s.counts.latency.ps << " ps, " << s.in_flight << " in flight";
}

namespace test {
namespace {

struct RecordedWindows : WindowBarrier {
  std::vector<unsigned> worked_groups;
  std::vector<Tick> settled;
  Tick retired{};
  void group_finished(unsigned group, unsigned, Tick) override { worked_groups.push_back(group); }
  void resolve(Tick end) override { settled.push_back(end); }
  Tick next() const override { return Tick{77}; }
  void retire(Tick horizon) override { retired = horizon; }
};

constexpr RequestSample sample(std::uint64_t begin, std::uint64_t end, std::uint64_t started, std::uint64_t answered,
                               std::uint64_t latency, std::uint64_t in_flight) {
  return {Tick{begin}, Tick{end}, {started, answered, Tick{latency}}, in_flight};
}

// Intervals of 100 ps, windows of 10 ps, two units.
class DeviceRequestsTest : public testing::Test {
 protected:
  DeviceRequestsTest() {
    requests_.record_to([this](const RequestSample& s) { samples_.push_back(s); });
  }

  RecordedWindows edge_;
  DeviceRequests requests_{Tick{100}, Tick{10}, edge_};
  std::array<Tick, 2> oldest_{kNever, kNever};
  std::array<RequestTimeline*, 2> units_{&requests_.add([this] { return oldest_[0]; }),
                                         &requests_.add([this] { return oldest_[1]; })};
  std::vector<RequestSample> samples_;
};

TEST_F(DeviceRequestsTest, RecordingDoesNotChangeTiming) {
  requests_.group_finished(5, 1, Tick{10});
  requests_.resolve(Tick{10});
  requests_.retire(Tick{30});
  EXPECT_EQ(edge_.worked_groups, std::vector<unsigned>{5});
  EXPECT_EQ(edge_.settled, std::vector<Tick>{Tick{10}});
  EXPECT_EQ(edge_.retired, Tick{30});
  EXPECT_EQ(requests_.next(), Tick{77});
}

// The last picosecond of an interval belongs to the interval, the next picosecond does not.
TEST_F(DeviceRequestsTest, RequestsCountAtTheirStartAndAtTheirResponse) {
  units_[0]->add(Tick{0}, Tick{99});
  units_[1]->add(Tick{99}, Tick{100});
  units_[1]->add(Tick{20}, Tick{250});
  requests_.resolve(Tick{400});
  EXPECT_EQ(samples_, (std::vector{sample(0, 100, 3, 1, 99, 2), sample(100, 200, 0, 1, 1, 1), sample(200, 300, 0, 1, 230, 0)}));
}

TEST_F(DeviceRequestsTest, IntervalsWithoutRequestsAreOneSample) {
  units_[0]->add(Tick{110}, Tick{520});
  units_[0]->add(Tick{1'000'000}, Tick{1'000'001});
  requests_.resolve(Tick{2'000'000});
  EXPECT_EQ(samples_, (std::vector{sample(0, 100, 0, 0, 0, 0), sample(100, 200, 1, 0, 0, 1), sample(200, 500, 0, 0, 0, 1),
                                   sample(500, 600, 0, 1, 410, 0), sample(600, 1'000'000, 0, 0, 0, 0),
                                   sample(1'000'000, 1'000'100, 1, 1, 1, 0)}));
}

// A unit may lag the end of a window by up to one window.
TEST_F(DeviceRequestsTest, AnIntervalIsCompleteAWindowAfterItsEnd) {
  units_[0]->add(Tick{50}, Tick{60});
  requests_.resolve(Tick{109});
  EXPECT_TRUE(samples_.empty());
  units_[1]->add(Tick{99}, Tick{99});
  requests_.resolve(Tick{110});
  EXPECT_EQ(samples_, std::vector{sample(0, 100, 2, 2, 10, 0)});
}

// A pending load delays the report of its interval, but its response is counted in the interval in which it arrives.
TEST_F(DeviceRequestsTest, AnIntervalIsCompleteWhenItsLoadsAre) {
  oldest_[1] = Tick{199};
  units_[0]->add(Tick{50}, Tick{60});
  units_[0]->add(Tick{150}, Tick{160});
  requests_.resolve(Tick{1000});
  EXPECT_EQ(samples_, std::vector{sample(0, 100, 1, 1, 10, 0)});
  oldest_[1] = kNever;
  units_[1]->add(Tick{199}, Tick{1200});
  requests_.resolve(Tick{1010});
  EXPECT_EQ(samples_, (std::vector{sample(0, 100, 1, 1, 10, 0), sample(100, 200, 2, 1, 10, 1)}));
  EXPECT_THROW((units_[1]->add(Tick{20}, Tick{1200}), requests_.resolve(Tick{2000})), std::logic_error);
}

TEST_F(DeviceRequestsTest, TheRunsEndEndsTheLastInterval) {
  units_[0]->add(Tick{50}, Tick{60});
  units_[0]->add(Tick{250}, Tick{260});
  units_[1]->add(Tick{255}, Tick{300});
  requests_.finish(Tick{270});
  const std::vector<RequestSample> until{sample(0, 100, 1, 1, 10, 0), sample(100, 200, 0, 0, 0, 0),
                                         sample(200, 270, 2, 1, 10, 1)};
  EXPECT_EQ(samples_, until);
  requests_.finish(Tick{270});
  EXPECT_EQ(samples_, until) << "nothing new";
  // The run continues: the lagging unit adds a request from before the report, and the pending response arrives.
  units_[0]->add(Tick{199}, Tick{271});
  requests_.finish(Tick{500});
  ASSERT_EQ(samples_.size(), 6U);
  EXPECT_EQ(samples_[3], sample(270, 300, 1, 1, 72, 1));
  EXPECT_EQ(samples_[4], sample(300, 400, 0, 1, 45, 0));
  EXPECT_EQ(samples_[5], sample(400, 500, 0, 0, 0, 0));
}

TEST_F(DeviceRequestsTest, TheRunsEndReportsNothingAfterAPendingLoad) {
  units_[0]->add(Tick{50}, Tick{60});
  units_[0]->add(Tick{250}, Tick{260});
  oldest_[0] = Tick{240};
  requests_.finish(Tick{270});
  EXPECT_EQ(samples_, std::vector{sample(0, 100, 1, 1, 10, 0)});
}

TEST(DeviceRequests, AnIntervalHasALength) {
  RecordedWindows edge;
  EXPECT_THROW(DeviceRequests(Tick{}, Tick{10}, edge), std::invalid_argument);
}

}  // namespace
}  // namespace test
}  // namespace lacuna
