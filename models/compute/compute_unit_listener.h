// Events that compute units report to the dispatcher.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/common/time/units.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/dispatch.h"
#include "models/compute/global_wave_sync.h"

namespace lacuna {

/// A guest error of a wavefront, with everything that a report needs.
struct WavefrontFault {
  std::uint32_t code = 0;  ///< LACUNA_FAULT_*
  std::uint64_t address = 0;
  std::uint64_t pc = 0;
  std::string what;   ///< kind of error, lane, address, nearest mapping
  std::string where;  ///< appended to kernel and PC in the report: instruction, workgroup, wavefront, compute unit
};

/// Receives events of compute units: with timing, at the ends of windows (models/compute/windows.h), in order of their times,
/// which are ahead of the SystemC kernel; in functional mode, immediately.
class ComputeUnitListener {
 public:
  virtual ~ComputeUnitListener() = default;
  /// All wavefronts of a workgroup have ended and its stores are performed at `at`; its resources are free from then on.
  /// `scratch_slots` are those passed to ComputeUnit::launch().
  virtual void workgroup_done(const ComputeUnitPlace& unit, Dispatch& dispatch, std::span<const std::uint32_t> scratch_slots,
                              Tick at) = 0;
  /// A wavefront cannot continue. The listener is expected to abort the dispatch on all units.
  virtual void wavefront_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick at) = 0;
  /// A wavefront has executed an operation that silicon does not perform, and continues. Called once for each unit, kernel and
  /// instruction.
  virtual void wavefront_warning(Dispatch& dispatch, const WavefrontFault& fault, Tick at) = 0;
  /// A wavefront has executed s_sendmsg MSG_INTERRUPT.
  virtual void interrupt_message(Dispatch& dispatch, std::uint32_t m0, Tick at) = 0;
  /// A wavefront executes a ds_gws_* instruction. Returns false if the wavefront must wait until
  /// WaveSyncUnit::release_from_sync() is called for its ticket.
  virtual bool wave_sync(const isa::WaveSyncRequest& request, const WavefrontTicket& wavefront, Tick at) = 0;
};

}  // namespace lacuna
