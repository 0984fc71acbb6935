#include "tests/harness/tlm_contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/harness/harness.h"

namespace lacuna::test {
namespace {

using Data = std::vector<std::byte>;

/// A valid payload. A test changes one of its fields.
struct Request {
  Request(ContractTarget& t, tlm::tlm_command command, Data& data) : payload(t.initiator.pool()) {
    payload->set_command(command);
    payload->set_address(t.address);
    payload->set_data_ptr(reinterpret_cast<unsigned char*>(data.data()));
    payload->set_data_length(static_cast<unsigned>(data.size()));
    payload->set_streaming_width(static_cast<unsigned>(data.size()));
  }
  PooledPayload payload;
};

class TlmContract : public testing::Test {
 protected:
  TlmContract() { t.initiator.begin_epoch(); }

  Data pattern(unsigned seed) const {
    Data data(t.length);
    // Bit 0 of each byte is 0, because the enable registers of an interrupt controller have no bit for source 0. Bit 7 is 0 as
    // well.
    for (unsigned i = 0; i < t.length; ++i) data[i] = static_cast<std::byte>(((seed * 7 + i * 5 + 1) & 0x3f) << 1);
    return data;
  }
  Data content() {
    Data data(t.length);
    EXPECT_EQ(t.initiator.debug_read(t.address, data), t.length);
    return data;
  }
  void fill(unsigned seed) { ASSERT_TRUE(t.initiator.write({}, t.address, pattern(seed)).ok()); }
  /// Latency of a read from an idle target whose state for the address has been warmed up.
  Tick unloaded_latency() {
    Data data(t.length);
    t.initiator.read({}, t.address, data);
    t.initiator.begin_epoch();
    const Tick latency = t.initiator.read({}, t.address, data).at;
    t.initiator.begin_epoch();
    return latency;
  }

