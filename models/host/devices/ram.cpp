#include "models/host/devices/ram.h"

#include <stdexcept>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"
#include "models/common/transport/memory_access.h"

namespace lacuna {

void RamParameters::describe(ParameterSection& section) {
  section.add("read_latency", read_latency, "Time of a read; the host's own caches are not modelled, so this is their mean");
  section.add("write_latency", write_latency, "Time of a write");
}

void RamStatistics::describe(StatisticsGroup& group) const {
  group.add("reads", reads, "reads that did not go by DMI", "transactions");
  group.add("writes", writes, "writes that did not go by DMI", "transactions");
  group.add("errors", errors, "refused transactions", "transactions");
}

Ram::Ram(sc_core::sc_module_name module_name, const RamParameters& parameters, BackingStore& store, std::uint64_t base,
         Bytes size)
    : sc_module(module_name), bus("bus"), parameters_(parameters), data_(nullptr), size_(size) {
  if (base > store.size().n || size.n > store.size().n - base) {
    throw std::invalid_argument(std::string(this->name()) + ": " + std::to_string(size.n) + " bytes at " +
                                std::to_string(base) + " are not in a store of " + std::to_string(store.size().n));
  }
  data_ = store.data() + base;
  bus.register_b_transport(this, &Ram::b_transport);
  bus.register_transport_dbg(this, &Ram::transport_dbg);
  bus.register_get_direct_mem_ptr(this, &Ram::get_direct_mem_ptr);
}

void Ram::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  delay += to_sc_time(payload.is_write() ? parameters_.write_latency : parameters_.read_latency);
  const tlm::tlm_response_status status = check_access(payload, size_);
  payload.set_response_status(status);
  if (status != tlm::TLM_OK_RESPONSE) {
    ++statistics_.errors;
    guest_warning("refused memory accesses", "{}: {} of {} bytes at offset {:#x} refused ({}): {:#x} bytes of memory", name(),
                  payload.is_write() ? "write" : "read", payload.get_data_length(), payload.get_address(),
                  payload.get_response_string(), size_.n);
    return;
  }
  (payload.is_write() ? statistics_.writes : statistics_.reads) += 1;
  move_data(payload, data_ + payload.get_address());
  payload.set_dmi_allowed(true);
}

unsigned Ram::transport_dbg(tlm::tlm_generic_payload& payload) {
  const tlm::tlm_response_status status = check_access(payload, size_);
  payload.set_response_status(status);
  if (status != tlm::TLM_OK_RESPONSE) return 0;
  move_data(payload, data_ + payload.get_address());
  return payload.get_data_length();
}

bool Ram::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  if (payload.get_address() >= size_.n) {
    dmi.allow_none();
    dmi.set_start_address(size_.n);
    return false;
  }
  dmi.init();
  dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(data_));
  dmi.set_start_address(0);
  dmi.set_end_address(size_.n - 1);
  dmi.set_read_latency(to_sc_time(parameters_.read_latency));
  dmi.set_write_latency(to_sc_time(parameters_.write_latency));
  dmi.allow_read_write();
  return true;
}

}  // namespace lacuna
