// Tests signals, also while another thread accesses them concurrently.
#include "models/command/signals.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>

namespace lacuna {
namespace {

constexpr std::uint64_t kBase = 0x100000;

struct alignas(GpuVm::kPage) Page {
  hsa::Signal signals[8];
  std::uint64_t mailboxes[8];
  std::byte rest[GpuVm::kPage - 8 * sizeof(hsa::Signal) - 64];
};

class SignalsTest : public testing::Test {
 protected:
  SignalsTest() { vm_.map(kBase, sizeof(Page), 0, reinterpret_cast<std::byte*>(&page_), isa::Access::read_write); }
  static std::uint64_t handle(unsigned i) { return kBase + i * sizeof(hsa::Signal); }
  static std::uint64_t mailbox(unsigned i) { return kBase + offsetof(Page, mailboxes) + i * 8; }

  Page page_{};
  GpuVm vm_;
  Signals signals_{vm_};
};

TEST_F(SignalsTest, HandlesAreChecked) {
  EXPECT_TRUE(signals_.valid(handle(1)));
  EXPECT_FALSE(signals_.valid(handle(1) + 8));
  EXPECT_FALSE(signals_.valid(kBase - 64));
  EXPECT_FALSE(signals_.valid(0));
  EXPECT_FALSE(signals_.complete(kBase - 64, 1, 2));
  EXPECT_FALSE(signals_.store(kBase - 64, 1));
}

TEST_F(SignalsTest, CompletionStampsDecrementsAndPosts) {
  page_.signals[2].value = 3;
  EXPECT_FALSE(signals_.complete(handle(2), 100, 250));
  EXPECT_EQ(signals_.value(handle(2)), 2);
  EXPECT_EQ(page_.signals[2].start_timestamp, 100u);
  EXPECT_EQ(page_.signals[2].end_timestamp, 250u);

  page_.signals[2].event_mailbox = mailbox(5);
  page_.signals[2].event_id = 0xabcd;
  const auto event = signals_.complete(handle(2), 300, 400);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->id, 0xabcdu);
  EXPECT_EQ(event->mailbox, mailbox(5));
  EXPECT_EQ(page_.mailboxes[5], 0xabcdu);
  EXPECT_EQ(page_.signals[2].value, 1);
}

TEST_F(SignalsTest, StorePosts) {
  page_.signals[1].event_mailbox = mailbox(0);
  page_.signals[1].event_id = 9;
  ASSERT_TRUE(signals_.store(handle(1), -5));
  EXPECT_EQ(signals_.value(handle(1)), -5);
  EXPECT_EQ(page_.mailboxes[0], 9u);
}

TEST_F(SignalsTest, MailboxThatIsNotMappedIsReportedOnly) {
  page_.signals[1].event_mailbox = 0x40;
  EXPECT_TRUE(signals_.store(handle(1), 1));
  EXPECT_EQ(signals_.value(handle(1)), 1);
}

TEST_F(SignalsTest, NoDecrementOfEitherSideIsLost) {
  constexpr std::int64_t kRounds = 200'000;
  constexpr std::int64_t kMeetings = 1000;  // minimum number of decrements by the host thread while the test completes signals
  std::int64_t& value = page_.signals[0].value;
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> by_host = 0;
  std::thread host([&] {
    for (; !stop; ++by_host) std::atomic_ref(value).fetch_sub(1);
  });
  while (by_host == 0) std::this_thread::yield();
  const std::int64_t before = by_host;
  std::int64_t completed = 0;
  for (; completed < kRounds || by_host - before < kMeetings; ++completed) signals_.complete(handle(0), 0, 0);
  stop = true;
  host.join();
  EXPECT_EQ(value, -completed - by_host);
}

TEST_F(SignalsTest, TimeStampsAreVisibleWithTheValue) {
  constexpr unsigned kRounds = 100'000;
  std::int64_t& value = page_.signals[0].value;
  unsigned stale = 0;
  std::thread host([&] {
    for (unsigned i = 1; i <= kRounds; ++i) {
      while (std::atomic_ref(value).load(std::memory_order_acquire) != -static_cast<std::int64_t>(i)) std::this_thread::yield();
      stale += page_.signals[0].start_timestamp != i || page_.signals[0].end_timestamp != 2 * i ? 1U : 0U;
      std::atomic_ref(page_.mailboxes[7]).store(i, std::memory_order_release);
    }
  });
  for (unsigned i = 1; i <= kRounds; ++i) {
    signals_.complete(handle(0), i, 2 * i);
    while (std::atomic_ref(page_.mailboxes[7]).load(std::memory_order_acquire) != i) std::this_thread::yield();
  }
  host.join();
  EXPECT_EQ(stale, 0u);
}

}  // namespace
}  // namespace lacuna
