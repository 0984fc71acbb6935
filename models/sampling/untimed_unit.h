// A compute unit that executes workgroups without timing, in addition to the timed units: whole workgroups of a sampled kernel
// run here while the state of the timed units does not change.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <memory>
#include <systemc>

#include "models/command/dispatcher.h"
#include "models/compute/compute_unit.h"
#include "models/compute/windows.h"

namespace lacuna {

class UntimedUnit final : public sc_core::sc_module, private ComputeUnitListener {
 public:
  /// `context`: that of the timed units; its mode, listener and stages are not used. Faults are reported to `dispatcher`.
  UntimedUnit(sc_core::sc_module_name name, const ComputeUnitParameters& parameters, ComputeUnitContext context,
              Dispatcher& dispatcher);

  /// Executes the dispatch's next `count` workgroups, which have not been launched, and counts them as finished. The dispatch
  /// must use no scratch memory. Returns the number of workgroups that have ended: fewer than `count` if workgroups wait or the
  /// dispatch has failed. Waiting workgroups continue in simulated time, and are counted when they end.
  std::uint64_t execute(Dispatch& dispatch, std::uint64_t count, std::uint64_t most_instructions);
  /// Drops the workgroups of a dispatch.
  void abort(const Dispatch& dispatch) { unit_.abort(dispatch); }
  void reset();
  ComputeUnit& unit() { return unit_; }
  bool idle() const { return unit_.idle(); }

 private:
  void workgroup_done(const ComputeUnitPlace& unit, Dispatch& dispatch, std::span<const std::uint32_t> scratch_slots,
                      Tick at) override;
  void wavefront_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick at) override;
  void wavefront_warning(Dispatch& dispatch, const WavefrontFault& fault, Tick at) override;
  void interrupt_message(Dispatch& dispatch, std::uint32_t m0, Tick at) override;
  bool wave_sync(const isa::WaveSyncRequest& request, const WavefrontTicket& wavefront, Tick at) override;
  void ignore(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  using Target = tlm_utils::simple_target_socket<UntimedUnit>;
  Dispatcher& dispatcher_;
  const Clock clock_;
  Target vector_{"vector"};  // never used: an untimed unit makes no requests
  Target scalar_{"scalar"};
  Target instruction_{"instruction"};
  Windows windows_;
  LdsBanks lds_banks_;
  ComputeUnit unit_;
  bool executing_ = false;
  std::uint64_t ended_ = 0;
};

}  // namespace lacuna
