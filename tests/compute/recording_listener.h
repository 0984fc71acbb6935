// A listener of compute units that records everything that is reported.
#pragma once

#include <vector>

#include "models/compute/compute_unit_listener.h"

namespace lacuna::test {

struct RecordingListener : ComputeUnitListener {
  std::vector<Tick> done;
  std::vector<std::vector<std::uint32_t>> scratch_slots;  ///< scratch slots of each completed workgroup
  std::vector<WavefrontFault> faults;
  std::vector<WavefrontFault> warnings;
  std::vector<std::uint32_t> messages;
  std::vector<isa::WaveSyncRequest> syncs;
  bool sync_passes = true;  ///< result of wave_sync()

  void workgroup_done(const ComputeUnitPlace&, Dispatch&, std::span<const std::uint32_t> slots, Tick at) override {
    done.push_back(at);
    scratch_slots.emplace_back(slots.begin(), slots.end());
  }
  void wavefront_fault(Dispatch&, const WavefrontFault& fault, Tick) override { faults.push_back(fault); }
  void wavefront_warning(Dispatch&, const WavefrontFault& fault, Tick) override { warnings.push_back(fault); }
  void interrupt_message(Dispatch&, std::uint32_t m0, Tick) override { messages.push_back(m0); }
  bool wave_sync(const isa::WaveSyncRequest& request, const WavefrontTicket&, Tick) override {
    syncs.push_back(request);
    return sync_passes;
  }
};

}  // namespace lacuna::test
