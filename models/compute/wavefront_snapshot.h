// A resident wavefront as reports see it: where it is and what it waits for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "models/compute/dispatch.h"
#include "models/compute/wavefront_observation.h"

namespace lacuna {

class WavefrontInspector;

enum class WavefrontWait : std::uint8_t {
  none,       ///< it issues its next instruction when it is its turn
  memory,     ///< s_waitcnt
  counter,    ///< vmcnt or lgkmcnt is at its limit
  registers,  ///< registers of its next instruction that a load stage has yet to fill
  fetch,      ///< its next instruction
  sleep,      ///< s_sleep
  barrier,    ///< s_barrier
  sync,       ///< global wave sync
  fault,      ///< it has faulted, which has not been reported yet
};

struct WavefrontSnapshot {
  const Dispatch* dispatch = nullptr;
  const WavefrontInspector* unit = nullptr;
  unsigned simd = 0;
  unsigned slot = 0;
  std::uint64_t workgroup = 0;  ///< linear number
  std::array<std::uint32_t, 3> workgroup_id{};
  unsigned wave_in_group = 0;
  unsigned work_items = 0;  ///< of the wavefront
  std::uint64_t pc = 0;     ///< of the instruction that it waits in, or that it executes next
  WavefrontWait wait = WavefrontWait::none;
  unsigned vector_memory = 0;  ///< operations that vmcnt counts
  unsigned other_memory = 0;   ///< and those of lgkmcnt
  // Of its workgroup:
  unsigned wavefronts = 0;
  unsigned ended = 0;
  unsigned at_barrier = 0;
  /// Of wavefronts that wait for nothing but time.
  std::optional<WavefrontObservation> observation{};

  /// It goes on without another wavefront.
  bool goes_on() const { return wait < WavefrontWait::barrier; }
};

}  // namespace lacuna
