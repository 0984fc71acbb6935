// Environment for the programs of the hart's tests: a hart with memory, and a device that raises the hart's interrupt lines.
#pragma once

#include <tlm_utils/simple_target_socket.h>
#include <array>
#include <cstring>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/common/time/tlm_time.h"
#include "models/host/rv64/hart.h"
#include "tests/host/flat_image.h"

namespace lacuna::test {

/// Memory at 0x80000000 (DMI, no latency unless specified), the device at 0x10000000, error responses elsewhere.
///
/// Device: a store of n to +0x00, +0x08, +0x10 raises the external, timer, software line n ns later; 0 lowers it. +0x18 is
/// scratch. Each device access takes 100 ns.
class HartEnvironment : public sc_core::sc_module {
 public:
  static constexpr std::uint64_t kRamBase = 0x8000'0000;
  static constexpr std::uint64_t kRamSize = 4u << 20;
  static constexpr std::uint64_t kDeviceBase = 0x1000'0000;
  static constexpr Tick kDeviceLatency{100'000};

  tlm_utils::simple_target_socket<HartEnvironment> socket{"socket"};

  HartEnvironment(sc_core::sc_module_name module_name, const HartParameters& parameters)
      : sc_module(module_name), hart("hart", parameters), memory_(kRamSize) {
    socket.register_b_transport(this, &HartEnvironment::b_transport);
    socket.register_transport_dbg(this, &HartEnvironment::transport_dbg);
    socket.register_get_direct_mem_ptr(this, &HartEnvironment::get_direct_mem_ptr);
    hart.bus.bind(socket);
    hart.machine_external_interrupt.bind(lines_[0].signal);
    hart.machine_timer_interrupt.bind(lines_[1].signal);
    hart.machine_software_interrupt.bind(lines_[2].signal);
    hart.set_time_source([](Tick at) { return at.ps / 100'000; });
    hart.set_console({[this](std::string_view bytes) { console += bytes; }, {}});
    hart.set_exit_callback([this](int code) {
      exit_code = code;
      ++exits;
      hart.tell_debugger_of_end(code, {});
      sc_core::sc_stop();
    });
    SC_HAS_PROCESS(HartEnvironment);
    SC_METHOD(drive_lines);
    dont_initialize();
    for (Line& line : lines_) sensitive << line.change;
  }

  /// Loads a flat image to the base of memory.
  void load(const std::string& path) { load_flat_image(path, memory_); }

  Hart hart;
  std::string console;
  int exit_code = -1;
  unsigned exits = 0;
  unsigned device_reads = 0;
  unsigned device_writes = 0;

 private:
  struct Line {
    sc_core::sc_signal<bool> signal;
    sc_core::sc_event change;
    Tick rise = kNever;  ///< absolute simulated time at which the interrupt line rises
  };

  void drive_lines() {
    const Tick now{sc_core::sc_time_stamp().value()};
    for (Line& line : lines_) line.signal.write(line.rise <= now);
  }

  std::byte* in_memory(const tlm::tlm_generic_payload& payload) {
    const std::uint64_t offset = payload.get_address() - kRamBase;
    return offset < kRamSize && payload.get_data_length() <= kRamSize - offset ? memory_.data() + offset : nullptr;
  }

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (std::byte* place = in_memory(payload)) {
      payload.set_dmi_allowed(true);
      copy(payload, place);
      return;
    }
    const std::uint64_t offset = payload.get_address() - kDeviceBase;
    if (offset >= 0x20 || payload.get_data_length() > 8 - offset % 8) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    delay += to_sc_time(kDeviceLatency);
    copy(payload, reinterpret_cast<std::byte*>(registers_.data()) + offset);
    if (payload.is_read()) {
      ++device_reads;
      return;
    }
    ++device_writes;
    const std::size_t index = offset / 8;
    if (index >= lines_.size()) return;
    Line& line = lines_[index];
    const Tick local = local_time(delay);
    line.rise = registers_[index] == 0 ? kNever : local + Tick{1000} * registers_[index];
    const Tick at = registers_[index] == 0 ? local : line.rise;
    line.change.notify(to_sc_time(at - Tick{sc_core::sc_time_stamp().value()}));
  }

  static void copy(tlm::tlm_generic_payload& payload, std::byte* place) {
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), place, payload.get_data_length());
    if (payload.is_write()) std::memcpy(place, payload.get_data_ptr(), payload.get_data_length());
  }

  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    std::byte* place = in_memory(payload);
    if (place == nullptr) return 0;
    copy(payload, place);
    return payload.get_data_length();
  }

  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    if (payload.get_address() - kRamBase >= kRamSize) return false;
    dmi.set_start_address(kRamBase);
    dmi.set_end_address(kRamBase + kRamSize - 1);
    dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(memory_.data()));
    dmi.allow_read_write();
    return true;
  }

  std::array<Line, 3> lines_;
  std::array<std::uint64_t, 4> registers_{};
  std::vector<std::byte> memory_;
};

}  // namespace lacuna::test
