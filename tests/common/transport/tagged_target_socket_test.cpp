// Tests TaggedTargetSocket: callbacks receive the tag of the socket at which a transaction arrived. Also tests sockets without
// callbacks, invalidations, and the rejection of non-blocking transport.
#include "models/common/transport/tagged_target_socket.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <vector>

#include "tests/harness/harness.h"

namespace lacuna {
namespace {

struct TaggedBench : sc_core::sc_module {
  explicit TaggedBench(sc_core::sc_module_name n) : sc_module(n) {
    for (int i = 0; i < 2; ++i) {
      targets[i].register_b_transport(this, &TaggedBench::b_transport, 10 + i);
      initiators[i].bind(targets[i]);
      initiators[i].register_invalidate_direct_mem_ptr(this, &TaggedBench::invalidated, i);
    }
    targets[0].register_transport_dbg(this, &TaggedBench::transport_dbg, 10);
    targets[0].register_get_direct_mem_ptr(this, &TaggedBench::get_direct_mem_ptr, 10);
  }
  void b_transport(int tag, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    tags.push_back(tag);
    delay += sc_core::sc_time(5, sc_core::SC_NS);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  unsigned transport_dbg(int tag, tlm::tlm_generic_payload& payload) {
    tags.push_back(tag);
    return payload.get_data_length();
  }
  bool get_direct_mem_ptr(int tag, tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
    tags.push_back(tag);
    dmi.allow_read_write();
    return true;
  }
  void invalidated(int initiator, sc_dt::uint64 begin, sc_dt::uint64 end) {
    invalidations.push_back(initiator);
    EXPECT_EQ(begin, 0x100U);
    EXPECT_EQ(end, 0x1ffU);
  }

  sc_core::sc_vector<TaggedTargetSocket<TaggedBench>> targets{"target", 2};
  sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged<TaggedBench>> initiators{"initiator", 2};
  std::vector<int> tags;
  std::vector<int> invalidations;
};
LACUNA_TEST_BENCH(TaggedBench)

TaggedBench& fresh() {
  auto& b = test::bench<TaggedBench>();
  b.tags.clear();
  b.invalidations.clear();
  return b;
}

TEST(TaggedTargetSocket, CallbacksGetTheTag) {
  TaggedBench& b = fresh();
  tlm::tlm_generic_payload payload;
  payload.set_data_length(8);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  b.initiators[1]->b_transport(payload, delay);
  EXPECT_TRUE(payload.is_response_ok());
  EXPECT_EQ(delay, sc_core::sc_time(5, sc_core::SC_NS));
  EXPECT_EQ(b.initiators[0]->transport_dbg(payload), 8U);
  tlm::tlm_dmi dmi;
  EXPECT_TRUE(b.initiators[0]->get_direct_mem_ptr(payload, dmi));
  EXPECT_TRUE(dmi.is_read_write_allowed());
  EXPECT_EQ(b.tags, (std::vector<int>{11, 10, 10}));
}

TEST(TaggedTargetSocket, WithoutCallbacksThereIsNoDebugAndNoDirectAccess) {
  TaggedBench& b = fresh();
  tlm::tlm_generic_payload payload;
  payload.set_data_length(8);
  EXPECT_EQ(b.initiators[1]->transport_dbg(payload), 0U);
  tlm::tlm_dmi dmi;
  dmi.allow_read_write();
  EXPECT_FALSE(b.initiators[1]->get_direct_mem_ptr(payload, dmi));
  EXPECT_TRUE(dmi.is_none_allowed());
  EXPECT_TRUE(b.tags.empty());
}

TEST(TaggedTargetSocket, InvalidationsReachTheInitiator) {
  TaggedBench& b = fresh();
  b.targets[1]->invalidate_direct_mem_ptr(0x100, 0x1ff);
  EXPECT_EQ(b.invalidations, std::vector<int>{1});
}

TEST(TaggedTargetSocket, NonBlockingTransportIsRefused) {
  TaggedBench& b = fresh();
  tlm::tlm_generic_payload payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const test::ExpectReports reports(sc_core::SC_ERROR);
  EXPECT_THROW(b.initiators[0]->nb_transport_fw(payload, phase, delay), sc_core::sc_report);
  EXPECT_EQ(payload.get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
  EXPECT_TRUE(b.tags.empty());
}

}  // namespace
}  // namespace lacuna
