// Tests a hart that sleeps and wakes a million times: each interrupt line in turn wakes it from wfi, and lines that are not
// enabled do not.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstring>
#include <vector>

#include "models/host/rv64/hart.h"
#include "tests/host/core_machine.h"

namespace lacuna::test {
namespace {

using namespace rv64;
using enum rv64::Operation;

constexpr std::uint64_t kBase = 0x8000'0000;
constexpr std::uint64_t kWakes = 1'000'000;
constexpr unsigned kCounter = 8;  // s0

/// A hart with memory accessed by DMI, and a driver that changes two lines at a time. The hart enables one line after another,
/// so two of the three are disabled at any time.
class Sleeper : public sc_core::sc_module {
 public:
  explicit Sleeper(sc_core::sc_module_name module_name) : sc_module(module_name), hart("hart", {}) {
    socket.register_b_transport(this, &Sleeper::b_transport);
    socket.register_get_direct_mem_ptr(this, &Sleeper::get_direct_mem_ptr);
    hart.bus.bind(socket);
    hart.machine_software_interrupt.bind(lines_[0]);
    hart.machine_timer_interrupt.bind(lines_[1]);
    hart.machine_external_interrupt.bind(lines_[2]);
    SC_HAS_PROCESS(Sleeper);
    SC_METHOD(drive);
  }

  tlm_utils::simple_target_socket<Sleeper> socket{"socket"};
  Hart hart;
  std::vector<std::uint32_t> code;
  std::uint64_t steps = 0;
  std::uint64_t wrong = 0;  ///< number of steps at which the hart was awake, or had not woken as expected

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }

  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    const std::uint64_t size = code.size() * sizeof code.front();
    if (payload.get_address() - kBase >= size) return false;
    dmi.set_start_address(kBase);
    dmi.set_end_address(kBase + size - 1);
    dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(code.data()));
    dmi.allow_read_write();
    return true;
  }

  /// Step 2n: the line after the enabled line rises and the line before it falls; the hart must not wake. Step 2n + 1: the
  /// enabled line rises. Each step takes 20 ns, enough for the nine cycles to the next wfi.
  void drive() {
    next_trigger(sc_core::sc_time(20, sc_core::SC_NS));
    const std::uint64_t wakes = steps / 2;
    if (steps != 0 && (!hart.waiting_for_interrupt() || hart.read_register(kCounter) != wakes)) ++wrong;
    if (wakes == kWakes) return sc_core::sc_stop();
    const std::size_t enabled = wakes % 3;
    const std::size_t after = (enabled + 1) % 3;
    const std::size_t before = (enabled + 2) % 3;
    lines_[after].write(steps % 2 == 0);
    lines_[before].write(false);
    lines_[enabled].write(steps % 2 == 1);
    ++steps;
  }

  std::array<sc_core::sc_signal<bool>, 3> lines_;
};

TEST(HartWait, TheHartSleepsAndWakesAMillionTimesByAllSources) {
  Sleeper sleeper("sleeper");
  const auto enable_and_sleep = [&](unsigned number) {
    // A shift produces the mie bit, which may not fit addi's immediate.
    sleeper.code.insert(sleeper.code.end(), {encode_i(addi, kT0, 0, 1), encode_i(slli, kT0, kT0, static_cast<int>(number)),
                                             encode_csr(csrrw, 0, csr::mie, kT0), kWfi, encode_i(addi, kCounter, kCounter, 1)});
  };
  for (const unsigned number : {interrupt::software, interrupt::timer, interrupt::external}) enable_and_sleep(number);
  sleeper.code.push_back(encode_j(0, -static_cast<int>(4 * sleeper.code.size())));

  sc_core::sc_start();

  EXPECT_EQ(sleeper.wrong, 0u);
  EXPECT_EQ(sleeper.hart.read_register(kCounter), kWakes);
  EXPECT_EQ(sleeper.hart.statistics().interrupts, 0u);  // mstatus.MIE = 0: wfi wakes without a trap
  // The hart slept most of the time.
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  EXPECT_GT(sleeper.hart.statistics().waiting.ps, now / 2);
}

}  // namespace
}  // namespace lacuna::test
