// Host bus: n initiators, address-decoded targets.
//
// Adds a latency per transaction and translates addresses: a target sees offsets from its own base. A transaction must lie
// wholly in one mapping; otherwise it fails with TLM_ADDRESS_ERROR_RESPONSE, and a log line names the nearest mapping. DMI
// regions are translated and clipped to their mapping; invalidations are forwarded to every initiator.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/common/config/parameters.h"
#include "models/common/config/statistics.h"
#include "models/common/time/units.h"

namespace lacuna {

struct HostBusParameters {
  Frequency clock{1'000'000'000};
  Cycles latency{0};

  void describe(ParameterSection& section);
};

struct HostBusStatistics {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t errors = 0;

  void describe(StatisticsGroup& group) const;
};

class HostBus : public sc_core::sc_module {
 public:
  using InitiatorPort = tlm_utils::simple_target_socket_tagged<HostBus>;
  using TargetPort = tlm_utils::simple_initiator_socket_tagged<HostBus>;

  /// Sockets of the initiators, bound for example by hart.bus.bind(bus.initiators[0]).
  sc_core::sc_vector<InitiatorPort> initiators;

  HostBus(sc_core::sc_module_name module_name, const HostBusParameters& parameters, unsigned initiator_count);

  /// Places a target at [base, base + size). Throws std::invalid_argument if the mapping is empty, wraps around or overlaps
  /// another mapping.
  template <class TargetSocket>
  void map(const std::string& mapping_name, std::uint64_t base, Bytes size, TargetSocket& target) {
    add_mapping(mapping_name, base, size).bind(target);
  }

  struct Mapping {
    std::string name;
    std::uint64_t base;
    std::uint64_t size;
    unsigned port;  ///< index in order of map() calls
  };
  /// The mappings, sorted by base.
  const std::vector<Mapping>& mappings() const { return mappings_; }
  const HostBusStatistics& statistics() const { return statistics_; }

 private:
  TargetPort& add_mapping(const std::string& mapping_name, std::uint64_t base, Bytes size);
  /// The mapping that contains the whole range, or nullptr.
  const Mapping* find(std::uint64_t address, std::uint64_t length) const;
  void b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int initiator, tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(int initiator, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void invalidate_direct_mem_ptr(int port, sc_dt::uint64 begin, sc_dt::uint64 end);
  void log_unmapped(int initiator, const tlm::tlm_generic_payload& payload) const;

  Tick latency_;
  std::vector<std::unique_ptr<TargetPort>> targets_;
  std::vector<Mapping> mappings_;
  HostBusStatistics statistics_;
};

}  // namespace lacuna