  ContractTarget t = contract_target();
};

TEST_F(TlmContract, AReadReturnsWhatWasWritten) {
  for (unsigned seed = 1; seed < 4; ++seed) {
    fill(seed);
    Data data(t.length);
    EXPECT_TRUE(t.initiator.read({}, t.address, data).ok());
    EXPECT_EQ(data, pattern(seed));
  }
}

TEST_F(TlmContract, OutsideIsAnAddressError) {
  for (const std::uint64_t address : {t.end, t.end + t.length, ~std::uint64_t{0} - t.length + 1}) {
    Data data = pattern(9);
    const Data before = data;
    EXPECT_EQ(t.initiator.read({}, address, data).response, tlm::TLM_ADDRESS_ERROR_RESPONSE) << std::hex << address;
    EXPECT_EQ(data, before);
    EXPECT_EQ(t.initiator.write({}, address, data).response, tlm::TLM_ADDRESS_ERROR_RESPONSE) << std::hex << address;
    EXPECT_EQ(t.initiator.debug_read(address, data), 0u);
    EXPECT_EQ(t.initiator.debug_write(address, data), 0u);
  }
}

TEST_F(TlmContract, AcrossTheEndIsAnAddressErrorAndMovesNothing) {
  Data data = pattern(9);
  if (data.size() == 1) data.resize(2, std::byte{0x11});
  const Data before = data;
  const std::uint64_t address = t.end - data.size() / 2;
  EXPECT_EQ(t.initiator.read({}, address, data).response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(data, before);
  EXPECT_EQ(t.initiator.write({}, address, data).response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(t.initiator.debug_read(address, data), 0u);
}

TEST_F(TlmContract, ByteEnablesAreHonouredOrRefused) {
  fill(1);
  Data data = pattern(2);
  std::vector<unsigned char> enables(t.length, TLM_BYTE_DISABLED);
  enables[0] = TLM_BYTE_ENABLED;
  for (const tlm::tlm_command command : {tlm::TLM_WRITE_COMMAND, tlm::TLM_READ_COMMAND}) {
    Data bytes = command == tlm::TLM_WRITE_COMMAND ? data : Data(t.length, std::byte{0x7e});
    Request request(t, command, bytes);
    request.payload->set_byte_enable_ptr(enables.data());
    request.payload->set_byte_enable_length(t.length);
    const Completion c = t.initiator.send({}, *request.payload);
    if (!t.byte_enables) {
      EXPECT_EQ(c.response, tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
      EXPECT_EQ(content(), pattern(1));
      continue;
    }
    EXPECT_TRUE(c.ok());
    Data expected = command == tlm::TLM_WRITE_COMMAND ? pattern(1) : Data(t.length, std::byte{0x7e});
    expected[0] = pattern(2)[0];
    EXPECT_EQ(command == tlm::TLM_WRITE_COMMAND ? content() : bytes, expected);
  }
}

TEST_F(TlmContract, AStreamingWidthBelowTheLengthIsABurstError) {
  if (t.length == 1) GTEST_SKIP() << "one byte has no smaller streaming width";
  fill(1);
  for (const tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
    Data data = pattern(2);
    Request request(t, command, data);
    request.payload->set_streaming_width(t.length / 2);
    EXPECT_EQ(t.initiator.send({}, *request.payload).response, tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(data, pattern(2));
  }
  EXPECT_EQ(content(), pattern(1));
}

TEST_F(TlmContract, AStreamingWidthAboveTheLengthIsNone) {
  fill(1);
  Data data(t.length);
  Request request(t, tlm::TLM_READ_COMMAND, data);
  request.payload->set_streaming_width(t.length * 2);
  EXPECT_TRUE(t.initiator.send({}, *request.payload).ok());
  EXPECT_EQ(data, pattern(1));
}

TEST_F(TlmContract, LengthZeroAndNoDataAreRefused) {
  fill(1);
  for (const tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
    Data data = pattern(2);
    Request empty(t, command, data);
    empty.payload->set_data_length(0);
    EXPECT_EQ(t.initiator.send({}, *empty.payload).response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    Request null(t, command, data);
    null.payload->set_data_ptr(nullptr);
    EXPECT_EQ(t.initiator.send({}, *null.payload).response, tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  EXPECT_EQ(content(), pattern(1));
}

TEST_F(TlmContract, IgnoreIsOkAndMovesNothing) {
  fill(1);
  Data data = pattern(2);
  Request request(t, tlm::TLM_IGNORE_COMMAND, data);
  EXPECT_TRUE(t.initiator.send({}, *request.payload).ok());
  EXPECT_EQ(data, pattern(2));
  EXPECT_EQ(content(), pattern(1));
}

TEST_F(TlmContract, DebugSeesTheSameDataTakesNoTimeAndChangesNoTiming) {
  fill(1);
  EXPECT_EQ(content(), pattern(1));
  const Tick latency = unloaded_latency();
  const Tick before = now();
  for (int i = 0; i < 100; ++i) content();
  EXPECT_EQ(t.initiator.debug_write(t.address, pattern(3)), t.length);
  EXPECT_EQ(now(), before);
  Data data(t.length);
  const Completion c = t.initiator.read({}, t.address, data);
  EXPECT_EQ(data, pattern(3));
  EXPECT_EQ(c.at, latency);
}

TEST_F(TlmContract, DmiReachesTheSameBytes) {
  const auto region = t.initiator.dmi(t.address);
  ASSERT_EQ(region.has_value(), t.dmi);
  if (!region) return;
  ASSERT_LE(region->get_start_address(), t.address);
  ASSERT_GE(region->get_end_address(), t.address + t.length - 1);
  ASSERT_LT(region->get_end_address(), t.end);
  EXPECT_TRUE(region->is_read_allowed());
  auto* bytes = reinterpret_cast<std::byte*>(region->get_dmi_ptr()) + (t.address - region->get_start_address());
  fill(4);
  EXPECT_TRUE(std::equal(bytes, bytes + t.length, pattern(4).begin()));
  if (region->is_write_allowed()) {
    bytes[0] = std::byte{0x5a};
    EXPECT_EQ(content()[0], std::byte{0x5a});
  }
}

TEST_F(TlmContract, DmiOutsideIsRefused) { EXPECT_FALSE(t.initiator.dmi(t.end).has_value()); }

TEST_F(TlmContract, ARequestThatComesEarlierInSimulatedTimeButLaterInHostTimeFindsItsPlace) {
  const Tick latency = unloaded_latency();
  Data data(t.length);
  EXPECT_EQ(t.initiator.read(Tick{800'000}, t.address, data).at, Tick{800'000} + latency);
  EXPECT_EQ(t.initiator.read(Tick{}, t.address, data).at, latency);
}

TEST_F(TlmContract, TheSameRequestsTakeTheSameTime) {
  std::vector<Tick> times[2];
  unloaded_latency();
  for (auto& run : times) {
    if (t.reset) t.reset();
    Data data(t.length);
    for (unsigned i = 0; i < 16; ++i) {
      run.push_back(t.initiator.read(Tick{i * 1000}, t.address, data).at);
      run.push_back(t.initiator.write(Tick{i * 500}, t.address, data).at);
    }
    t.initiator.begin_epoch();
  }
  EXPECT_EQ(times[0], times[1]);
}

TEST_F(TlmContract, ResetDropsRequestsInFlight) {
  if (!t.reset) GTEST_SKIP() << "no state to reset";
  t.reset();
  fill(1);
  t.initiator.begin_epoch();
  t.reset();
  Data data(t.length);
  const Tick first = t.initiator.read({}, t.address, data).at;
  t.initiator.begin_epoch();
  t.reset();
  for (unsigned i = 0; i < 64; ++i) t.initiator.read({}, t.address, data);
  t.reset();
  EXPECT_EQ(t.initiator.read({}, t.address, data).at, first);
  if (t.keeps_data) {
    EXPECT_EQ(data, pattern(1));
  }
}

}  // namespace
}  // namespace lacuna::test
