// Detects packets whose submitter spins until they are done.
//
// ROCm's runtime submits its own packets, to copy code into a GPU's memory or to invalidate caches, and then reads the packet's
// signal or the queue's read index in a loop until the packet is done, without a call that this library could replace. Such a
// thread cannot be seen to wait, but its packet can be recognised: it either holds PM4 commands, or its completion signal was
// not created by the program (observed with ROCR-Runtime 5.2.3).
//
// When it waits for PM4 commands, the runtime yields the processor between two reads of the read index. If a yield counts as a
// wait (liblacuna_threads.so), such a packet must not also report its submitter as spinning: the simulated time at which the
// submitter sees the packet done would depend on whether the host runs the submitter far enough to yield.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace lacuna::rocm {

class RuntimePackets {
 public:
  /// Call when the program has created a signal, or destroys one. Until the first call of signal_created(), no signal is
  /// assumed to be the runtime's own.
  void signal_created(std::uint64_t handle);
  void signal_destroyed(std::uint64_t handle);

  /// Call if threads that yield the processor count as waiting (HostWaits::yield()).
  void yields_are_waits() { yields_are_waits_ = true; }

  /// Whether a thread spins until this AQL packet is done. `packet`: a packet in a queue's ring that has not retired.
  bool submitter_spins(const std::byte* packet);

 private:
  bool owns(std::uint64_t signal);

  std::atomic<bool> yields_are_waits_{false};
  std::mutex mutex_;
  bool known_ = false;
  std::unordered_set<std::uint64_t> of_program_;
};

}  // namespace lacuna::rocm
