// Tests a compute unit's port to memory: requests that wait for a translation, requests that wait for the cache, and immediate
// responses.
#include "models/compute/memory/memory_port.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace lacuna {
namespace {

using namespace literals;

/// Responds after 40 ns, or when answer() is called.
struct Memory : MemoryTarget {
  struct Made {
    MemoryRequest request;
    Tick at;
    MemoryClient* client;
    std::uint32_t tag;
  };
  bool at_once = true;
  std::vector<Made> requests;
  bool request(const MemoryRequest& request, Tick at, MemoryClient& client, std::uint32_t tag,
               MemoryResponse& response) override {
    requests.push_back({request, at, &client, tag});
    response = {.made = request.made, .arrived = at, .done = at + 40_ns};
    return at_once;
  }
  void answer(std::size_t i, Tick at) {
    requests[i].client->on_response(requests[i].tag, {.made = requests[i].request.made, .arrived = requests[i].at, .done = at});
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

struct Client : MemoryClient {
  std::map<std::uint32_t, MemoryResponse> told;
  void on_response(std::uint32_t tag, const MemoryResponse& response) override { told[tag] = response; }
};

class MemoryPortTest : public testing::Test {
 protected:
  Client client_;
  Memory memory_;
  Tlb tlb_;
  MemoryPort port_{client_, memory_};
  MemoryResponse answer_;
};

TEST_F(MemoryPortTest, WithoutTlbARequestDepartsWhenItIsMade) {
  port_.translate(0x1000, 100_ns);
  ASSERT_TRUE(port_.request({.address = 0x40, .made = 102_ns, .bytes = 64}, 7, answer_));
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
    EXPECT_FALSE(port_.request({.address = 0x40ULL * i, .made = Tick{100'000 + 1000ULL * i}, .bytes = 64}, i, answer_));
  }
  EXPECT_TRUE(memory_.requests.empty());
  EXPECT_EQ(port_.waiting(), 3U);
  tlb_.client->translated(tlb_.tags.at(0), 101_ns);
  ASSERT_EQ(memory_.requests.size(), 3U) << "in order";
  EXPECT_EQ(client_.told.at(0).arrived, 101_ns);
  EXPECT_EQ(client_.told.at(1).arrived, 101_ns);
  EXPECT_EQ(client_.told.at(2).arrived, 102_ns) << "it was made after the translation was known";
  ASSERT_TRUE(port_.request({.address = 0x100, .made = 103_ns, .bytes = 64}, 9, answer_)) << "the page is known now";
  EXPECT_EQ(port_.waiting(), 0U);
}

TEST_F(MemoryPortTest, RequestsWaitForTheirPageOnly) {
  port_.attach(&tlb_);
  tlb_.at_once = false;
  port_.translate(0x1000, 100_ns);
  port_.request({.address = 0x40, .made = 100_ns, .bytes = 64}, 1, answer_);
  port_.translate(0x2000, 101_ns);
  port_.request({.address = 0x80, .made = 101_ns, .bytes = 64}, 2, answer_);
  tlb_.client->translated(tlb_.tags.at(1), 110_ns);
  EXPECT_EQ(client_.told.count(1), 0U);
  EXPECT_EQ(client_.told.at(2).arrived, 110_ns);
  tlb_.client->translated(tlb_.tags.at(0), 150_ns);
  EXPECT_EQ(client_.told.at(1).arrived, 150_ns);
  ASSERT_TRUE(port_.request({.address = 0xc0, .made = 111_ns, .bytes = 64}, 3, answer_));
  EXPECT_EQ(answer_.arrived, 111_ns) << "of the page translated last, whatever came after it";
}

TEST_F(MemoryPortTest, ResponsesMayArriveInAnyOrder) {
  memory_.at_once = false;
  port_.translate(0x1000, 0_ns);
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_FALSE(port_.request({.address = 64ULL * i, .made = 10_ns, .bytes = 64}, i, answer_));
  }
  for (std::size_t i = 100; i-- > 0;) memory_.answer(i, Tick{1000 * (i + 50)});
  ASSERT_EQ(client_.told.size(), 100U);
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(client_.told.at(i).done, Tick{1000ULL * (i + 50)});
    EXPECT_EQ(client_.told.at(i).made, 10_ns);
  }
}

TEST_F(MemoryPortTest, ResetDropsRequestsWaitingForATranslation) {
  port_.attach(&tlb_);
  tlb_.at_once = false;
  port_.translate(0x1000, 0_ns);
  port_.request({.address = 0x40, .made = 10_ns, .bytes = 64}, 1, answer_);
  port_.reset();
  EXPECT_EQ(port_.waiting(), 0U);
  EXPECT_TRUE(client_.told.empty());
}

}  // namespace
}  // namespace lacuna
