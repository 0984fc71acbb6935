// Cache maintenance of the packet processor: acquire and release fences of packets, PM4 commands, flushes, and cold dispatches.
//
//   scope    acquire                     release
//   none     -                           -
//   agent    invalidates L1 caches       -
//   system   invalidates L1 caches       writes back L2
//
// L1 caches are not coherent: an acquire of agent or system scope drops their lines. They hold no dirty bytes (write-around),
// and L2 is shared by all compute units. Therefore only a release to system scope writes back: the host reads memory downstream
// of L2.
//
// An engine that bypasses L2 (PacketEngine::bypasses_l2) is outside of both scopes: the acquire of its packets, of either
// scope, also writes back L2, so that the engine reads what kernels have written, and the release invalidates L2, so that
// kernels read what the engine has written.
//
// Time: maintenance of all caches of a level starts together, and the calling SC_THREAD waits until the last one is done. With
// TimingMode::functional no cache is touched and no time passes. Decoded instructions are revalidated in every mode.
#pragma once

#include <cstdint>
#include <vector>

#include "include/lacuna/abi/hsa.h"
#include "models/command/dispatcher.h"
#include "models/command/packet_processor_parameters.h"
#include "models/command/pm4.h"
#include "models/common/transport/cache_maintenance.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/isa/decode/decoded_code.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

struct FencesContext {
  TimingMode mode;
  const GpuVm& vm;
  isa::DecodedCode& code;
  const Dispatcher& dispatcher;           ///< when idle, no wavefront refers to decoded instructions: stale ones may be freed
  PacketProcessorStatistics& statistics;  ///< its acquires and releases are incremented
};

class Fences {
 public:
  explicit Fences(const FencesContext& context) : context_(context) {}

  /// Call it before the first fence; the caches outlive this object.
  void set_caches(std::vector<CacheMaintenance*> l1, std::vector<CacheMaintenance*> l2);

  /// `past_l2`: the packet's engine bypasses L2.
  void acquire(hsa::FenceScope scope, bool past_l2 = false);
  void release(hsa::FenceScope scope, bool past_l2 = false);
  /// Performs the cache maintenance of a sequence of PM4 commands, L1 first. Invalidating L2 writes it back.
  void maintain(const Pm4Actions& actions);
  /// Drops all lines of all caches, L1 first; L2 writes back its dirty bytes (cp.flush_before_dispatch).
  void flush();
  /// Lets the dispatch start with cold caches and TLBs (cp.cold_dispatch): its pages get new TLB tags, and L2 drops its clean
  /// lines of the code object's executable segments, the page of arguments and the packet. Takes no time.
  void make_cold(Dispatch& dispatch);

 private:
  void invalidate_l1();
  void maintain_l2(Tick (CacheMaintenance::*operation)(Tick));
  void drop_clean(std::uint64_t address, std::uint64_t bytes);

  FencesContext context_;
  std::vector<CacheMaintenance*> l1_;
  std::vector<CacheMaintenance*> l2_;
};

}  // namespace lacuna
