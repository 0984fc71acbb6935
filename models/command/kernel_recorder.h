// Creates the record of each kernel at its end, from the counts of the dispatch, of the device's resource meter and of its
// energy meter. Passes the record to the observers in the order in which they were added.
#pragma once

#include <cstdint>
#include <map>
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

  /// `clock`: clock of KernelRecord::cycles. `dispatcher`: source of the residence times of unfinished kernels.
  KernelRecorder(Clock clock, const Dispatcher& dispatcher) : clock_(clock), dispatcher_(dispatcher) {}

  void add_observer(KernelObserver& observer) { observers_.push_back(&observer); }
  /// Sets the resource meter. Without it KernelRecord::activity has no resources.
  void set_resource_meter(const ResourceMeter& resources) { resources_ = &resources; }
  /// Sets the energy meter. Without it records have no energy.
  void set_energy_meter(KernelEnergyMeter& energy) { energy_ = &energy; }

  /// Records the start of a dispatch at Dispatch::start, which is the current SystemC time or up to cp.launch_latency before
  /// it. Dispatch::index must be set.
  void started(Dispatch& dispatch);
  /// Records the end of a packet's dispatch: now for End::unfinished, at Dispatch::end otherwise.
  void ended(const InFlightPacket& packet, End how);

 private:
  void add_resources(const Dispatch& dispatch, KernelRecord& record) const;
  static UntimedWork untimed_work(const Dispatch& dispatch, const KernelRecord& record);
  /// Scales the activity of the timed part up to the whole kernel. A kernel without a timed part receives the scaled activity
  /// of the last kernel of the same EstimatedTime::kind that had a timed part.
  void extrapolate(const Dispatch& dispatch, KernelRecord& record);

  Clock clock_;
  const Dispatcher& dispatcher_;
  std::vector<KernelObserver*> observers_;
  const ResourceMeter* resources_ = nullptr;
  KernelEnergyMeter* energy_ = nullptr;
  std::map<std::uint64_t, KernelRecord> timed_;  ///< last kernel with a timed part, by EstimatedTime::kind
};

}  // namespace lacuna
