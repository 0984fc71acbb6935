#include "models/common/transport/payload_pool.h"

#include <gtest/gtest.h>

#include <vector>

namespace lacuna {
namespace {

TEST(PayloadPool, HandsOutPayloadsWithDefaultsAndAttributes) {
  PayloadPool pool;
  PooledPayload payload(pool);
  EXPECT_TRUE(payload->has_mm());
  EXPECT_EQ(payload->get_ref_count(), 1);
  EXPECT_EQ(payload->get_data_ptr(), nullptr);
  EXPECT_EQ(payload->get_response_status(), tlm::TLM_INCOMPLETE_RESPONSE);
  EXPECT_EQ(payload.attributes().kind, RequestKind::host);
  EXPECT_FALSE(payload.attributes().timing_only);
}

TEST(PayloadPool, AReusedPayloadIsResetWholly) {
  PayloadPool pool;
  tlm::tlm_generic_payload* first = nullptr;
  unsigned char byte = 0;
  {
    PooledPayload payload(pool);
    first = &*payload;
    payload->set_command(tlm::TLM_WRITE_COMMAND);
    payload->set_address(0x1234);
    payload->set_data_ptr(&byte);
    payload->set_data_length(1);
    payload->set_byte_enable_ptr(&byte);
    payload->set_byte_enable_length(1);
    payload->set_dmi_allowed(true);
    payload->set_response_status(tlm::TLM_OK_RESPONSE);
    payload.attributes().atomic = true;
    payload.attributes().bypass_l1 = true;
    payload.attributes().requester = 9;
    payload.attributes().byte_mask = ByteMask(1);
    payload.attributes().latency.service[0] = Tick{5};
  }
  PooledPayload payload(pool);
  ASSERT_EQ(&*payload, first);
  EXPECT_TRUE(payload->get_command() == tlm::TLM_IGNORE_COMMAND);
  EXPECT_EQ(payload->get_address(), 0u);
  EXPECT_EQ(payload->get_data_ptr(), nullptr);
  EXPECT_EQ(payload->get_byte_enable_ptr(), nullptr);
  EXPECT_EQ(payload->get_byte_enable_length(), 0u);
  EXPECT_FALSE(payload->is_dmi_allowed());
  EXPECT_EQ(payload->get_response_status(), tlm::TLM_INCOMPLETE_RESPONSE);
  EXPECT_FALSE(payload.attributes().atomic);
  EXPECT_FALSE(payload.attributes().bypass_l1);
  EXPECT_EQ(payload.attributes().requester, 0);
  EXPECT_EQ(payload.attributes().byte_mask, ByteMask::all());
  EXPECT_EQ(payload.attributes().latency.service[0], Tick{});
}

TEST(PayloadPool, AllocatesNothingInSteadyState) {
  PayloadPool pool;
  for (int i = 0; i < 10'000; ++i) {
    PooledPayload a(pool);
    PooledPayload b(pool);
    PooledPayload c(pool);
    EXPECT_NE(&*a, &*b);
    EXPECT_NE(&*b, &*c);
  }
  EXPECT_EQ(pool.allocated(), 3u);
}

TEST(PayloadPool, APayloadInUseElsewhereReturnsLater) {
  PayloadPool pool;
  tlm::tlm_generic_payload* held = nullptr;
  {
    PooledPayload payload(pool);
    held = &*payload;
    held->acquire();
  }
  {
    PooledPayload other(pool);
    EXPECT_NE(&*other, held);
  }
  held->release();
  EXPECT_EQ(pool.allocated(), 2u);
}

}  // namespace
}  // namespace lacuna
