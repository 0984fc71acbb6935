// Tests units at network nodes that send memory requests and messages; the response to a request may go to a unit at a third
// node.
#include "models/gpu/node_requester.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "models/common/host/worker_threads.h"
#include "models/gpu/memory_phase.h"
#include "tests/cache/deciding_memory.h"
#include "tests/cache/memory_below.h"
#include "tests/gpu/response_recorder.h"
#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"

namespace lacuna::test {
namespace {

using namespace literals;

/// Sends given requests, records the responses, and makes the next request of a chain when a response arrives.
class Unit : public NodeRequester {
 public:
  void send(std::uint64_t address, Tick at, std::uint32_t tag, NodeRequester* receiver = nullptr, bool write = false) {
    pending_.push_back({.at = at,
                        .request = {.address = address, .bytes = 64, .kind = RequestKind::vector, .write = write},
                        .receiver = receiver,
                        .tag = tag});
    announce(at);
  }
  void send(NodeRequester& receiver, VirtualNetwork virtual_network, unsigned flits, Tick at, std::uint32_t tag) {
    messages_.push_back(
        {.at = at, .receiver = &receiver, .network = virtual_network, .flits = static_cast<std::uint16_t>(flits), .tag = tag});
    announce(at);
  }
  void departures(Tick end, std::vector<Departure>& out) override { take(pending_, end, out); }
  bool sends_messages() const override { return with_messages; }
  void messages(Tick end, std::vector<Message>& out) override { take(messages_, end, out); }
  Tick next_departure() const override {
    Tick next = kNever;
    for (const Departure& departure : pending_) next = earlier(next, departure.at);
    for (const Message& message : messages_) next = earlier(next, message.at);
    return next;
  }
  void receive(std::uint32_t tag, const Passage& passage) override {
    EXPECT_TRUE(received.emplace(tag, passage).second) << tag;
    if (echo == nullptr) return;
    send(*echo, VirtualNetwork::reply, 1, passage.at, tag);
  }
  void complete(std::uint32_t tag, Tick at, const LatencyBreakdown& below) override {
    EXPECT_TRUE(completed.emplace(tag, at).second) << tag;
    constexpr auto kNoc = static_cast<std::size_t>(MemoryLevel::noc);
    network[tag] = below.queueing[kNoc] + below.service[kNoc];
    EXPECT_LE(below.injection, below.queueing[kNoc]);
    injection += below.injection;
    if (chain == 0) return;
    --chain;
    send(64ULL * (tag + 1), at, tag + 1);
  }
  const char* name() const override { return "unit"; }
  void reset() {
    pending_.clear();
    messages_.clear();
    completed.clear();
    received.clear();
    network.clear();
    injection = {};
    chain = 0;
    echo = nullptr;
  }

  std::map<std::uint32_t, Tick> completed;
  std::map<std::uint32_t, Tick> network;
  Tick injection{};  ///< sum of the responses' waits in the banks' injection queues
  std::map<std::uint32_t, Passage> received;
  unsigned chain = 0;
  NodeRequester* echo = nullptr;  ///< receiver of a one-flit message for each message that arrives; null: none is sent
  bool with_messages = false;

 private:
  /// Moves the items that leave before `end` from `from` to `out`.
  template <typename Item>
  static void take(std::vector<Item>& from, Tick end, std::vector<Item>& out) {
    const auto later = std::partition(from.begin(), from.end(), [end](const Item& item) { return item.at < end; });
    out.insert(out.end(), from.begin(), later);
    from.erase(from.begin(), later);
  }

