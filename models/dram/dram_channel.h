// One DRAM channel: banks with open rows, a data bus, a queue of posted writes, and the data themselves.
//
// The channel owns a slice of the address range (AddressSlice); transactions carry bus addresses. The data are in a backing
// store, where bus address `base` is byte `store_offset`.
//
// Time of a read: frontend_latency and what the schedule gives (models/dram/dram_schedule.h). A write is posted: it completes
// for the sender as soon as it leaves, or so much later as it waits for an entry of the write queue, which it reaches
// frontend_latency after that, as a read does. Addresses inside the slice are mapped to pseudo channel, bank group, bank, row
// and column by `address_map`.
//
// Transactions of the sockets return with a forecast of their times. Last-level caches send requests to the ports instead
// (DeferredMemory in models/common/transport/memory_request.h), which respond when the command scheduler has decided.
//
// Behind the slice the channel may have another one, in rows of its own, whose contents are not modelled: of its transactions
// there are times and traffic only. Requests to both meet in the same queues.
#pragma once

#include <tlm_utils/simple_target_socket.h>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/common/time/tlm_time.h"
#include "models/common/time/units.h"
#include "models/common/transport/address_slice.h"
#include "models/common/transport/backing_store.h"
#include "models/common/transport/memory_attributes.h"
#include "models/common/transport/memory_request.h"
#include "models/dram/dram_schedule.h"
#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"

namespace lacuna {

class DramChannel : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<DramChannel> memory;
  sc_core::sc_vector<tlm_utils::simple_target_socket<DramChannel>> second;  ///< one, if there is a second slice, or none

  /// std::invalid_argument when the slice's range does not lie in the store, or as by
  /// DramSchedule.
  DramChannel(sc_core::sc_module_name module_name, const DramParameters& parameters, const AddressSlice& slice,
              BackingStore& store, std::uint64_t store_offset = 0, const std::optional<AddressSlice>& second_slice = {});

  /// The slice and the second one, for clients that wait for their responses. Both decide together.
  DeferredMemory& port() { return port_; }
  DeferredMemory& second_port() { return second_port_; }

  /// Serves what still waits, which no later request can delay: for statistics when all is over.
  void finish() { schedule_.finish(); }
  /// Forgets open rows and what is in flight; the data stay.
  void reset();
  const DramStatistics& statistics() const { return schedule_.statistics(); }
  /// Registers block dram. Refreshes count as power, whose mean theirs is: they are due with and without requests, and the
  /// schedule looks at them only when it has some.
  void describe_energy(EnergyMeter& meter, const DramEnergy& energy) const;

 private:
  class Port : public DeferredMemory {
   public:
    Port(DramChannel& channel, const AddressSlice& slice, std::uint64_t first_local)
        : channel_(channel), slice_(slice), first_local_(first_local) {}
    bool request(const MemoryRequest& request, Tick at, MemoryClient& client, std::uint32_t tag,
                 MemoryResponse& response) override;
    void decide(Tick until) override { channel_.decide(until); }
    Tick next_decision() override { return channel_.next_decision(); }

   private:
    DramChannel& channel_;
    const AddressSlice& slice_;
    const std::uint64_t first_local_;
  };
  /// A request to a port that waits for its decision.
  struct Pending {
    MemoryClient* client = nullptr;
    std::uint32_t tag = 0;
    bool write = false;
    Tick made{};
    Tick at{};
  };

  void decide(Tick until);
  Tick next_decision();
  void retire_bookings();
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void second_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  /// Charges a transaction at a channel's address. False: it was refused, or there are no data to move.
  bool access(tlm::tlm_generic_payload& payload, const AddressSlice& slice, std::uint64_t first_local, sc_core::sc_time& delay);
  void refuse(const tlm::tlm_generic_payload& payload);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  static tlm::tlm_response_status check(const tlm::tlm_generic_payload& payload, const AddressSlice& slice,
                                        const MemoryAttributes* attributes);
  /// The kernel's time, without the call into the library that sc_time_stamp() is.
  Tick now() const { return to_tick(simcontext()->time_stamp()); }
  std::byte* bytes_at(std::uint64_t address) { return data_ + (address - slice_.base()); }

  const DramParameters parameters_;
  const AddressSlice slice_;
  const AddressSlice second_slice_;
  std::byte* data_;  // of the slice's base address
  Tick frontend_;
  DramSchedule schedule_;
  Tick next_retire_{};
  Port port_;
  Port second_port_;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> free_pending_;
  std::vector<DramSchedule::Completion> completed_;
  unsigned waiting_ = 0;  // requests in pending_
  unsigned waiting_writes_ = 0;
};

}  // namespace lacuna
