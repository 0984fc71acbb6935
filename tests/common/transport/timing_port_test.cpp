// Tests TimingPort: payload and completion time of timing-only requests.
#include "models/common/transport/timing_port.h"

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "tests/harness/harness.h"

namespace lacuna::test {
namespace {

/// Responds after 40 ns to addresses below 0x1000, and with an address error to all others.
class Target : public sc_core::sc_module {
 public:
  explicit Target(sc_core::sc_module_name module_name) : sc_module(module_name) {
    socket.register_b_transport(this, &Target::b_transport);
  }
  tlm_utils::simple_target_socket<Target> socket{"socket"};
  Tick arrived{};
  unsigned bytes = 0;
  bool write = false;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    EXPECT_EQ(payload.get_extension<MemoryAttributes>()->kind, RequestKind::command_processor);
    EXPECT_TRUE(payload.get_extension<MemoryAttributes>()->timing_only);
    EXPECT_EQ(payload.get_data_ptr(), nullptr);
    arrived = local_time(delay);
    bytes = payload.get_data_length();
    write = payload.is_write();
    advance(delay, Tick{40'000});
    payload.set_response_status(payload.get_address() < 0x1000 ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
};

class PortBench : public sc_core::sc_module {
 public:
  explicit PortBench(sc_core::sc_module_name module_name) : sc_module(module_name) { socket.bind(target.socket); }
  tlm_utils::simple_initiator_socket<PortBench> socket{"socket"};
  Target target{"target"};
  TimingPort port{socket};
};

LACUNA_TEST_BENCH(PortBench)

TEST(TimingPort, CompletesAheadOfTheKernel) {
  PortBench& b = bench<PortBench>();
  wait_for(Tick{5'000});
  const Tick at = now() + Tick{7'000};
  const TimingPort::Response response = b.port.access(0x80, 64, true, at);
  EXPECT_TRUE(response.ok);
  EXPECT_EQ(response.done, at + Tick{40'000});
  EXPECT_EQ(b.target.arrived, at);
  EXPECT_EQ(b.target.bytes, 64U);
  EXPECT_TRUE(b.target.write);
  EXPECT_EQ(now() + Tick{7'000}, at) << "no time has passed";
}

TEST(TimingPort, ReportsAddressErrors) {
  PortBench& b = bench<PortBench>();
  const TimingPort::Response response = b.port.access(0x1000, 4, false, now());
  EXPECT_FALSE(response.ok);
  EXPECT_FALSE(b.target.write);
}

}  // namespace
}  // namespace lacuna::test
