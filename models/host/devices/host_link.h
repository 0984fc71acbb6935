// The PCI Express link between a GPU and the memory of the process that drives it.
//
// Socket `bus` (target): the GPU's requests to memory below VRAM. Timing only: the data are the process's own memory and have
// been moved through the GPUVM's windows; a request that is empty or not timing-only is refused (TLM_COMMAND_ERROR_RESPONSE).
//
// Time: each direction has a calendar. A write is posted: it sends header and data upstream, then takes write_latency. A read
// sends a header upstream, waits read_latency for the host, and receives header and data downstream. Data are sent in packets
// of at most max_payload bytes, each with packet_overhead bytes of framing, sequence number, header and checksum.
#pragma once

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "models/common/config/parameters.h"
#include "models/common/config/statistics.h"
#include "models/common/time/calendar.h"
#include "models/common/time/units.h"
#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"

namespace lacuna {

struct HostLinkParameters {
  unsigned lanes = 16;
  Frequency transfer_rate{8'000'000'000};
  Tick read_latency{500'000};
  Tick write_latency{250'000};
  Bytes max_payload{256};
  Bytes packet_overhead{24};

  void describe(ParameterSection& section);
};

struct HostLinkStatistics {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t errors = 0;
  Tick queueing{};  ///< time that requests and replies waited for the link
  Tick upstream_busy{};
  Tick downstream_busy{};

  void describe(StatisticsGroup& group) const;
};

class HostLink : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<HostLink> bus;

  HostLink(sc_core::sc_module_name module_name, const HostLinkParameters& parameters);

  /// Time that `bytes` of data occupy one direction, including packet overhead.
  Tick transfer_time(Bytes bytes) const;
  const HostLinkStatistics& statistics() const { return statistics_; }
  /// Registers the bytes of block "host_link".
  void describe_energy(EnergyMeter& meter, const HostLinkEnergy& energy) const;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  /// Books a transfer of `duration` that may start at `at`; returns its end.
  Tick occupy(Calendar& direction, Tick& busy, Tick at, Tick duration);

  const HostLinkParameters parameters_;
  Calendar upstream_;
  Calendar downstream_;
  std::uint64_t requests_ = 0;
  HostLinkStatistics statistics_;
};

}  // namespace lacuna
