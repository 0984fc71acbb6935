#include "models/host/devices/host_link.h"

#include <gtest/gtest.h>
#include <array>

#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr Tick kRead = 500_ns;
constexpr Tick kWrite = 200_ns;
// Transfer times over 16 lanes of 8 GT/s, encoded 128b/130b: a line is 64 B of data plus 24 B of overhead, i.e. 88 x 8 x 130 /
// 128 bits at 128 Gbit/s; a header alone is 24 B.
constexpr Tick kLine{5585};
constexpr Tick kHeader{1523};
constexpr unsigned kLineBytes = 64;

struct HostLinkBench : sc_core::sc_module {
  explicit HostLinkBench(sc_core::sc_module_name n) : sc_module(n) { initiator.socket.bind(link.bus); }
  test::TestInitiator initiator{"initiator"};
  HostLink link{"link", {.read_latency = kRead, .write_latency = kWrite, .max_payload = 256_B, .packet_overhead = 24_B}};
};
LACUNA_TEST_BENCH(HostLinkBench)

TEST(HostLink, TransfersTakePacketsOfTheLargestPayload) {
  const HostLink& link = test::bench<HostLinkBench>().link;
  EXPECT_EQ(link.transfer_time(0_B), kHeader);
  EXPECT_EQ(link.transfer_time(64_B), kLine);
  const auto time_of = [](std::uint64_t bytes) { return Tick{bytes * 8 * 130 * 1000 / (128 * 128)}; };
  EXPECT_EQ(link.transfer_time(256_B), time_of(256 + 24));
  EXPECT_EQ(link.transfer_time(257_B), time_of(257 + 2 * 24)) << "one byte more is one packet more";
  EXPECT_EQ(link.transfer_time(4096_B), time_of(4096 + 16 * 24));
}

TEST(HostLink, LatencyTable) {
  auto& b = test::bench<HostLinkBench>();
  struct Row {
    bool write;
    bool atomic;
    Tick at;
    Tick done;
  };
  // All requests are issued in one epoch, so that they share the link.
  const std::array rows{
      Row{false, false, 0_ns, kHeader + kRead + kLine},
      Row{false, false, 0_ns, kHeader + kRead + kLine * 2},  // headers are sent back to back, as are the data
      Row{true, false, 0_ns, kHeader * 2 + kLine + kWrite},  // upstream after the headers of both reads
      Row{true, false, 10_us, 10_us + kLine + kWrite},
      Row{true, false, 10_us, 10_us + kLine * 2 + kWrite},
      Row{false, false, 10_us, 10_us + kLine * 2 + kHeader + kRead + kLine},
      Row{true, true, 20_us, 20_us + kLine + kRead + kLine},  // atomic: data in both directions
      Row{true, false, 5_us, 5_us + kLine + kWrite},          // fills a gap between earlier bookings
  };
  b.initiator.begin_epoch();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    MemoryAttributes attributes;
    attributes.atomic = rows[i].atomic;
    const auto done = rows[i].write ? b.initiator.time_write(rows[i].at, 0x1000, kLineBytes, attributes)
                                    : b.initiator.time_read(rows[i].at, 0x1000, kLineBytes, attributes);
    EXPECT_TRUE(done.ok());
    EXPECT_EQ(done.at, rows[i].done) << "row " << i;
  }
}

TEST(HostLink, ASaturatedLinkGivesItsBandwidth) {
  auto& b = test::bench<HostLinkBench>();
  constexpr unsigned kRequests = 10'000;
  b.initiator.begin_epoch();
  Tick last{};
  for (unsigned i = 0; i < kRequests; ++i) last = b.initiator.time_write(0_ns, i * kLineBytes, kLineBytes).at;
  EXPECT_EQ(last, kLine * kRequests + kWrite);
}

TEST(HostLink, StatisticsCountBytesAndWaiting) {
  auto& b = test::bench<HostLinkBench>();
  b.initiator.begin_epoch();
  const HostLinkStatistics before = b.link.statistics();
  b.initiator.time_write(0_ns, 0, kLineBytes);
  b.initiator.time_write(0_ns, 0, kLineBytes);
  b.initiator.time_read(1_us, 0, kLineBytes);
  const HostLinkStatistics& now = b.link.statistics();
  EXPECT_EQ(now.writes - before.writes, 2U);
  EXPECT_EQ(now.reads - before.reads, 1U);
  EXPECT_EQ(now.bytes_written - before.bytes_written, 2U * kLineBytes);
  EXPECT_EQ(now.bytes_read - before.bytes_read, 1U * kLineBytes);
  EXPECT_EQ(now.queueing - before.queueing, kLine);
  EXPECT_EQ(now.upstream_busy - before.upstream_busy, kLine * 2 + kHeader);
  EXPECT_EQ(now.downstream_busy - before.downstream_busy, kLine);
}

TEST(HostLink, TransactionsWithDataAreRefused) {
  auto& b = test::bench<HostLinkBench>();
  b.initiator.begin_epoch();
  std::array<std::byte, 4> data{};
  const std::uint64_t errors = b.link.statistics().errors;
  EXPECT_EQ(b.initiator.read(0_ns, 0x1000, data).response, tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(b.initiator.write(0_ns, 0x1000, data).response, tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(b.link.statistics().errors - errors, 2U);
}

TEST(HostLink, BytesTakeEnergy) {
  const HostLink& link = test::bench<HostLinkBench>().link;
  EnergyMeter meter;
  link.describe_energy(meter, {.byte = 20});
  ASSERT_EQ(meter.events().size(), 1U);
  EXPECT_EQ(meter.blocks(), std::vector<std::string>{"host_link"});
  EXPECT_EQ(meter.events().front().picojoules, 20);
  EXPECT_EQ(meter.counts().front(), link.statistics().bytes_read + link.statistics().bytes_written);
}

}  // namespace
}  // namespace lacuna
