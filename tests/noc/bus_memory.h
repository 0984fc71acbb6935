// Memory that tests bind to a destination port of a fabric.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <cstdint>
#include <systemc>
#include <tlm>

#include "models/common/time/units.h"
#include "models/common/transport/backing_store.h"
#include "models/host/devices/ram.h"

namespace lacuna::test {

inline constexpr std::uint64_t kBase = 0x10000;
inline constexpr Bytes kSize{0x1000};
inline constexpr Tick kMemoryTime{100'000};

/// Memory that is addressed by bus addresses, as L2 banks are.
struct BusMemory : sc_core::sc_module {
  BusMemory(sc_core::sc_module_name n, BackingStore& store)
      : sc_module(n), ram("ram", {kMemoryTime, kMemoryTime}, store, 0, kSize) {
    port.register_b_transport(this, &BusMemory::b_transport);
    port.register_transport_dbg(this, &BusMemory::transport_dbg);
    port.register_get_direct_mem_ptr(this, &BusMemory::get_direct_mem_ptr);
    to_ram.bind(ram.bus);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    ++requests;
    payload.set_address(payload.get_address() - kBase);
    to_ram->b_transport(payload, delay);
    payload.set_address(payload.get_address() + kBase);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    payload.set_address(payload.get_address() - kBase);
    const unsigned moved = to_ram->transport_dbg(payload);
    payload.set_address(payload.get_address() + kBase);
    return moved;
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    payload.set_address(payload.get_address() - kBase);
    const bool granted = to_ram->get_direct_mem_ptr(payload, dmi);
    payload.set_address(payload.get_address() + kBase);
    dmi.set_start_address(dmi.get_start_address() + kBase);
    dmi.set_end_address(dmi.get_end_address() + kBase);
    return granted;
  }
  tlm_utils::simple_target_socket<BusMemory> port{"port"};
  tlm_utils::simple_initiator_socket<BusMemory> to_ram{"to_ram"};
  Ram ram;
  unsigned requests = 0;
};

}  // namespace lacuna::test
