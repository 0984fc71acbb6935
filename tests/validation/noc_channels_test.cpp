// Few virtual channels. The reference curves have eight of them only: the routers of mesh_routers.h, which carry those curves,
// tell what one and two do.
//
// Traffic as in noc_mesh_test.cpp: 8 x 8 mesh, every node injects at random to destinations chosen uniformly.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "models/noc/network.h"
#include "tests/harness/harness.h"
#include "tests/validation/mesh_routers.h"
#include "tests/validation/reference_table.h"

namespace lacuna {
namespace {

using namespace literals;
using validation::Comparison;
using validation::MeshRouters;
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

Outcome routers(unsigned channels, unsigned flits, double load) {
  MeshRouters mesh({.virtual_channels = channels});
  uniform_traffic(
      flits, load, [&](unsigned, unsigned from, unsigned to) { mesh.inject(from, to, flits); },
      [&](unsigned t) {
        mesh.step();
        if (t + 1 == kWarmUp) mesh.begin_measurement();
      });
  return {mesh.mean_latency(), accepted(mesh.delivered_flits())};
}

Outcome ours(unsigned channels, unsigned flits, double load) {
  Network mesh(sc_core::sc_gen_unique_name("mesh"),
               {.topology = FabricTopology::mesh, .injection_queue = 65536, .virtual_channels = channels}, kNodes,
               AddressRoutes({{"memory", 0, Bytes{64 * kNodes}, 0, kNodes, 64_B}}));
  double sum = 0;
  std::uint64_t packets = 0;
  std::uint64_t delivered = 0;
  uniform_traffic(
      flits, load,
      [&](unsigned t, unsigned from, unsigned to) {
        const Tick arrival = mesh.send(from, to, VirtualNetwork::request, flits, kCycle * t).arrival;
        if (arrival >= kCycle * kWarmUp && arrival < kCycle * kLength) delivered += flits;
        // As of the routers: of those that arrive.
        if (t < kWarmUp || arrival >= kCycle * kLength) return;
        sum += static_cast<double>((arrival - kCycle * t).ps) / static_cast<double>(kCycle.ps);
        ++packets;
      },
      [&](unsigned t) {
        if (t % 256 == 0) mesh.retire(kCycle * t);
      });
  return {sum / static_cast<double>(packets), accepted(delivered)};
}

TEST(MeshRouters, CarryBookSimsCurvesOfEightChannels) {
  Comparison results("noc_routers.csv", {"flits", "load"});
  unsigned rows = 0;
  for (const Row& row : validation::read_reference("noc_mesh_8x8.csv")) {
    if (row.text("config") != "xy_8vc_wft0" || row.text("pattern") != "uniform") continue;
    const double load = *row.number("injection_rate");
    const bool saturated = load == 0.9;
    if (load != 0.2 && load != 0.3 && load != 0.36 && !saturated) continue;
    ++rows;
    const auto flits = static_cast<unsigned>(*row.number("packet_flits"));
    const Outcome outcome = routers(8, flits, load);
    const std::vector<std::string> point{std::to_string(flits), row.text("injection_rate")};
    const double error = saturated ? results.add(point, "accepted", outcome.accepted, *row.number("accepted_rate"), 0.07)
                                   : results.add(point, "latency", outcome.latency, *row.number("avg_packet_latency"), 0.10);
    EXPECT_LE(std::abs(error), saturated ? 0.07 : 0.10) << flits << " flits, load " << load;
  }
  EXPECT_EQ(rows, 8U);
}

struct Curve {
  unsigned channels;
  unsigned flits;
  std::vector<double> loads;  ///< that are carried
  double beyond;              ///< load that is not
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

TEST(FewChannels, OneCarriesHalfAndTwoNearlyAsMuchAsEight) {
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
