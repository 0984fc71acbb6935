// Global wave sync: 64 counters, each with a queue of wavefronts, used as barriers or semaphores (Vega ISA manual,
// "DS_GWS_INIT" and following). No timing: WaveSyncUnit decides when a released wavefront resumes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/compute/dispatch.h"
#include "models/isa/memory/wave_sync.h"

namespace lacuna {

struct WavefrontTicket;

/// A unit whose wavefronts may wait for global wave sync.
class WaveSyncUnit {
 public:
  virtual ~WaveSyncUnit() = default;
  /// Resumes the wavefront, at `at` or slightly later.
  virtual void release_from_sync(const WavefrontTicket& wavefront, Tick at) = 0;
};

/// Identifies a resident wavefront.
struct WavefrontTicket {
  const Dispatch* dispatch = nullptr;
  WaveSyncUnit* unit = nullptr;
  unsigned simd = 0;
  unsigned slot = 0;
};

class GlobalWaveSync {
 public:
  static constexpr unsigned kResources = 64;

  /// Performs a request. Returns whether the wavefront continues; otherwise it waits until a later call lists it in released().
  bool perform(const isa::WaveSyncRequest& request, const WavefrontTicket& wavefront);
  /// Waiting wavefronts that the last perform() has released, in the order of their arrival.
  const std::vector<WavefrontTicket>& released() const { return released_; }
  /// Drops the waiting wavefronts of a dispatch.
  void drop(const Dispatch& dispatch);

 private:
  /// `counter`: for a barrier, one less than the number of wavefronts that have yet to arrive; for a semaphore, its value.
  struct Resource {
    std::int64_t counter = 0;
    std::deque<WavefrontTicket> waiting;
  };
  bool arrive(Resource& resource, std::uint32_t value, const WavefrontTicket& wavefront);
  void let_pass(Resource& resource);

  std::array<Resource, kResources> resources_;
  std::vector<WavefrontTicket> released_;
};

}  // namespace lacuna