  std::vector<Departure> pending_;
  std::vector<Message> messages_;
};

/// Two caches and two units, each in a separate group, and two L2 banks whose memories respond late. If `messages` is set, also
/// a unit at the node of bank 0.
struct Rig : sc_core::sc_module {
  Rig(sc_core::sc_module_name module_name, const FabricParameters& parameters, Tick min_packet_time, unsigned threads,
      bool messages = false)
      : sc_module(module_name), workers(threads) {
    for (Unit* const unit : {&units[0], &units[1], &at_bank}) unit->with_messages = messages;
    const AddressRoute route{
        .name = "memory", .base = 0, .size = kSize, .first_destination = 0, .count = 2, .interleave = 64_B};
    fabric = make_fabric("noc", parameters, 4, AddressRoutes({route}));
    phase = std::make_unique<MemoryPhase>(*fabric, nullptr, &workers, min_packet_time);
    for (unsigned i = 0; i < 4; ++i) {
      initiators.push_back(std::make_unique<TestInitiator>(("initiator" + std::to_string(i)).c_str()));
      if (i >= 2) {
        initiators[i]->socket.bind(fabric->sources[i]);
        phase->add(units[i - 2], fabric->source_node(i), i);
        continue;
      }
      caches.push_back(std::make_unique<FirstLevelCache>(("cache" + std::to_string(i)).c_str(), CacheParameters{}));
      initiators[i]->socket.bind(caches[i]->upstream[0]);
      caches[i]->downstream.bind(fabric->sources[i]);
      phase->add(*caches[i], i, i);
    }
    const CacheParameters l2_parameters{
        .write_policy = WritePolicy::write_back, .hit_latency = 20_cycles, .tag_latency = 4_cycles, .fill_latency = 3_cycles};
    for (unsigned i = 0; i < 2; ++i) {
      sockets.push_back(std::make_unique<MemoryBelow>(("memory" + std::to_string(i)).c_str(), kSize));
      l2.push_back(std::make_unique<LastLevelCache>(("l2_" + std::to_string(i)).c_str(), l2_parameters, MemoryLevel::l2, 1,
                                                    fabric->routes().slice(i)));
      l2.back()->downstream.bind(sockets[i]->port);
      fabric->destinations[i].bind(l2.back()->upstream[0]);
      phase->add_destination(i, *l2.back(), &memories[i]);
    }
    if (messages) phase->add(at_bank, fabric->destination_node(0), 4, true);
  }
  void reset() {
    for (Unit* const unit : {&units[0], &units[1], &at_bank}) unit->reset();
    phase->reset();
    fabric->reset();
    for (auto& cache : caches) cache->reset();
    for (auto& cache : l2) cache->reset();
    for (DecidingMemory& memory : memories) memory.reset();
    responses.completed.clear();
  }

  static constexpr Bytes kSize{1 << 16};
  WorkerThreads workers;
  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<MemoryPhase> phase;
  std::vector<std::unique_ptr<TestInitiator>> initiators;
  std::vector<std::unique_ptr<FirstLevelCache>> caches;
  std::vector<std::unique_ptr<MemoryBelow>> sockets;
  std::vector<std::unique_ptr<LastLevelCache>> l2;
  std::array<DecidingMemory, 2> memories;
  std::array<Unit, 2> units;
  Unit at_bank;                ///< unit at the node of bank 0, only in rigs with messages
  ResponseRecorder responses;  ///< responses to the caches' requests
};

/// A row of six routers: the L2 banks at its ends, caches and units between them, in order.
FabricParameters row(RouterModel routers) {
  return {.topology = FabricTopology::mesh, .columns = 6, .rows = 1, .placement = "0,0 5,0", .routers = routers};
}

/// With a crossbar and without messages, groups and destinations handle the two ends of a packet's path independently; a booked
/// mesh uses one thread for all packets; a stepped mesh delivers packets several windows later.
struct NetworksBench : sc_core::sc_module {
  explicit NetworksBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  Rig crossbar{"crossbar", FabricParameters{}, 11_ns, 1};
  Rig crossbar_threads{"crossbar_threads", FabricParameters{}, 11_ns, 3};
  Rig booked{"booked", row(RouterModel::booked), {}, 1};
  Rig stepped{"stepped", row(RouterModel::stepped), {}, 1};
  Rig crossbar_messages{"crossbar_messages", FabricParameters{}, 11_ns, 3, true};
  Rig booked_messages{"booked_messages", row(RouterModel::booked), 6_ns, 3, true};
  Rig stepped_messages{"stepped_messages", row(RouterModel::stepped), {}, 1, true};
};

LACUNA_TEST_BENCH(NetworksBench)

class NodeRequesterTest : public testing::TestWithParam<Rig NetworksBench::*> {
 protected:
  Rig& rig_ = bench<NetworksBench>().*GetParam();
  Unit& near_ = rig_.units[0];  ///< unit at router 3 if the network is a row
  Unit& far_ = rig_.units[1];   ///< unit at router 4 if the network is a row
  Unit& at_bank_ = rig_.at_bank;
  Tick start_{};
  Tick end_{};

