// The network of the preset mesh56, compared with the worked examples of near-data computing (ISCA '19, sections 3.1 and 3.2):
// the number of links that the packets of c[i] = a[i] + b[i] on core 15 pass, and links times flits.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "models/gpu/gpu_parameters.h"
#include "models/noc/fabric.h"
#include "platform/configuration.h"
#include "platform/version.h"
#include "tests/harness/harness.h"

namespace lacuna {
namespace {

constexpr unsigned kCores = 56;
constexpr unsigned kLlcs = 8;
constexpr unsigned kLineBytes = 128;
constexpr auto kRequest = VirtualNetwork::request;
constexpr auto kReply = VirtualNetwork::reply;

struct NearDataMachine : testing::Test {
  NearDataMachine() {
    GpuDeviceParameters machine;
    ParameterSet set;
    machine.describe(set);
    Configuration(set).load(std::filesystem::path(kConfigurationFolder) / "mesh56.cfg");
    line_interleave = machine.gpu.partition_interleave;
    fabric = make_fabric(sc_core::sc_gen_unique_name("noc"), machine.noc, kCores,
                         AddressRoutes({{"memory", 0, Bytes{kLlcs * line_interleave.n}, 0, kLlcs, line_interleave}}));
  }

  unsigned core(unsigned number) const { return fabric->source_node(number); }
  unsigned llc(unsigned number) const { return fabric->destination_node(number); }
  void request(unsigned from, unsigned to, bool data) {
    fabric->send(from, to, kRequest, fabric->request_flits(kLineBytes, data, false), {});
  }
  void reply(unsigned from, unsigned to, bool data) {
    fabric->send(from, to, kReply, fabric->reply_flits(kLineBytes, !data, false), {});
  }
  void load(unsigned from, unsigned memory) {
    request(from, memory, false);
    reply(memory, from, true);
  }
  void store(unsigned from, unsigned memory) {
    request(from, memory, true);
    reply(memory, from, false);
  }
  std::vector<std::uint64_t> hops() const { return {fabric->statistics().hops, fabric->statistics().weighted_hops}; }

  Bytes line_interleave{};
  std::unique_ptr<Fabric> fabric;
};

TEST_F(NearDataMachine, CoresAreNumberedRowByRowWithoutTheLlcs) {
  EXPECT_EQ(core(15), 1U + 2 * 8) << "(1,2)";
  EXPECT_EQ(core(36), 1U + 5 * 8) << "(1,5)";
  std::vector<unsigned> in_row(8);
  std::vector<unsigned> in_column(8);
  for (unsigned i = 0; i < kLlcs; ++i) {
    EXPECT_EQ(llc(i) / 8, i);
    ++in_row[llc(i) / 8];
    ++in_column[llc(i) % 8];
  }
  EXPECT_EQ(in_row, std::vector<unsigned>(8, 1));
  EXPECT_EQ(in_column, std::vector<unsigned>(8, 1));
}

TEST_F(NearDataMachine, AllOperandsInOneLlc) {
  load(core(15), llc(5));
  load(core(15), llc(5));
  store(core(15), llc(5));
  EXPECT_EQ(hops(), (std::vector<std::uint64_t>{48, 144}));
}

TEST_F(NearDataMachine, OneComputePacketForAllOperands) {
  request(core(15), llc(5), false);
  reply(llc(5), core(15), false);
  EXPECT_EQ(hops(), (std::vector<std::uint64_t>{16, 16}));
}

TEST_F(NearDataMachine, OperandsInThreeLlcs) {
  load(core(15), llc(5));
  load(core(15), llc(6));
  store(core(15), llc(7));
  EXPECT_EQ(hops(), (std::vector<std::uint64_t>{42, 126}));
}

TEST_F(NearDataMachine, OperandsMeetAtAnotherCore) {
  request(core(15), core(36), false);
  load(core(36), llc(5));
  load(core(36), llc(6));
  store(core(36), llc(7));
  reply(core(36), core(15), false);
  EXPECT_EQ(hops(), (std::vector<std::uint64_t>{30, 78}));
}

}  // namespace
}  // namespace lacuna
