// RAM: a window of a backing store on the bus. Also the host's aperture into GPU memory.
//
// Accesses may have any length and alignment; byte enables are honoured. DMI covers the whole window, read and write, with the
// latencies below.
#pragma once

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "models/common/config/parameters.h"
#include "models/common/config/statistics.h"
#include "models/common/time/units.h"
#include "models/common/transport/backing_store.h"

namespace lacuna {

struct RamParameters {
  Tick read_latency{1000};
  Tick write_latency{1000};

  void describe(ParameterSection& section);
};

/// Counts of accesses by b_transport; accesses by DMI are not counted.
struct RamStatistics {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t errors = 0;

  void describe(StatisticsGroup& group) const;
};

class Ram : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Ram> bus;

  /// Bytes [base, base + size) of the store. Throws std::invalid_argument if they are not within the store.
  Ram(sc_core::sc_module_name module_name, const RamParameters& parameters, BackingStore& store, std::uint64_t base,
      Bytes size);

  Bytes size() const { return size_; }
  const RamStatistics& statistics() const { return statistics_; }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

  const RamParameters parameters_;
  std::byte* data_;
  Bytes size_;
  RamStatistics statistics_;
};

}  // namespace lacuna
