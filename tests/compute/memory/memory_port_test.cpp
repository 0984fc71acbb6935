// A compute unit's way to memory: what waits for a translation, what waits for the cache, and what is answered at once.
#include "models/compute/memory/memory_port.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace lacuna {
namespace {

using namespace literals;

/// Answers after 40 ns, or when answer() says so.
struct Memory : LineMemory {
  struct Request {
    LineAccess access;
    Tick at;
    LineClient* client;
    std::uint32_t tag;
  };
  bool at_once = true;
  std::vector<Request> requests;
  bool access(const LineAccess& request, Tick at, LineClient& client, std::uint32_t tag, LineAnswer& answer) override {
    requests.push_back({request, at, &client, tag});
    answer = {.made = request.made, .arrived = at, .done = at + 40_ns};
    return at_once;
  }
  void answer(std::size_t i, Tick at) {
    requests[i].client->answered(requests[i].tag, {.made = requests[i].access.made, .arrived = requests[i].at, .done = at});
  }
};

struct Tlb : TranslationLevel {
  bool at_once = true;
  TranslationClient* client = nullptr;
  std::vector<std::uint32_t> tags;
  Tick translate(std::uint64_t, Tick at) override { return at + 5_ns; }
  bool translate_or_defer(std::uint64_t address, Tick at, TranslationClient& asks, std::uint32_t tag, Tick& known) override {
    known = translate(address, at);
    client = &asks;
    tags.push_back(tag);
    return at_once;
  }
  void retire(Tick) override {}
};

struct Client : LineClient {
  std::map<std::uint32_t, LineAnswer> told;
  void answered(std::uint32_t tag, const LineAnswer& answer) override { told[tag] = answer; }
};

class MemoryPortTest : public testing::Test {
 protected:
  Client client_;
  Memory memory_;
  Tlb tlb_;
  MemoryPort port_{client_, memory_};
  LineAnswer answer_;
};

TEST_F(MemoryPortTest, WithoutTlbARequestLeavesWhenItIsMade) {
  port_.translate(0x1000, 100_ns);
  ASSERT_TRUE(port_.request({.address = 0x40, .bytes = 64, .made = 102_ns}, 7, answer_));
  EXPECT_EQ(answer_.made, 102_ns);
  EXPECT_EQ(answer_.arrived, 102_ns);
  EXPECT_EQ(answer_.done, 142_ns);
  EXPECT_EQ(port_.waiting(), 0U);
}

TEST_F(MemoryPortTest, RequestsOfAPageWaitForItsTranslation) {
  port_.attach(&tlb_);
  tlb_.at_once = false;
  port_.translate(0x1000, 100_ns);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(port_.request({.address = 0x40ULL * i, .bytes = 64, .made = Tick{100'000 + 1000ULL * i}}, i, answer_));
  }
  EXPECT_TRUE(memory_.requests.empty());
  EXPECT_EQ(port_.waiting(), 3U);
  tlb_.client->translated(tlb_.tags.at(0), 101_ns);
  ASSERT_EQ(memory_.requests.size(), 3U) << "in order";
  EXPECT_EQ(client_.told.at(0).arrived, 101_ns);
  EXPECT_EQ(client_.told.at(1).arrived, 101_ns);
  EXPECT_EQ(client_.told.at(2).arrived, 102_ns) << "it was made after the translation was known";
  ASSERT_TRUE(port_.request({.address = 0x100, .bytes = 64, .made = 103_ns}, 9, answer_)) << "the page is known now";
  EXPECT_EQ(port_.waiting(), 0U);
}

TEST_F(MemoryPortTest, PagesThatAreAwaitedKeepTheirRequestsApart) {
  port_.attach(&tlb_);
  tlb_.at_once = false;
  port_.translate(0x1000, 100_ns);
  port_.request({.address = 0x40, .bytes = 64, .made = 100_ns}, 1, answer_);
  port_.translate(0x2000, 101_ns);
  port_.request({.address = 0x80, .bytes = 64, .made = 101_ns}, 2, answer_);
  tlb_.client->translated(tlb_.tags.at(1), 110_ns);
  EXPECT_EQ(client_.told.count(1), 0U);
  EXPECT_EQ(client_.told.at(2).arrived, 110_ns);
  tlb_.client->translated(tlb_.tags.at(0), 150_ns);
  EXPECT_EQ(client_.told.at(1).arrived, 150_ns);
  ASSERT_TRUE(port_.request({.address = 0xc0, .bytes = 64, .made = 111_ns}, 3, answer_));
  EXPECT_EQ(answer_.arrived, 111_ns) << "of the page translated last, whatever came after it";
}

TEST_F(MemoryPortTest, AnswersMayComeInAnyOrder) {
  memory_.at_once = false;
  port_.translate(0x1000, 0_ns);
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_FALSE(port_.request({.address = 64ULL * i, .bytes = 64, .made = 10_ns}, i, answer_));
  }
  for (std::size_t i = 100; i-- > 0;) memory_.answer(i, Tick{1000 * (i + 50)});
  ASSERT_EQ(client_.told.size(), 100U);
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(client_.told.at(i).done, Tick{1000ULL * (i + 50)});
    EXPECT_EQ(client_.told.at(i).made, 10_ns);
  }
}

TEST_F(MemoryPortTest, ResetForgetsWhatWaitsForATranslation) {
  port_.attach(&tlb_);
  tlb_.at_once = false;
  port_.translate(0x1000, 0_ns);
  port_.request({.address = 0x40, .bytes = 64, .made = 10_ns}, 1, answer_);
  port_.reset();
  EXPECT_EQ(port_.waiting(), 0U);
  EXPECT_TRUE(client_.told.empty());
}

}  // namespace
}  // namespace lacuna
