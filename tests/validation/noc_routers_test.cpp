// Stepped routers compared with BookSim2 (reference/noc_mesh_8x8.csv), up to saturation and beyond it, also with tail credits
// and input speedup (reference/noc_mesh_8x8_options.csv); and the booked network compared with stepped routers for numbers of
// virtual channels other than eight, for which the reference has no curves.
//
//  Traffic as in noc_mesh_test.cpp: 8 x 8 mesh, every node injects at random to destinations chosen uniformly. Request and
//  reply: 56 nodes send requests of one flit to 8 memory nodes, which respond with five flits immediately.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "models/noc/booked_network.h"
#include "models/noc/routers.h"
#include "models/noc/topology/mesh.h"
#include "tests/harness/harness.h"
#include "tests/validation/reference_table.h"

namespace lacuna {
namespace {

using namespace literals;
using validation::Comparison;
using validation::Row;

constexpr unsigned kNodes = 64;
constexpr Tick kCycle = 1_ns;
constexpr unsigned kLength = 9000;
constexpr unsigned kWarmUp = 3000;

struct Outcome {
  double latency;   ///< cycles, mean
  double accepted;  ///< flits per node and cycle
};

/// Calls inject(cycle, from, to) for the packets of a load, and step(cycle) at the end of each cycle.
template <class Inject, class Step>
void uniform_traffic(unsigned flits, double load, const Inject& inject, const Step& step) {
  std::mt19937_64 random(11);
  std::bernoulli_distribution injects(load / flits);
  std::uniform_int_distribution<unsigned> node(0, kNodes - 1);
  for (unsigned t = 0; t < kLength; ++t) {
    for (unsigned from = 0; from < kNodes; ++from) {
      if (injects(random)) inject(t, from, node(random));
    }
    step(t);
  }
}

double accepted(std::uint64_t flits) { return static_cast<double>(flits) / kNodes / (kLength - kWarmUp); }

FabricParameters mesh_of(unsigned channels) {
  return {.topology = FabricTopology::mesh, .injection_queue = 65536, .virtual_networks = 1, .virtual_channels = channels};
}

Outcome routers(const FabricParameters& parameters, unsigned flits, double load) {
  const MeshTopology topology(8, 8, parameters.routing);
  Routers mesh(topology, parameters);
  std::vector<Routers::Delivery> delivered;
  std::uint64_t delivered_flits = 0;
  std::uint64_t latency = 0;
  std::uint64_t packets = 0;
  uniform_traffic(
      flits, load,
      [&](unsigned t, unsigned from, unsigned to) {
        mesh.send({.from = from, .to = to, .network = 0, .alternative = 0, .flits = flits, .cycle = t, .tag = 0});
      },
      [&](unsigned t) {
        delivered.clear();
        mesh.advance(t + 1, delivered);
        if (t >= kWarmUp) delivered_flits += delivered.size() * flits;
        for (const Routers::Delivery& packet : delivered) {
          if (packet.ready < kWarmUp) continue;
          latency += packet.arrival - packet.ready;
          ++packets;
        }
      });
  return {static_cast<double>(latency) / static_cast<double>(packets), accepted(delivered_flits)};
}

Outcome routers(unsigned channels, unsigned flits, double load, MeshRouting routing = MeshRouting::xy) {
  FabricParameters parameters = mesh_of(channels);
  parameters.routing = routing;
  return routers(parameters, flits, load);
}

Outcome ours(unsigned channels, unsigned flits, double load) {
  BookedNetwork mesh(sc_core::sc_gen_unique_name("mesh"), mesh_of(channels), kNodes,
                     AddressRoutes({{"memory", 0, Bytes{64 * kNodes}, 0, kNodes, 64_B}}));
  double sum = 0;
  std::uint64_t packets = 0;
  std::uint64_t delivered = 0;
  uniform_traffic(
      flits, load,
      [&](unsigned t, unsigned from, unsigned to) {
        const Tick arrival = mesh.send(from, to, VirtualNetwork::request, flits, kCycle * t).arrival;
        if (arrival >= kCycle * kWarmUp && arrival < kCycle * kLength) delivered += flits;
        // As with the stepped routers, only packets that arrive in the measured time are counted.
        if (t < kWarmUp || arrival >= kCycle * kLength) return;
        sum += static_cast<double>((arrival - kCycle * t).ps) / static_cast<double>(kCycle.ps);
        ++packets;
      },
      [&](unsigned t) {
        if (t % 256 == 0) mesh.retire(kCycle * t);
      });
  return {sum / static_cast<double>(packets), accepted(delivered)};
}

constexpr double kBeyond = 0.9;  ///< load of the reference that is far beyond saturation

/// Compares with a row of the reference: the accepted load far beyond saturation, otherwise the latency.
void expect_agreement(Comparison& results, const Row& row, const Outcome& outcome) {
  const std::string load = row.text("injection_rate");
  const bool beyond = row.number("injection_rate") == kBeyond;
  const double allowed = beyond ? 0.02 : 0.04;
  const double error = beyond ? results.add({load}, "accepted", outcome.accepted, *row.number("accepted_rate"), allowed)
                              : results.add({load}, "latency", outcome.latency, *row.number("avg_packet_latency"), allowed);
  EXPECT_LE(std::abs(error), allowed) << "load " << load;
}

class SteppedAgainstBookSim : public testing::TestWithParam<std::tuple<MeshRouting, unsigned>> {};

TEST_P(SteppedAgainstBookSim, LatencyAndAcceptedLoad) {
  const auto [routing, flits] = GetParam();
  const std::string name = routing == MeshRouting::xy ? "xy" : "yx";
  Comparison results(fmt::format("noc_routers_{}_{}_flit.csv", name, flits), {"load"});
  double reference_saturation = 0;
  std::vector<Row> rows;
  for (const Row& row : validation::read_reference("noc_mesh_8x8.csv")) {
    if (!row.text("config").starts_with(name) || row.text("pattern") != "uniform") continue;
    if (row.number("packet_flits") != flits) continue;
    if (row.text("note") == "stable") reference_saturation = std::max(reference_saturation, *row.number("accepted_rate"));
    rows.push_back(row);
  }
  unsigned compared = 0;
  for (const Row& row : rows) {
    const double load = *row.number("injection_rate");
    if (load != kBeyond && load / reference_saturation > 0.9) continue;
    ++compared;
    expect_agreement(results, row, routers(8, flits, load, routing));
  }
  EXPECT_GE(compared, 4U) << "three loads that are carried, and one beyond";
}
INSTANTIATE_TEST_SUITE_P(Mesh, SteppedAgainstBookSim,
                         testing::Combine(testing::Values(MeshRouting::xy, MeshRouting::yx), testing::Values(1U, 5U)));

// Accepted flits per node and cycle in BookSim2: with packets of one flit, 0.427 at saturation and 0.374 far beyond it, 12 %
// less; with packets of five flits, 0.422 and 0.408.
TEST(SteppedRouters, AcceptLessBeyondSaturation) {
  for (const auto& [flits, least, most] : {std::tuple{1U, 0.10, 0.15}, {5U, 0.0, 0.06}}) {
    double highest = 0;
    for (const double load : {0.42, 0.44, 0.46}) highest = std::max(highest, routers(8, flits, load).accepted);
    const double fall = 1 - routers(8, flits, 0.9).accepted / highest;
    EXPECT_GT(fall, least) << flits;
    EXPECT_LT(fall, most) << flits;
  }
  // The booked network, in which every router serves the oldest packet first, loses no throughput beyond saturation.
  EXPECT_GT(ours(8, 1, 0.9).accepted, 0.99 * ours(8, 1, 0.44).accepted);
}

/// An option of the routers, as noc_mesh_8x8_options.csv names it.
struct Option {
  const char* name;
  unsigned channels;
  unsigned speedup;
  bool wait;
};

class OptionsAgainstBookSim : public testing::TestWithParam<std::tuple<Option, unsigned>> {};

// The rows are means of three seeds of BookSim2's iq_router (its sources of 2015) with buffers of eight flits and routing_delay
// = 0, which also repeats the curves of noc_mesh_8x8.csv within their noise. Rows with load 0.9 have the accepted load.
TEST_P(OptionsAgainstBookSim, LatencyAndAcceptedLoad) {
  const auto [option, flits] = GetParam();
  Comparison results(fmt::format("noc_routers_{}_{}_flit.csv", option.name, flits), {"load"});
  FabricParameters parameters = mesh_of(option.channels);
  parameters.input_speedup = option.speedup;
  parameters.wait_for_tail_credit = option.wait;
  unsigned compared = 0;
  for (const Row& row : validation::read_reference("noc_mesh_8x8_options.csv")) {
    if (row.text("config") != option.name || row.number("packet_flits") != flits) continue;
    ++compared;
    expect_agreement(results, row, routers(parameters, flits, *row.number("injection_rate")));
  }
  EXPECT_GE(compared, 4U);
}
INSTANTIATE_TEST_SUITE_P(Mesh, OptionsAgainstBookSim,
                         testing::Combine(testing::Values(Option{"wft1_8vc", 8, 1, true}, Option{"wft1_4vc", 4, 1, true},
                                                          Option{"speedup2_8vc", 8, 2, false}),
                                          testing::Values(1U, 5U)));

/// The memory nodes: every second one of the sixteen on the diamond |x - 3.5| + |y - 3.5| = 4.
constexpr std::array<unsigned, 8> kDiamond{3, 13, 31, 46, 60, 50, 32, 17};

struct RequestReply {
  double latency;      ///< mean of requests and replies, cycles
  double reply_flits;  ///< flits per memory node and cycle
};

RequestReply request_reply(double rate) {
  constexpr unsigned kLong = 30'000;
  constexpr unsigned kBegin = 10'000;
  const MeshTopology topology(8, 8, MeshRouting::xy);
  FabricParameters parameters = mesh_of(4);
  parameters.virtual_networks = 2;
  Routers mesh(topology, parameters);
  std::vector<unsigned> cores;
  for (unsigned node = 0; node < kNodes; ++node) {
    if (std::find(kDiamond.begin(), kDiamond.end(), node) == kDiamond.end()) cores.push_back(node);
  }
  std::mt19937_64 random(5);
  std::bernoulli_distribution injects(rate);
  std::uniform_int_distribution<unsigned> memory(0, kDiamond.size() - 1);
  std::vector<Routers::Delivery> delivered;
  std::array<std::uint64_t, 2> latency{};
  std::array<std::uint64_t, 2> packets{};
  std::uint64_t replies = 0;
  for (unsigned t = 0; t < kLong; ++t) {
    for (const unsigned core : cores) {
      if (!injects(random)) continue;
      const unsigned at = kDiamond[memory(random)];
      mesh.send({.from = core, .to = at, .network = 0, .alternative = 0, .flits = 1, .cycle = t, .tag = core << 8 | at});
    }
    delivered.clear();
    mesh.advance(t + 1, delivered);
    for (const Routers::Delivery& packet : delivered) {
      constexpr std::uint32_t kReply = 1U << 16;
      const bool reply = (packet.tag & kReply) != 0;
      if (reply && t >= kBegin) ++replies;
      if (packet.ready >= kBegin) {
        latency[reply] += packet.arrival - packet.ready;
        ++packets[reply];
      }
      if (reply) continue;
      mesh.send({.from = packet.tag & 255,
                 .to = packet.tag >> 8,
                 .network = 1,
                 .alternative = 0,
                 .flits = 5,
                 .cycle = packet.arrival,
                 .tag = packet.tag | kReply});
    }
  }
  const auto mean = [&](std::size_t i) { return static_cast<double>(latency[i]) / static_cast<double>(packets[i]); };
  return {(mean(0) + mean(1)) / 2, 5.0 * static_cast<double>(replies) / kDiamond.size() / (kLong - kBegin)};
}

TEST(SteppedRouters, CarryBookSimsRequestsAndReplies) {
  Comparison results("noc_routers_request_reply.csv", {"rate"});
  unsigned rows = 0;
  for (const Row& row : validation::read_reference("noc_mesh_8x8.csv")) {
    if (row.text("pattern") != "gpu_diamond8") continue;
    const double rate = *row.number("injection_rate");
    if (rate < 0.01 || (rate > 0.024 && rate < 0.08)) continue;
    ++rows;
    const RequestReply outcome = request_reply(rate);
    if (rate < 0.08) {
      const double error =
          results.add({row.text("injection_rate")}, "latency", outcome.latency, *row.number("avg_packet_latency"), 0.10);
      EXPECT_LE(std::abs(error), 0.10) << rate;
    } else {
      const double error =
          results.add({row.text("injection_rate")}, "saturated reply flits", outcome.reply_flits, 0.9671, 0.05);
      EXPECT_LE(std::abs(error), 0.05) << rate;
    }
  }
  EXPECT_EQ(rows, 9U);
}

struct Curve {
  unsigned channels;
  unsigned flits;
  std::vector<double> loads;  ///< loads that the network carries
  double beyond;              ///< a load that the network does not carry
  double allowed_accepted;
};

class FewChannels : public testing::TestWithParam<Curve> {};

TEST_P(FewChannels, LatencyAndSaturation) {
  const Curve& curve = GetParam();
  Comparison results(fmt::format("noc_channels_{}_{}_flit.csv", curve.channels, curve.flits), {"load"});
  for (const double load : curve.loads) {
    const double error = results.add({fmt::format("{}", load)}, "latency", ours(curve.channels, curve.flits, load).latency,
                                     routers(curve.channels, curve.flits, load).latency, 0.15);
    EXPECT_LE(std::abs(error), 0.15) << "load " << load;
  }
  const double carried = ours(curve.channels, curve.flits, curve.beyond).accepted;
  const double reference = routers(curve.channels, curve.flits, curve.beyond).accepted;
  const double error = results.add({fmt::format("{}", curve.beyond)}, "accepted", carried, reference, curve.allowed_accepted);
  EXPECT_LE(std::abs(error), curve.allowed_accepted) << carried << " against " << reference;
}
INSTANTIATE_TEST_SUITE_P(Mesh, FewChannels,
                         testing::Values(Curve{1, 1, {0.05, 0.10, 0.15}, 0.25, 0.08},
                                         Curve{1, 5, {0.10, 0.15, 0.20}, 0.30, 0.08},
                                         Curve{2, 1, {0.20, 0.30, 0.35}, 0.45, 0.12},
                                         Curve{2, 5, {0.15, 0.25, 0.30}, 0.45, 0.14}));

TEST(FewChannels, OneChannelCarriesHalfAndTwoOver93PerCentOfEight) {
  const double one = ours(1, 1, 0.25).accepted;
  const double two = ours(2, 1, 0.45).accepted;
  const double eight = ours(8, 1, 0.45).accepted;
  EXPECT_GT(one, 0.42 * eight);
  EXPECT_LT(one, 0.52 * eight);
  EXPECT_GT(two, 0.93 * eight);
  EXPECT_LE(two, eight);
}

}  // namespace
}  // namespace lacuna
