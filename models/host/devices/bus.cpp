#include "models/host/devices/bus.h"

#include <algorithm>
#include <stdexcept>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

void HostBusParameters::describe(ParameterSection& section) {
  section.add("clock", clock, "Clock of the bus", {.range = {1, 1e12}});
  section.add("latency", latency, "Time that the bus adds to every transaction", {.range = {0, 1e6}});
}

void HostBusStatistics::describe(StatisticsGroup& group) const {
  group.add("reads", reads, "reads that did not go by DMI", "transactions");
  group.add("writes", writes, "writes that did not go by DMI", "transactions");
  group.add("errors", errors, "transactions to unmapped addresses", "transactions");
}

HostBus::HostBus(sc_core::sc_module_name module_name, const HostBusParameters& parameters, unsigned initiator_count)
    : sc_module(module_name),
      initiators("initiator", initiator_count),
      latency_(Clock(parameters.clock).ticks(parameters.latency)) {
  for (unsigned i = 0; i < initiator_count; ++i) {
    const int tag = static_cast<int>(i);
    initiators[i].register_b_transport(this, &HostBus::b_transport, tag);
    initiators[i].register_transport_dbg(this, &HostBus::transport_dbg, tag);
    initiators[i].register_get_direct_mem_ptr(this, &HostBus::get_direct_mem_ptr, tag);
  }
}

HostBus::TargetPort& HostBus::add_mapping(const std::string& mapping_name, std::uint64_t base, Bytes size) {
  if (size.n == 0 || base + (size.n - 1) < base) {
    throw std::invalid_argument(std::string(name()) + ": mapping " + mapping_name + " is empty or wraps around");
  }
  const auto next = std::upper_bound(mappings_.begin(), mappings_.end(), base,
                                     [](std::uint64_t address, const Mapping& m) { return address < m.base; });
  const auto overlaps = [&](const Mapping& m) { return m.base <= base + (size.n - 1) && base <= m.base + (m.size - 1); };
  for (auto m = next == mappings_.begin() ? next : std::prev(next); m != mappings_.end() && m <= next; ++m) {
    if (overlaps(*m)) {
      throw std::invalid_argument(std::string(name()) + ": mapping " + mapping_name + " overlaps " + m->name);
    }
  }
  const auto port = static_cast<unsigned>(targets_.size());
  mappings_.insert(next, {mapping_name, base, size.n, port});
  targets_.push_back(std::make_unique<TargetPort>(sc_core::sc_gen_unique_name(("to_" + mapping_name).c_str())));
  targets_.back()->register_invalidate_direct_mem_ptr(this, &HostBus::invalidate_direct_mem_ptr, static_cast<int>(port));
  return *targets_.back();
}

const HostBus::Mapping* HostBus::find(std::uint64_t address, std::uint64_t length) const {
  const auto next = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                     [](std::uint64_t a, const Mapping& m) { return a < m.base; });
  if (next == mappings_.begin()) return nullptr;
  const Mapping& mapping = *std::prev(next);
  const std::uint64_t offset = address - mapping.base;
  return offset < mapping.size && length <= mapping.size - offset ? &mapping : nullptr;
}

void HostBus::b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  delay += to_sc_time(latency_);
  const std::uint64_t address = payload.get_address();
  const Mapping* mapping = find(address, payload.get_data_length());
  if (mapping == nullptr) {
    ++statistics_.errors;
    log_unmapped(initiator, payload);
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  (payload.is_write() ? statistics_.writes : statistics_.reads) += 1;
  payload.set_address(address - mapping->base);
  (*targets_[mapping->port])->b_transport(payload, delay);
  payload.set_address(address);
}

unsigned HostBus::transport_dbg(int, tlm::tlm_generic_payload& payload) {
  const std::uint64_t address = payload.get_address();
  const Mapping* mapping = find(address, payload.get_data_length());
  if (mapping == nullptr) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return 0;
  }
  payload.set_address(address - mapping->base);
  const unsigned moved = (*targets_[mapping->port])->transport_dbg(payload);
  payload.set_address(address);
  return moved;
}

bool HostBus::get_direct_mem_ptr(int, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  const std::uint64_t address = payload.get_address();
  const Mapping* mapping = find(address, 1);
  if (mapping == nullptr) {
    // Denies DMI for the whole gap around the address, so that the initiator need not request DMI for each byte.
    const auto next = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                       [](std::uint64_t a, const Mapping& m) { return a < m.base; });
    dmi.allow_none();
    dmi.set_start_address(next == mappings_.begin() ? 0 : std::prev(next)->base + std::prev(next)->size);
    dmi.set_end_address(next == mappings_.end() ? ~sc_dt::uint64{0} : next->base - 1);
    return false;
  }
  payload.set_address(address - mapping->base);
  const bool granted = (*targets_[mapping->port])->get_direct_mem_ptr(payload, dmi);
  payload.set_address(address);
  const std::uint64_t begin = dmi.get_start_address();
  const std::uint64_t end = std::min<std::uint64_t>(dmi.get_end_address(), mapping->size - 1);
  if (begin > end) {
    // If the denied region does not overlap the mapping, denies DMI for the whole mapping.
    dmi.set_start_address(mapping->base);
    dmi.set_end_address(mapping->base + (mapping->size - 1));
    return false;
  }
  dmi.set_start_address(mapping->base + begin);
  dmi.set_end_address(mapping->base + end);
  dmi.set_read_latency(dmi.get_read_latency() + to_sc_time(latency_));
  dmi.set_write_latency(dmi.get_write_latency() + to_sc_time(latency_));
  return granted;
}

void HostBus::invalidate_direct_mem_ptr(int port, sc_dt::uint64 begin, sc_dt::uint64 end) {
  const auto mapping = std::find_if(mappings_.begin(), mappings_.end(),
                                    [port](const Mapping& m) { return m.port == static_cast<unsigned>(port); });
  if (begin >= mapping->size) return;
  end = std::min<std::uint64_t>(end, mapping->size - 1);
  for (unsigned i = 0; i < initiators.size(); ++i) {
    initiators[i]->invalidate_direct_mem_ptr(mapping->base + begin, mapping->base + end);
  }
}

void HostBus::log_unmapped(int initiator, const tlm::tlm_generic_payload& payload) const {
  const std::uint64_t address = payload.get_address();
  const auto distance = [address](const Mapping& m) {
    return address < m.base ? m.base - address : address - m.base < m.size ? 0 : address - m.base - (m.size - 1);
  };
  const auto nearest = std::min_element(mappings_.begin(), mappings_.end(),
                                        [&](const Mapping& a, const Mapping& b) { return distance(a) < distance(b); });
  const char* command = payload.is_write() ? "write" : "read";
  if (nearest == mappings_.end()) {
    guest_warning("unmapped bus accesses", "{}: {} of {} bytes at {:#x} by initiator {}: nothing is mapped", name(), command,
                  payload.get_data_length(), address, initiator);
    return;
  }
  guest_warning("unmapped bus accesses", "{}: {} of {} bytes at {:#x} by initiator {} {} (nearest mapping: {} at {:#x}..{:#x})",
                name(), command, payload.get_data_length(), address, initiator,
                distance(*nearest) == 0 ? "crosses the end of a mapping" : "is not mapped", nearest->name, nearest->base,
                nearest->base + (nearest->size - 1));
}

}  // namespace lacuna
