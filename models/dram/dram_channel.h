// One DRAM channel: banks with open rows, a data bus, a queue of posted writes, and the data themselves.
//
// The channel owns a slice of the address range (AddressSlice); transactions carry bus addresses. The data are in a backing
// store, where bus address `base` is byte `store_offset`.
//
// Time of a read that arrives at t on an idle channel (cycles of `clock`):
//   t + frontend_latency + preparation + cas_latency + ceil(length / bytes_per_cycle)
//   preparation   0 row open, row_to_column no row open, precharge + row_to_column another row open
// A bank is busy for the preparation and the burst, the data bus for the burst. Rows stay open. A write is posted: it completes
// for the sender when it enters the write queue, at once while fewer than write_queue writes wait for the bus. Addresses inside
// the slice: row : bank : column (column = the low log2(row_size) bits).
//
// Refresh, bank groups, turnaround and scheduling are not modelled: requests are served in order of arrival, except that a
// calendar lets one that is earlier in simulated time have its earlier place.
#pragma once

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/common/address_slice.h"
#include "models/common/backing_store.h"
#include "models/common/calendar.h"
#include "models/common/memory_attributes.h"
#include "models/common/parameters.h"
#include "models/common/statistics.h"
#include "models/common/units.h"

namespace lacuna {

struct DramParameters {
  Frequency clock{1'000'000'000};
  Cycles frontend_latency{43};
  unsigned bytes_per_cycle = 16;
  unsigned banks = 16;
  Bytes row_size{2048};
  Cycles row_to_column{10};
  Cycles precharge{10};
  Cycles cas_latency{10};
  unsigned write_queue = 32;

  void describe(ParameterSection& section);
};

struct DramStatistics {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t row_hits = 0;
  std::uint64_t row_empty = 0;
  std::uint64_t row_conflicts = 0;
  std::uint64_t errors = 0;
  Tick bus_busy{};
  Tick queueing{};
  Tick write_stall{};
  Tick read_latency{};

  void describe(StatisticsGroup& group) const;
};

class DramChannel : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<DramChannel> memory;

  /// Throws std::invalid_argument when the slice's range does not lie in the store.
  DramChannel(sc_core::sc_module_name module_name, const DramParameters& parameters, const AddressSlice& slice,
              BackingStore& store, std::uint64_t store_offset = 0);

  /// Forgets open rows and what is in flight; the data stay.
  void reset();
  const DramStatistics& statistics() const { return statistics_; }

 private:
  struct Bank {
    Calendar calendar;
    std::uint64_t open_row = kNoRow;
  };
  static constexpr std::uint64_t kNoRow = ~std::uint64_t{0};
  struct Service {
    Tick done;     // the last byte is on the bus
    Tick waiting;  // of that, for the bank and the bus
  };

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  tlm::tlm_response_status check(const tlm::tlm_generic_payload& payload) const;
  Service serve(std::uint64_t address, unsigned length, Tick at);
  std::byte* bytes_at(std::uint64_t address) { return data_ + (address - slice_.base()); }
  void retire();

  const DramParameters parameters_;
  const AddressSlice slice_;
  std::byte* data_;  // of the slice's base address
  // The parameters in time.
  Tick cycle_;
  Tick frontend_;
  Tick activate_;
  Tick precharge_;
  Tick cas_;

  std::vector<Bank> banks_;
  Calendar bus_;
  PoolCalendar write_queue_;
  unsigned until_retire_ = 0;
  DramStatistics statistics_;
};

}  // namespace lacuna
