// A resident wavefront for reports: its position and its wait reason.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "models/compute/dispatch.h"
#include "models/compute/wavefront_observation.h"

namespace lacuna {

class WavefrontInspector;

enum class WavefrontWait : std::uint8_t {
  none,       ///< the wavefront issues its next instruction at its SIMD's turn
  memory,     ///< s_waitcnt
  counter,    ///< vmcnt or lgkmcnt is at its limit
  registers,  ///< a load stage has to fill registers of the next instruction first
  fetch,      ///< fetch of the next instruction
  sleep,      ///< s_sleep
  barrier,    ///< s_barrier
  sync,       ///< global wave sync, or s_icache_inv
  fault,      ///< the wavefront has faulted; the fault has not been reported yet
};

struct WavefrontSnapshot {
  const Dispatch* dispatch = nullptr;
  const WavefrontInspector* unit = nullptr;
  unsigned simd = 0;
  unsigned slot = 0;
  std::uint64_t workgroup = 0;  ///< linear id of the wavefront's workgroup
  std::array<std::uint32_t, 3> workgroup_id{};
  unsigned wave_in_group = 0;
  unsigned work_items = 0;  ///< number of work-items of the wavefront
  std::uint64_t pc = 0;     ///< PC of the instruction that the wavefront waits in, or executes next
  WavefrontWait wait = WavefrontWait::none;
  unsigned vector_memory = 0;  ///< number of operations that vmcnt counts
  unsigned other_memory = 0;   ///< number of operations that lgkmcnt counts
  unsigned wavefronts = 0;     ///< number of wavefronts of the workgroup
  unsigned ended = 0;          ///< number of wavefronts of the workgroup that have ended
  unsigned at_barrier = 0;     ///< number of wavefronts of the workgroup that wait at s_barrier
  /// Future behaviour of a wavefront that can continue.
  std::optional<WavefrontObservation> observation{};

  /// Whether the wavefront can continue without an action of another wavefront.
  bool goes_on() const { return wait < WavefrontWait::barrier; }
};

}  // namespace lacuna
