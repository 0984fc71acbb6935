// Helpers that read and write a small channel, and check the times at which its schedule serves the requests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "models/dram/dram_schedule.h"
#include "tests/dram/small_dram.h"
#include "tests/harness/harness.h"

namespace lacuna::test {

inline constexpr std::uint64_t kBurst = 64;
inline constexpr std::uint64_t kRow = 1024;  // bytes of a row; address bits above: group, bank, row

constexpr std::uint64_t address(unsigned row, unsigned bank, unsigned group, unsigned column) {
  return ((row * 2 + bank) * 2 + group) * kRow + column * kBurst;
}

struct Step {
  const char* what;
  std::uint64_t at;  // ns
  std::uint64_t address;
  std::uint64_t done;  // ns
};
using Steps = std::vector<Step>;

/// Checks the forecasts of reads made in this order.
inline void expect_forecasts(DramSchedule& schedule, const Steps& steps) {
  for (const Step& s : steps)
    EXPECT_EQ(schedule.read(s.address, kBurst, Tick{s.at * 1000}).done, Tick{s.done * 1000}) << s.what;
}

/// Calls decide() and returns the results by request number.
inline std::map<std::uint32_t, DramSchedule::Read> decided(DramSchedule& schedule, Tick until) {
  std::vector<DramSchedule::Completion> completed;
  schedule.decide(until, completed);
  std::map<std::uint32_t, DramSchedule::Read> reads;
  for (const DramSchedule::Completion& completion : completed) {
    EXPECT_TRUE(reads.emplace(completion.number, completion.read).second) << completion.number << " is decided twice";
  }
  return reads;
}

/// Checks the decided completion times of reads that are all added before decide().
inline void expect_served(DramSchedule& schedule, const Steps& steps) {
  std::uint32_t number = 0;
  Tick last{};
  for (const Step& s : steps) {
    schedule.read_later(s.address, kBurst, Tick{s.at * 1000}, number++);
    last = later(last, Tick{s.at * 1000});
  }
  const auto reads = decided(schedule, last + Tick{1'000'000});
  EXPECT_EQ(reads.size(), steps.size());
  for (const auto& [read, result] : reads) EXPECT_EQ(result.done, Tick{steps[read].done * 1000}) << steps[read].what;
}

/// Checks forecast and decided times, for cases in which later requests do not affect a read.
inline void expect_both(const DramParameters& p, const Steps& steps) {
  DramSchedule forecast(p);
  expect_forecasts(forecast, steps);
  DramSchedule schedule(p);
  expect_served(schedule, steps);
}

/// Opens row 0 of the second group by a read at 50 ns.
inline void open_row(DramSchedule& schedule) {
  using namespace literals;
  schedule.read_later(address(0, 0, 1, 0), kBurst, 50_ns, 90);
  EXPECT_EQ(decided(schedule, 90_ns).at(90).done, 70_ns);
}

/// Adds reads of different rows of one bank, some of which wait for about 150 cycles from `at` on.
inline void keep_reads_waiting(DramSchedule& schedule, Tick at) {
  for (unsigned row = 0; row < 6; ++row) schedule.read_later(address(row, 0, 0, 0), kBurst, at, 100 + row);
}

}  // namespace lacuna::test
