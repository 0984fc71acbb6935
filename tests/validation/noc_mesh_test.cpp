// The 8 x 8 mesh compared with BookSim2 (reference/noc_mesh_8x8.csv): unloaded latency by distance, latency versus load, and
// saturation throughput.
//
// Traffic as in the reference: every node injects packets at random (Bernoulli) to destinations chosen uniformly, including the
// node itself; loads and throughputs are in flits per node and cycle. Request and reply: 56 nodes send requests of one flit to
// 8 memory nodes, which respond with five flits immediately.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "models/noc/booked_network.h"
#include "tests/harness/harness.h"
#include "tests/validation/reference_table.h"

namespace lacuna {
namespace {

using namespace literals;
using validation::Comparison;
using validation::Row;

constexpr unsigned kNodes = 64;
constexpr Tick kCycle = 1_ns;
// Mean latency in cycles above which BookSim2 calls a load unstable (latency_thres).
constexpr double kUnstable = 500;

std::unique_ptr<BookedNetwork> mesh(MeshRouting routing, unsigned sources, unsigned destinations, const std::string& placement,
                                    Cycles router = 3_cycles) {
  const FabricParameters parameters{.topology = FabricTopology::mesh,
                                    .routing = routing,
                                    .placement = placement,
                                    .router_latency = router,
                                    .injection_queue = 65536};
  return std::make_unique<BookedNetwork>(sc_core::sc_gen_unique_name("mesh"), parameters, sources,
                                         AddressRoutes({{"memory", 0, Bytes{64 * destinations}, 0, destinations, 64_B}}));
}

double cycles(Tick t) { return static_cast<double>(t.ps) / static_cast<double>(kCycle.ps); }

// Returns the mean latency of packets in cycles, from their generation to the arrival of their last flits.
double uniform_latency(MeshRouting routing, unsigned flits, double load, unsigned length) {
  const auto network = mesh(routing, kNodes, kNodes, "");
  std::mt19937_64 random(11);
  std::bernoulli_distribution injects(load / flits);
  std::uniform_int_distribution<unsigned> node(0, kNodes - 1);
  const unsigned warm_up = length / 4;
  double sum = 0;
  std::uint64_t count = 0;
  for (unsigned t = 0; t < length; ++t) {
    const Tick at = kCycle * t;
    for (unsigned source = 0; source < kNodes; ++source) {
      if (!injects(random)) continue;
      const auto traversal = network->traverse(VirtualNetwork::request, source, node(random), flits, at);
      if (t < warm_up) continue;
      sum += cycles(traversal.arrival - at);
      ++count;
    }
    if (t % 256 == 0) network->retire(at);
  }
  return sum / static_cast<double>(count);
}

// Returns the largest stable load in flits per node and cycle, to within 0.002.
double saturation(MeshRouting routing, unsigned flits) {
  double stable = 0.35;
  double unstable = 0.6;
  while (unstable - stable > 0.002) {
    const double load = (stable + unstable) / 2;
    (uniform_latency(routing, flits, load, 30'000) < kUnstable ? stable : unstable) = load;
  }
  return stable;
}

MeshRouting routing_of(const Row& row) { return row.text("config").starts_with("yx") ? MeshRouting::yx : MeshRouting::xy; }

TEST(MeshAgainstBookSim, UnloadedLatenciesAreThoseOfBookSim) {
  Comparison results("noc_mesh_unloaded.csv", {"router_latency", "manhattan", "flits"});
  unsigned rows = 0;
  for (const Row& row : validation::read_reference("noc_mesh_8x8.csv")) {
    unsigned from = 0;
    unsigned to = 0;
    unsigned distance = 0;
    if (std::sscanf(row.text("pattern").c_str(), "single pair %u->%u manhattan %u", &from, &to, &distance) != 3) continue;
    ++rows;
    const auto flits = static_cast<unsigned>(*row.number("packet_flits"));
    // A separate routing stage makes the pipeline one cycle longer, speculative switch allocation one cycle shorter.
    const std::string& config = row.text("config");
    const Cycles router = config.ends_with("routing_delay=1") ? 4_cycles
                          : config.ends_with("speculative=1") ? 2_cycles
                                                              : 3_cycles;
    const auto network = mesh(MeshRouting::xy, kNodes, kNodes, "", router);
    const auto traversal = network->traverse(VirtualNetwork::request, from, to, flits, kCycle);
    const double ours = cycles(traversal.arrival - kCycle);
    if (router == 3_cycles) {
      EXPECT_EQ(ours, 4 * distance + 6 + (flits - 1));
    }
    EXPECT_EQ(traversal.links, distance);
    // BookSim2's value is the mean over many packets at a small load: a whole number of cycles except for rare conflicts.
    const double error = results.add({std::to_string(router.n), std::to_string(distance), std::to_string(flits)}, "latency",
                                     ours, std::round(*row.number("avg_packet_latency")), 0);
    EXPECT_EQ(error, 0) << row.text("pattern") << ", " << flits << " flits";
  }
  EXPECT_EQ(rows, 30U);
}

class Uniform : public testing::TestWithParam<std::tuple<MeshRouting, unsigned>> {};

TEST_P(Uniform, LatencyAndSaturation) {
  const auto [routing, flits] = GetParam();
  const std::string name = routing == MeshRouting::xy ? "xy" : "yx";
  // The highest load that the reference calls stable.
  double reference_saturation = 0;
  std::vector<Row> rows;
  for (const Row& row : validation::read_reference("noc_mesh_8x8.csv")) {
    if (row.text("pattern") != "uniform" || row.number("packet_flits") != flits || row.text("note") != "stable") continue;
    reference_saturation = std::max(reference_saturation, *row.number("accepted_rate"));
    if (routing_of(row) == routing) rows.push_back(row);
  }
  Comparison results(fmt::format("noc_mesh_uniform_{}_{}_flit.csv", name, flits), {"load"});
  unsigned compared = 0;
  for (const Row& row : rows) {
    const double load = *row.number("injection_rate");
    const double part = load / reference_saturation;
    if (part > 0.9) continue;
    ++compared;
    const double allowed = part <= 0.7 ? 0.10 : 0.20;
    const double ours = uniform_latency(routing, flits, load, 30'000);
    const double error = results.add({row.text("injection_rate")}, "latency", ours, *row.number("avg_packet_latency"), allowed);
    EXPECT_LE(std::abs(error), allowed) << "load " << load << ": " << ours << " against " << *row.number("avg_packet_latency");
  }
  EXPECT_GE(compared, 3U);
  const double ours = saturation(routing, flits);
  const double error = results.add({""}, "saturation", ours, reference_saturation, 0.07);
  EXPECT_LE(std::abs(error), 0.07) << ours << " against " << reference_saturation;
}
INSTANTIATE_TEST_SUITE_P(Mesh, Uniform,
                         testing::Combine(testing::Values(MeshRouting::xy, MeshRouting::yx), testing::Values(1U, 5U)));

struct RequestReply {
  double request = 0;
  double reply = 0;
  double mean = 0;
  double reply_flits = 0;  // flits per memory node and cycle
};

// The memory nodes: every second one of the sixteen on the diamond |x - 3.5| + |y - 3.5| = 4.
constexpr const char* kDiamond = "3,0 5,1 7,3 6,5 4,7 2,6 0,4 1,2";

RequestReply request_reply(double rate, unsigned length) {
  constexpr unsigned kCores = 56;
  constexpr unsigned kMemories = 8;
  const auto network = mesh(MeshRouting::xy, kCores, kMemories, kDiamond);
  std::mt19937_64 random(5);
  std::bernoulli_distribution injects(rate);
  std::uniform_int_distribution<unsigned> memory(0, kMemories - 1);
  struct Reply {
    Tick at;
    unsigned core;
    unsigned memory;
    bool operator>(const Reply& other) const { return at > other.at; }
  };
  std::priority_queue<Reply, std::vector<Reply>, std::greater<>> replies;
  RequestReply result;
  std::uint64_t requests = 0;
  std::uint64_t answered = 0;
  std::uint64_t delivered = 0;
  const unsigned warm_up = length / 4;
  for (unsigned t = 0; t < length; ++t) {
    const Tick at = kCycle * t;
    for (; !replies.empty() && replies.top().at <= at; replies.pop()) {
      const Reply& r = replies.top();
      const auto traversal = network->traverse(VirtualNetwork::reply, r.core, r.memory, 5, r.at);
      if (traversal.arrival >= kCycle * warm_up && traversal.arrival < kCycle * length) ++delivered;
      if (t < warm_up) continue;
      result.reply += cycles(traversal.arrival - r.at);
      ++answered;
    }
    for (unsigned core = 0; core < kCores; ++core) {
      if (!injects(random)) continue;
      const unsigned to = memory(random);
      const auto traversal = network->traverse(VirtualNetwork::request, core, to, 1, at);
      replies.push({traversal.arrival, core, to});
      if (t < warm_up) continue;
      result.request += cycles(traversal.arrival - at);
      ++requests;
    }
    if (t % 256 == 0) network->retire(at);
  }
  result.request /= static_cast<double>(requests);
  result.reply /= static_cast<double>(answered);
  result.mean = (result.request + result.reply) / 2;
  result.reply_flits = 5.0 * static_cast<double>(delivered) / kMemories / (length - warm_up);
  return result;
}

TEST(MeshAgainstBookSim, RequestAndReply) {
  Comparison results("noc_mesh_request_reply.csv", {"rate"});
  const auto reply_flits = [](const Row& row) {
    const std::string& note = row.text("note");
    const std::string key = "reply flits/mem node/cycle ";
    return std::stod(note.substr(note.find(key) + key.size()));
  };
  double saturated = 0;
  std::vector<Row> rows;
  for (const Row& row : validation::read_reference("noc_mesh_8x8.csv")) {
    if (row.text("pattern") != "gpu_diamond8") continue;
    saturated = std::max(saturated, reply_flits(row));
    if (row.number("avg_packet_latency")) rows.push_back(row);
  }
  ASSERT_EQ(rows.size(), 12U);
  for (const Row& row : rows) {
    const double part = reply_flits(row) / saturated;
    if (part > 0.9) continue;
    const double allowed = part <= 0.7 ? 0.10 : 0.20;
    const RequestReply ours = request_reply(*row.number("injection_rate"), 60'000);
    const double error =
        results.add({row.text("injection_rate")}, "latency", ours.mean, *row.number("avg_packet_latency"), allowed);
    EXPECT_LE(std::abs(error), allowed) << "rate " << row.text("injection_rate") << ": " << ours.mean;
  }
  const RequestReply ours = request_reply(0.08, 60'000);
  const double error = results.add({"0.08"}, "saturated reply flits", ours.reply_flits, saturated, 0.07);
  EXPECT_LE(std::abs(error), 0.07) << ours.reply_flits << " against " << saturated;
}

}  // namespace
}  // namespace lacuna
