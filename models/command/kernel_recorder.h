// Records of kernels: made at their end from what the dispatch, the device's resource meter and its energy meter have counted,
// and passed to the observers in the order in which these were added.
#pragma once

#include <cstdint>
#include <vector>

#include "models/command/dispatcher.h"
#include "models/command/kernel_record.h"
#include "models/command/queue.h"
#include "models/common/time/units.h"
#include "models/compute/kernel_activity.h"
#include "models/energy/kernel_energy.h"

namespace lacuna {

class KernelRecorder {
 public:
  enum class End : std::uint8_t { done, failed, unfinished };

  /// `clock`: KernelRecord::cycles are its cycles. `dispatcher` knows the wavefronts of unfinished kernels.
  KernelRecorder(Clock clock, const Dispatcher& dispatcher) : clock_(clock), dispatcher_(dispatcher) {}

  void add_observer(KernelObserver& observer) { observers_.push_back(&observer); }
  /// Without, KernelRecord::activity has no resources.
  void set_resource_meter(const ResourceMeter& resources) { resources_ = &resources; }
  /// Without, records have no energy.
  void set_energy_meter(KernelEnergyMeter& energy) { energy_ = &energy; }

  /// The dispatch starts at Dispatch::start, which is the kernel's time or up to launch_latency before it; its index is set.
  void started(Dispatch& dispatch);
  /// A packet with a dispatch. Of End::unfinished kernels the record ends now, of all others at Dispatch::end.
  void ended(const InFlightPacket& packet, End how);

 private:
  void add_resources(const Dispatch& dispatch, KernelRecord& record) const;

  Clock clock_;
  const Dispatcher& dispatcher_;
  std::vector<KernelObserver*> observers_;
  const ResourceMeter* resources_ = nullptr;
  KernelEnergyMeter* energy_ = nullptr;
};

}  // namespace lacuna
