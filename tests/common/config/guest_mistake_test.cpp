#include "models/common/config/guest_mistake.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <latch>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

namespace lacuna {
namespace {

class GuestMistakes : public ::testing::Test {
 protected:
  void SetUp() override {
    clear_guest_mistakes();
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
    spdlog::set_pattern("%l %v");
  }
  void TearDown() override {
    spdlog::set_default_logger(previous);
    clear_guest_mistakes();
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::istringstream in(text.str());
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }

  std::ostringstream text;
  const std::shared_ptr<spdlog::logger> previous = spdlog::default_logger();
};

TEST_F(GuestMistakes, AreLoggedAFewTimesAndCountedAlways) {
  for (int i = 1; i <= 100'000; ++i) guest_warning("wrong reads", "read {} is wrong", i);
  const std::vector<std::string> logged = lines();
  ASSERT_EQ(logged.size(), kLoggedGuestMistakes);
  EXPECT_EQ(logged.front(), "warning read 1 is wrong");
  EXPECT_EQ(logged.back(), "warning read 16 is wrong (more wrong reads are counted, but not logged)");
  const auto counts = guest_mistakes();
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].kind, "wrong reads");
  EXPECT_EQ(counts[0].count, 100'000u);
}

TEST_F(GuestMistakes, KindsHaveSeparateCounts) {
  for (int i = 0; i < 20; ++i) guest_warning("wrong writes", "write");
  guest_error("bad packets", "packet {:#x}", 255);
  EXPECT_EQ(lines().back(), "error packet 0xff");
  const auto counts = guest_mistakes();
  ASSERT_EQ(counts.size(), 2u);  // sorted by name
  EXPECT_EQ(counts[0].kind, "bad packets");
  EXPECT_EQ(counts[0].count, 1u);
  EXPECT_EQ(counts[1].kind, "wrong writes");
  EXPECT_EQ(counts[1].count, 20u);
  clear_guest_mistakes();
  EXPECT_TRUE(guest_mistakes().empty());
}

TEST_F(GuestMistakes, NoneIsLostWithSeveralThreads) {
  std::vector<std::thread> threads;
  std::latch all_there(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      all_there.arrive_and_wait();
      for (int i = 0; i < 100'000; ++i) guest_warning("races", "one");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines().size(), kLoggedGuestMistakes);
  EXPECT_EQ(guest_mistakes().at(0).count, 400'000u);
}

}  // namespace
}  // namespace lacuna
