#include "models/common/transport/timing_payload.h"

#include <gtest/gtest.h>

#include "models/common/transport/memory_access.h"

namespace lacuna {
namespace {

using namespace literals;

TEST(TimingPayload, IsALegalRequestWithoutData) {
  TimingPayload payload;
  const MemoryAttributes& attributes = payload.renew(tlm::TLM_READ_COMMAND, 0x1000, 64);
  EXPECT_TRUE(payload->is_read());
  EXPECT_EQ(payload->get_address(), 0x1000U);
  EXPECT_EQ(payload->get_data_length(), 64U);
  EXPECT_EQ(payload->get_extension<MemoryAttributes>(), &attributes);
  EXPECT_TRUE(is_timing_only(*payload));
  EXPECT_EQ(check_access(*payload, Bytes{0x2000}), tlm::TLM_OK_RESPONSE);
}

TEST(TimingPayload, NoStateOfThePreviousRequestRemains) {
  TimingPayload payload;
  MemoryAttributes& first = payload.renew(tlm::TLM_WRITE_COMMAND, 0x1000, 64);
  first.kind = RequestKind::vector;
  first.atomic = true;
  first.bypass_l1 = true;
  first.requester = 7;
  first.byte_mask = ByteMask(1);
  payload->set_address(0);
  payload->set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  payload->set_dmi_allowed(true);

  const MemoryAttributes& second = payload.renew(tlm::TLM_READ_COMMAND, 0x40, 32);
  const MemoryAttributes fresh;
  EXPECT_EQ(second.kind, fresh.kind);
  EXPECT_EQ(second.atomic, fresh.atomic);
  EXPECT_EQ(second.bypass_l1, fresh.bypass_l1);
  EXPECT_EQ(second.requester, fresh.requester);
  EXPECT_EQ(second.byte_mask, fresh.byte_mask);
  EXPECT_TRUE(second.timing_only);
  EXPECT_EQ(payload->get_address(), 0x40U);
  EXPECT_EQ(payload->get_streaming_width(), 32U);
  EXPECT_EQ(payload->get_response_status(), tlm::TLM_INCOMPLETE_RESPONSE);
  EXPECT_FALSE(payload->is_dmi_allowed());
}

TEST(TimingPayload, LatencyAddsUpUntilItIsCleared) {
  TimingPayload payload;
  payload.renew(tlm::TLM_READ_COMMAND, 0, 64).latency.add(MemoryLevel::l1, 1_ns, 2_ns);
  payload.renew(tlm::TLM_READ_COMMAND, 64, 64).latency.add(MemoryLevel::l1, 3_ns, 4_ns);
  EXPECT_EQ(payload.latency().queueing[static_cast<std::size_t>(MemoryLevel::l1)], 4_ns);
  EXPECT_EQ(payload.latency().service[static_cast<std::size_t>(MemoryLevel::l1)], 6_ns);
  payload.clear_latency();
  EXPECT_EQ(payload.latency().service[static_cast<std::size_t>(MemoryLevel::l1)], 0_ns);
}

}  // namespace
}  // namespace lacuna
