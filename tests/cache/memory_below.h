// Memory below a cache under test: fixed latency, and a record of its requests.
#pragma once

#include <tlm_utils/simple_target_socket.h>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/common/time/tlm_time.h"
#include "models/common/transport/memory_access.h"
#include "models/common/transport/memory_attributes.h"

namespace lacuna::test {

class MemoryBelow : public sc_core::sc_module {
 public:
  struct Request {
    bool write;
    std::uint64_t address;
    unsigned length;
    Tick at;
    MemoryAttributes attributes;
  };

  MemoryBelow(sc_core::sc_module_name module_name, Bytes size) : sc_module(module_name), bytes_(size.n) {
    port.register_b_transport(this, &MemoryBelow::b_transport);
    port.register_transport_dbg(this, &MemoryBelow::transport_dbg);
    port.register_get_direct_mem_ptr(this, &MemoryBelow::get_direct_mem_ptr);
  }

  tlm_utils::simple_target_socket<MemoryBelow> port{"port"};
  Tick read_time{100'000};
  Tick write_time{0};
  std::vector<Request> requests;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    payload.set_response_status(check_access(payload, Bytes{bytes_.size()}));
    if (!payload.is_response_ok()) return;
    requests.push_back({payload.is_write(), payload.get_address(), payload.get_data_length(), local_time(delay),
                        *payload.get_extension<MemoryAttributes>()});
    const bool posted = payload.is_write() && !payload.get_extension<MemoryAttributes>()->atomic;
    delay += to_sc_time(posted ? write_time : read_time);
    payload.get_extension<MemoryAttributes>()->latency.add(MemoryLevel::dram, {}, posted ? write_time : read_time);
    move_data(payload, bytes_.data() + payload.get_address());
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    payload.set_response_status(check_access(payload, Bytes{bytes_.size()}));
    if (!payload.is_response_ok()) return 0;
    move_data(payload, bytes_.data() + payload.get_address());
    return payload.get_data_length();
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    if (payload.get_address() >= bytes_.size()) return false;
    dmi.init();
    dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(bytes_.data()));
    dmi.set_start_address(0);
    dmi.set_end_address(bytes_.size() - 1);
    dmi.allow_read_write();
    return true;
  }

  std::vector<std::byte> bytes_;
};

}  // namespace lacuna::test
