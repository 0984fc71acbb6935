// Tests events: the actions that set them, the threads that they wake, and the effects of a wait.
#include "drivers/rocm/events.h"

#include <gtest/gtest.h>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "tests/rocm/unit/waits_clock.h"

namespace lacuna::rocm {
namespace {

constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

class EventsTest : public testing::Test {
 protected:
  HsaEvent* make(HSA_EVENTTYPE type = HSA_EVENTTYPE_SIGNAL, bool manual = false, bool set = false) {
    HsaEventDescriptor descriptor{};
    descriptor.EventType = type;
    HsaEvent* event = nullptr;
    EXPECT_EQ(events_.create(descriptor, manual, set, event), HSAKMT_STATUS_SUCCESS);
    return event;
  }
  HSAKMT_STATUS wait(HsaEvent* event, std::uint32_t milliseconds = 0) {
    return events_.wait(std::array{event}, true, milliseconds);
  }
  std::uint64_t& mailbox(const HsaEvent* event) { return *reinterpret_cast<std::uint64_t*>(event->EventData.HWData2); }

  HostWaits waits_;
  Events events_{waits_};
  WaitsClock clock_{waits_};
};

TEST_F(EventsTest, EachHasAnIdAndAMailboxOfItsOwn) {
  const HsaEvent* a = make();
  const HsaEvent* b = make();
  EXPECT_NE(a->EventId, 0U);
  EXPECT_NE(a->EventId, b->EventId);
  EXPECT_NE(a->EventData.HWData2, b->EventData.HWData2);
  EXPECT_EQ(mailbox(a), kEmpty);
  const auto mailboxes = events_.mailboxes();
  EXPECT_GE(&mailbox(a), mailboxes.data());
  EXPECT_LT(&mailbox(a), mailboxes.data() + mailboxes.size());
}

TEST_F(EventsTest, ASetEventStaysSetUntilOneWaitHasTakenIt) {
  HsaEvent* event = make();
  EXPECT_EQ(wait(event), HSAKMT_STATUS_WAIT_TIMEOUT);
  EXPECT_EQ(events_.set(event), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(events_.query(event), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(wait(event), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(wait(event), HSAKMT_STATUS_WAIT_TIMEOUT);
}

TEST_F(EventsTest, AManualEventStaysSetUntilItIsReset) {
  HsaEvent* event = make(HSA_EVENTTYPE_SIGNAL, true, true);
  EXPECT_EQ(wait(event), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(wait(event), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(events_.reset(event), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(wait(event), HSAKMT_STATUS_WAIT_TIMEOUT);
}

TEST_F(EventsTest, WaitsForAnyOrAllOfSeveralEvents) {
  const std::array events{make(), make(), make()};
  EXPECT_EQ(events_.wait(events, false, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
  events_.set(events[1]);
  EXPECT_EQ(events_.wait(events, true, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
  EXPECT_EQ(events_.query(events[1]), HSAKMT_STATUS_SUCCESS) << "a wait that times out consumes no event";
  EXPECT_EQ(events_.wait(events, false, 0), HSAKMT_STATUS_SUCCESS);
  for (HsaEvent* event : events) events_.set(event);
  EXPECT_EQ(events_.wait(events, true, 0), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(events_.wait(events, false, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
}

TEST_F(EventsTest, AWaitLastsForItsTimeout) {
  using namespace std::chrono;
  // Checks only that the wait is not shorter than requested: the excess depends on the host.
  const auto begin = steady_clock::now();
  EXPECT_EQ(wait(make(), 30), HSAKMT_STATUS_WAIT_TIMEOUT);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(30));
}

TEST_F(EventsTest, AnotherThreadWakesAWaitWithoutEnd) {
  HsaEvent* event = make();
  std::atomic<bool> woken{false};
  std::thread waiter([&] {
    EXPECT_EQ(wait(event, HSA_EVENTTIMEOUT_INFINITE), HSAKMT_STATUS_SUCCESS);
    woken = true;
  });
  while (events_.waiting() == 0 && !woken) std::this_thread::yield();
  EXPECT_FALSE(woken);
  events_.set_by_id(event->EventId);
  waiter.join();
  EXPECT_TRUE(woken);
}

// When a queue is destroyed, two threads of the runtime wait for its event; one of them then waits again.
TEST_F(EventsTest, ASetEventWakesAllThatWaitForIt) {
  HsaEvent* event = make();
  HsaEvent* other = make();
  const auto begin_to_wait = [this](std::vector<HsaEvent*> events) {
    return std::thread([this, events = std::move(events)] {
      EXPECT_EQ(events_.wait(events, false, HSA_EVENTTIMEOUT_INFINITE), HSAKMT_STATUS_SUCCESS);
    });
  };
  std::thread first = begin_to_wait({event});
  std::thread second = begin_to_wait({other, event});
  while (events_.waiting() < 2) std::this_thread::yield();
  events_.set(event);
  EXPECT_EQ(wait(event), HSAKMT_STATUS_WAIT_TIMEOUT) << "it has been consumed, so that later waits do not see it";
  first.join();
  second.join();
}

TEST_F(EventsTest, ATimedOutWaitDoesNotSetEventsThatWereReset) {
  const std::array events{make(HSA_EVENTTYPE_SIGNAL, true, true), make(HSA_EVENTTYPE_SIGNAL, false, true), make()};
  // On a busy machine the wait may end before this thread resets the event: then the test is repeated with a longer wait.
  bool was_waiting = false;
  for (std::uint32_t milliseconds = 20; !was_waiting; milliseconds *= 2) {
    events_.set(events[0]);
    std::atomic<bool> ended{false};
    std::thread waiter([&] {
      EXPECT_EQ(events_.wait(events, true, milliseconds), HSAKMT_STATUS_WAIT_TIMEOUT);
      ended = true;
    });
    while (events_.waiting() == 0 && !ended) std::this_thread::yield();
    events_.reset(events[0]);
    was_waiting = events_.waiting() == 1;
    waiter.join();
    EXPECT_EQ(events_.query(events[0]), HSAKMT_STATUS_WAIT_TIMEOUT);
    EXPECT_EQ(events_.query(events[1]), HSAKMT_STATUS_SUCCESS);
  }
}

TEST_F(EventsTest, AWaitEndsWhenTheEventIsDestroyed) {
  HsaEvent* event = make();
  std::atomic<bool> ended{false};
  std::thread waiter([&] {
    EXPECT_EQ(wait(event, HSA_EVENTTIMEOUT_INFINITE), HSAKMT_STATUS_SUCCESS) << "it waited";
    ended = true;
  });
  while (events_.waiting() == 0 && !ended) std::this_thread::yield();
  EXPECT_FALSE(ended);
  EXPECT_EQ(events_.destroy(event), HSAKMT_STATUS_SUCCESS);
  waiter.join();
}

// A message interrupt contains only 8 bits of the event's id, which are equal for several of the events here.
TEST_F(EventsTest, MailboxesIdentifyTheEventsOfAMessage) {
  std::vector<HsaEvent*> events;
  for (int i = 0; i < 600; ++i) events.push_back(make());
  ASSERT_EQ(events[10]->EventId & 0xff, events[266]->EventId & 0xff);
  mailbox(events[266]) = events[266]->EventId;
  events_.look_at_mailboxes();
  for (std::size_t i = 0; i < events.size(); ++i)
    EXPECT_EQ(events_.query(events[i]), i == 266 ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT) << i;
  EXPECT_EQ(mailbox(events[266]), kEmpty);
}

TEST_F(EventsTest, SettingByIdEmptiesTheMailbox) {
  HsaEvent* event = make();
  mailbox(event) = event->EventId;
  events_.set_by_id(event->EventId);
  EXPECT_EQ(mailbox(event), kEmpty);
  events_.set_by_id(event->EventId + 1000);  // no event has this id: no effect
}

TEST_F(EventsTest, MemoryFaultsAreReportedToAllWaiters) {
  HsaMemoryAccessFault fault{};
  fault.NodeId = 2;
  fault.VirtualAddress = 0x123000;
  fault.Failure.NotPresent = 1;
  HsaEvent* signal = make();
  EXPECT_FALSE(events_.memory_fault(fault));
  HsaEvent* memory = make(HSA_EVENTTYPE_MEMORY, true);
  EXPECT_EQ(memory->EventData.HWData2, 0U) << "no mailbox";
  EXPECT_TRUE(events_.memory_fault(fault));
  EXPECT_EQ(wait(memory), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(wait(signal), HSAKMT_STATUS_WAIT_TIMEOUT);
  const HsaMemoryAccessFault& told = memory->EventData.EventData.MemoryAccessFault;
  EXPECT_EQ(HSAuint32{told.NodeId}, 2U);
  EXPECT_EQ(HSAuint64{told.VirtualAddress}, 0x123000U);
  EXPECT_EQ(told.Failure.NotPresent, 1U);
}

TEST_F(EventsTest, ForeignAndDestroyedEventsAreRefused) {
  HsaEvent foreign{};
  foreign.EventId = make()->EventId;
  EXPECT_EQ(events_.set(&foreign), HSAKMT_STATUS_INVALID_HANDLE);
  EXPECT_EQ(events_.set(nullptr), HSAKMT_STATUS_INVALID_HANDLE);
  EXPECT_EQ(wait(&foreign), HSAKMT_STATUS_INVALID_HANDLE);
  EXPECT_EQ(events_.destroy(&foreign), HSAKMT_STATUS_INVALID_HANDLE);
}

TEST_F(EventsTest, IdsAreUsedAgainAndRunOut) {
  HsaEvent* first = make();
  const HSA_EVENTID id = first->EventId;
  events_.destroy(first);
  EXPECT_EQ(make()->EventId, id);
  HsaEventDescriptor descriptor{};
  HsaEvent* event = nullptr;
  HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;
  unsigned made = 1;
  while ((status = events_.create(descriptor, false, false, event)) == HSAKMT_STATUS_SUCCESS) ++made;
  EXPECT_EQ(status, HSAKMT_STATUS_OUT_OF_RESOURCES);
  EXPECT_EQ(made, Events::kMost - 1);
}

}  // namespace
}  // namespace lacuna::rocm
