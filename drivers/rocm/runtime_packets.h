// Packets whose submitter spins until they are done.
//
// ROCm's runtime submits packets of its own, to copy code into a GPU's memory or to invalidate caches, and then reads the
// packet's signal or the queue's read index until it is done, without a call that this library could replace. Such a thread
// cannot be seen to wait, but its packet tells: it either holds PM4 commands, or its completion signal is one that the program
// has not created (seen with ROCR-Runtime 5.2.3).
//
// Between two looks at the read index, that is for PM4 commands, the runtime yields the processor. Where that is a wait
// (liblacuna_threads.so), the packet must not say that its submitter spins: a submitter that the host lets run until it yields
// and one that it does not would see the packet done at different simulated times.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace lacuna::rocm {

class RuntimePackets {
 public:
  /// A program has created or destroys a signal. Until the first one no signal is known to be the runtime's own.
  void signal_created(std::uint64_t handle);
  void signal_destroyed(std::uint64_t handle);

  /// Threads that yield the processor are seen to wait (HostWaits::yield()).
  void yields_are_waits() { yields_are_waits_ = true; }

  /// Whether a thread spins until this AQL packet, which is in a queue's ring and not retired, is done.
  bool submitter_spins(const std::byte* packet);

 private:
  bool owns(std::uint64_t signal);

  std::atomic<bool> yields_are_waits_{false};
  std::mutex mutex_;
  bool known_ = false;
  std::unordered_set<std::uint64_t> of_program_;
};

}  // namespace lacuna::rocm
