// One DRAM channel: banks with open rows, a data bus, a queue of posted writes, and the stored data.
//
// The channel owns a slice of the address range (AddressSlice); transactions carry bus addresses. The data are in a backing
// store, where bus address `base` is byte `store_offset`. `address_map` maps addresses inside the slice to pseudo channel, bank
// group, bank, row and column.
//
// A read takes frontend_latency plus the time in the schedule (models/dram/dram_schedule.h). Writes are posted: like a read, a
// write reaches its queue frontend_latency after it was sent, but for the sender it completes when sent, plus the time that the
// write waits for a queue entry.
//
// Transactions of the sockets return with a forecast of their times. Last-level caches send requests to the ports instead
// (DeferredMemory in models/common/transport/memory_request.h), which respond when the command scheduler has decided the
// request's commands.
//
// The channel may have a second slice, in separate rows, whose contents are not modelled: its transactions have times and
// traffic only. Requests to both slices share the queues.
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
  sc_core::sc_vector<tlm_utils::simple_target_socket<DramChannel>> second;  ///< socket of the second slice, if there is one

  /// Throws std::invalid_argument if the slice's range is not inside the store, or for the same reasons as DramSchedule.
  DramChannel(sc_core::sc_module_name module_name, const DramParameters& parameters, const AddressSlice& slice,
              BackingStore& store, std::uint64_t store_offset = 0, const std::optional<AddressSlice>& second_slice = {});

  /// Ports of the first and the second slice, for clients that wait for their responses. decide() of either port decides both.
  DeferredMemory& port() { return port_; }
  DeferredMemory& second_port() { return second_port_; }

  /// Drains the queues, so that final statistics are complete.
  void finish() { schedule_.finish(); }
  /// Drops open rows and requests in flight; the data stay.
  void reset();
  const DramStatistics& statistics() const { return schedule_.statistics(); }
  /// Registers block dram. Refreshes are charged as mean power, not as events: refreshes also occur without requests, when the
  /// schedule does not count them.
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
  /// A request that a port has accepted, but whose commands are not decided yet.
  struct Pending {
    MemoryClient* client = nullptr;
    std::uint32_t tag = 0;
    bool write = false;
    Tick made{};  // time at which the request was made (MemoryRequest::made)
    Tick at{};    // time at which the request was sent
  };

  void decide(Tick until);
  Tick next_decision();
  void retire_bookings();
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void second_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  /// Adds the time of a transaction to `delay`. Returns false if the transaction was refused or moves no data.
  bool access(tlm::tlm_generic_payload& payload, const AddressSlice& slice, std::uint64_t first_local, sc_core::sc_time& delay);
  void refuse(const tlm::tlm_generic_payload& payload);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  static tlm::tlm_response_status check(const tlm::tlm_generic_payload& payload, const AddressSlice& slice,
                                        const MemoryAttributes* attributes);
  /// SystemC time, without the library call that sc_time_stamp() makes.
  Tick now() const { return to_tick(simcontext()->time_stamp()); }
  std::byte* bytes_at(std::uint64_t address) { return data_ + (address - slice_.base()); }

  const DramParameters parameters_;
  const AddressSlice slice_;
  const AddressSlice second_slice_;
  std::byte* data_;  // byte at the slice's base address
  Tick frontend_;    // frontend_latency
  DramSchedule schedule_;
  Tick next_retire_{};
  Port port_;
  Port second_port_;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> free_pending_;
  std::vector<DramSchedule::Completion> completed_;
  unsigned waiting_ = 0;         // number of requests in pending_
  unsigned waiting_writes_ = 0;  // number of writes in pending_
};

}  // namespace lacuna