  void SetUp() override {
    rig_.reset();
    start_ = now();
    end_ = start_;
  }
  /// Resolves windows of 4 ns until no requests are left.
  void run() {
    for (unsigned windows = 0; rig_.phase->next() != kNever; ++windows) {
      ASSERT_LT(windows, 10'000U);
      end_ += 4_ns;
      rig_.phase->resolve(end_);
    }
  }
  /// Time of a read of bank 1, sent by one unit and received by another, while nothing else is in flight.
  Tick idle(Unit& sender, Unit& receiver) {
    SetUp();
    sender.send(64, start_, 5, &receiver);
    run();
    EXPECT_EQ(receiver.completed.size(), 1U);
    EXPECT_EQ(&sender != &receiver && !sender.completed.empty(), false) << "only the receiver has the response";
    return receiver.completed.at(5) - start_;
  }
};

TEST_P(NodeRequesterTest, TheResponseTravelsFromTheDestinationToTheReceiver) {
  const Tick near = idle(near_, near_);
  const Tick far = idle(far_, far_);
  // A request takes the sender's path to the bank; its response takes the path from the bank to the receiver.
  EXPECT_EQ(idle(near_, far_) + idle(far_, near_), near + far);
  if (rig_.fabric->ports() != nullptr) {
    // In ns: one flit over a hop 11 + L2 lookup 4 + memory 100 + L2 fill 3 + two flits over a hop 12 = 130.
    EXPECT_EQ(idle(near_, far_), 130_ns);
  } else {
    EXPECT_GT(near, idle(near_, far_)) << "the receiver is a link closer to the bank";
    EXPECT_GT(idle(near_, far_), far);
  }
}

TEST_P(NodeRequesterTest, PacketsCountForTheirDestinations) {
  const FabricStatistics before = rig_.fabric->statistics();
  near_.send(64, start_, 1, &far_);
  near_.send(128, start_, 2, &far_);
  near_.send(64 * 3, start_, 3);
  run();
  const FabricStatistics& after = rig_.fabric->statistics();
  const auto passed = [&](unsigned destination) {
    return std::pair(after.destinations[destination].packets - before.destinations[destination].packets,
                     after.destinations[destination].flits - before.destinations[destination].flits);
  };
  // Requests have one flit, replies two.
  EXPECT_EQ(passed(0), std::pair(std::uint64_t{2}, std::uint64_t{3}));
  EXPECT_EQ(passed(1), std::pair(std::uint64_t{4}, std::uint64_t{6}));
  EXPECT_EQ(after.packets - before.packets, 6U);
  EXPECT_EQ(after.flits - before.flits, 9U);
  const Tick measured = after.latency - before.latency;
  EXPECT_EQ(measured, near_.network.at(3) + far_.network.at(1) + far_.network.at(2));
}

// Replies of two flits leave a bank that could serve one request per cycle.
TEST_P(NodeRequesterTest, TheWaitInABanksInjectionQueueIsCountedSeparately) {
  const InjectionStatistics before = rig_.fabric->statistics().injection;
  constexpr unsigned kReads = 24;
  for (std::uint32_t i = 0; i < kReads; ++i) {
    near_.send(64 * (2 * i + 1), start_, i, &far_);
    far_.send(64 * (2 * i + 1), start_, 100 + i, &near_);
  }
  run();
  ASSERT_EQ(near_.completed.size() + far_.completed.size(), 2U * kReads);
  const InjectionStatistics& after = rig_.fabric->statistics().injection;
  const auto packets = [&](unsigned node, VirtualNetwork network) {
    return after.of(node, network).packets - before.of(node, network).packets;
  };
  const auto queueing = [&](unsigned node, VirtualNetwork network) {
    return after.of(node, network).queueing - before.of(node, network).queueing;
  };
  const unsigned bank = rig_.fabric->destination_node(1);
  EXPECT_EQ(packets(bank, VirtualNetwork::reply), 2U * kReads);
  EXPECT_EQ(queueing(bank, VirtualNetwork::reply), near_.injection + far_.injection);
  EXPECT_GT(near_.injection, 0_ns);
  for (const unsigned source : {2U, 3U}) {
    const unsigned node = rig_.fabric->source_node(source);
    EXPECT_EQ(packets(node, VirtualNetwork::request), kReads);
    // The injection port accepts one flit per cycle: the k-th request waits k cycles if nothing else delays it, k = 0 to kReads
    // - 1.
    EXPECT_GE(queueing(node, VirtualNetwork::request), 1_ns * (kReads * (kReads - 1) / 2));
    EXPECT_EQ(packets(node, VirtualNetwork::reply), 0U);
  }
}

TEST_P(NodeRequesterTest, AReceiverMaySendFurtherRequests) {
  far_.chain = 9;
  near_.send(64, start_, 1, &far_);
  run();
  ASSERT_EQ(far_.completed.size(), 10U);
  for (std::uint32_t tag = 2; tag <= 10; ++tag) EXPECT_GT(far_.completed.at(tag), far_.completed.at(tag - 1)) << tag;
  EXPECT_TRUE(near_.completed.empty());
}

// In one long window, responses cause further requests that depart in the same window.
TEST_P(NodeRequesterTest, RequestsDepartingInAPhaseAreCompletedInIt) {
  if (rig_.fabric->stepped() != nullptr) GTEST_SKIP() << "windows are no longer than the network's lookahead";
  far_.chain = 9;
  near_.send(64, start_, 1, &far_);
  rig_.phase->resolve(start_ + 2_us);
  EXPECT_EQ(far_.completed.size(), 10U);
  EXPECT_EQ(rig_.phase->next(), kNever);
}

TEST_P(NodeRequesterTest, MixedWithCachesEveryRequestIsCompletedOnce) {
  std::mt19937 random(1);
  std::array<std::uint32_t, 2> expected{};
  std::uint32_t lines = 0;
  for (std::uint32_t i = 0; i < 600; ++i) {
    const Tick at = start_ + Tick{1000 * (random() % 80)};
    const std::uint64_t address = 64ULL * (random() % 300);
    const unsigned from = random() % 4;
    if (from >= 2) {
      const unsigned to = random() % 2;
      rig_.units[from - 2].send(address, at, i, &rig_.units[to], random() % 4 == 0);
      ++expected[to];
      continue;
    }
    ++lines;
    MemoryResponse response;
    const MemoryRequest request{.address = address, .bytes = 64, .kind = RequestKind::vector};
    if (rig_.caches[from]->request(request, at, rig_.responses, i, response)) rig_.responses.completed[i] = response.done;
  }
  run();
  EXPECT_EQ(near_.completed.size(), expected[0]);
  EXPECT_EQ(far_.completed.size(), expected[1]);
  EXPECT_EQ(rig_.responses.completed.size(), lines);
  for (const DecidingMemory& memory : rig_.memories) {
    for (std::size_t i = 1; i < memory.requests.size(); ++i) EXPECT_LE(memory.requests[i - 1].at, memory.requests[i].at) << i;
  }
}

TEST_P(NodeRequesterTest, ResetDropsRequestsInFlight) {
  for (std::uint32_t i = 0; i < 8; ++i) near_.send(64ULL * i, start_, i, &far_);
  rig_.phase->resolve(start_ + 4_ns);
  SetUp();
  EXPECT_EQ(rig_.phase->next(), kNever);
  far_.send(0, start_, 9, &near_);
  run();
  EXPECT_EQ(near_.completed.size(), 1U);
  EXPECT_TRUE(far_.completed.empty());
}

std::string network_name(const testing::TestParamInfo<Rig NetworksBench::*>& instance) {
  constexpr std::array<const char*, 4> kNames{"crossbar", "crossbar_threads", "booked_mesh", "stepped_mesh"};
  return kNames[instance.index];
}

INSTANTIATE_TEST_SUITE_P(Networks, NodeRequesterTest,
                         testing::Values(&NetworksBench::crossbar, &NetworksBench::crossbar_threads, &NetworksBench::booked,
                                         &NetworksBench::stepped),
                         network_name);

// -- messages, and requests that do not enter the network

class MessagesTest : public NodeRequesterTest {};

TEST_P(MessagesTest, AMessageTakesTheTimeOfItsPath) {
  near_.send(far_, VirtualNetwork::request, 3, start_, 1);
  at_bank_.send(near_, VirtualNetwork::reply, 1, start_, 2);
  run();
  const auto time = [&](Unit& unit, std::uint32_t tag) { return unit.received.at(tag).at - start_; };
  if (rig_.fabric->stepped() == nullptr && rig_.phase->next() == kNever && GetParam() == &NetworksBench::crossbar_messages) {
    EXPECT_EQ(time(far_, 1), 13_ns) << "a hop and three flits";
    EXPECT_EQ(time(near_, 2), 11_ns) << "a hop and a flit";
  } else {
    // In ns: interface 3 + two switches of 3 + link 1 + two more flits 2 = 12; interface 3 + four switches of 3 + three links
    // of 1 = 18.
    EXPECT_EQ(time(far_, 1), 12_ns);
    EXPECT_EQ(time(near_, 2), 18_ns);
  }
  EXPECT_EQ(far_.received.at(1).passing, time(far_, 1));
  EXPECT_EQ(far_.received.at(1).waiting, Tick{});
}

TEST_P(MessagesTest, MessagesAndRequestsShareLinks) {
  for (std::uint32_t i = 0; i < 40; ++i) near_.send(far_, VirtualNetwork::request, 4, start_, i);
  near_.send(64, start_ + 1_ns, 100);
  run();
  const Tick shared = near_.completed.at(100) - start_;
  EXPECT_EQ(far_.received.size(), 40U);
  Tick last{};
  for (const auto& [tag, passage] : far_.received) last = later(last, passage.at);
  EXPECT_GE(last - start_, 160_ns) << "160 flits pass a port";
  SetUp();
  near_.send(64, start_, 100);
  run();
  EXPECT_LT(near_.completed.at(100) - start_ + 80_ns, shared) << "the request has waited for half of them or more";
}

TEST_P(MessagesTest, ARequestToABankAtItsOwnNodeDoesNotEnterTheNetwork) {
  const FabricStatistics before = rig_.fabric->statistics();
  at_bank_.send(0, start_, 1);
  run();
  EXPECT_EQ(rig_.fabric->statistics().packets, before.packets);
  EXPECT_EQ(at_bank_.network.at(1), Tick{});
  EXPECT_EQ(at_bank_.completed.at(1) - start_, 107_ns) << "L2 4, memory 100, L2 3";
  // A response to a receiver at another node crosses the network, and so do a request to the other bank and its response.
  SetUp();
  at_bank_.send(0, start_, 1, &near_);
  at_bank_.send(64, start_, 2);
  run();
  EXPECT_EQ(rig_.fabric->statistics().packets, before.packets + 3);
  EXPECT_GT(near_.network.at(1), Tick{});
}

// Each message is answered by another, as in a handshake: all messages arrive exactly once, and no answer arrives before its
// message.
TEST_P(MessagesTest, EveryMessageIsDeliveredOnceAmongRequests) {
  std::mt19937 random(3);
  at_bank_.echo = &far_;
  std::map<std::uint32_t, Tick> sent;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const Tick at = start_ + Tick{1000 * (random() % 200)};
    if (random() % 2 == 0) {
      near_.send(at_bank_, VirtualNetwork::request, 1 + i % 3, at, i);
      sent[i] = at;
    } else {
      at_bank_.send(64ULL * (random() % 300), at, i, random() % 2 == 0 ? &near_ : nullptr, random() % 4 == 0);
    }
  }
  run();
  EXPECT_EQ(at_bank_.received.size(), sent.size());
  EXPECT_EQ(far_.received.size(), sent.size());
  EXPECT_EQ(near_.completed.size() + at_bank_.completed.size(), 400 - sent.size());
  for (const auto& [tag, at] : sent) {
    EXPECT_GT(at_bank_.received.at(tag).at, at) << tag;
    EXPECT_GT(far_.received.at(tag).at, at_bank_.received.at(tag).at) << tag;
  }
}

TEST_P(MessagesTest, ResetDropsMessages) {
  near_.send(far_, VirtualNetwork::request, 8, start_, 1);
  near_.send(far_, VirtualNetwork::request, 8, start_ + 100_ns, 2);
  rig_.phase->resolve(start_ + 4_ns);
  SetUp();
  EXPECT_EQ(rig_.phase->next(), kNever);
  run();
  EXPECT_TRUE(far_.received.empty());
}

std::string messages_name(const testing::TestParamInfo<Rig NetworksBench::*>& instance) {
  constexpr std::array<const char*, 3> kNames{"crossbar", "booked_mesh", "stepped_mesh"};
  return kNames[instance.index];
}

INSTANTIATE_TEST_SUITE_P(Networks, MessagesTest,
                         testing::Values(&NetworksBench::crossbar_messages, &NetworksBench::booked_messages,
                                         &NetworksBench::stepped_messages),
                         messages_name);

TEST(NodeRequesterThreadsTest, TimesDoNotDependOnTheNumberOfThreads) {
  std::array<std::map<std::uint32_t, Tick>, 2> times;
  unsigned run = 0;
  for (Rig* const rig : {&bench<NetworksBench>().crossbar, &bench<NetworksBench>().crossbar_threads}) {
    rig->reset();
    std::mt19937 random(7);
    const Tick start = now();
    for (std::uint32_t i = 0; i < 500; ++i)
      rig->units[i % 2].send(64ULL * (random() % 200), start + Tick{1000 * (random() % 40)}, i, &rig->units[random() % 2]);
    for (Tick end = start; rig->phase->next() != kNever; end += 4_ns) rig->phase->resolve(end + 4_ns);
    times[run] = rig->units[0].completed;
    times[run].insert(rig->units[1].completed.begin(), rig->units[1].completed.end());
    ++run;
  }
  EXPECT_EQ(times[0].size(), 500U);
  EXPECT_EQ(times[0], times[1]);
}

}  // namespace
}  // namespace lacuna::test
