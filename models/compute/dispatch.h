// One kernel dispatch in flight: its packet and kernel descriptor, and its progress.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "include/lacuna/abi/hsa.h"
#include "models/common/containers/bit_set.h"
#include "models/common/time/units.h"
#include "models/compute/kernel_activity.h"
#include "models/isa/target.h"

namespace lacuna {

/// Private-segment backing memory of a queue, as amd_queue_t describes it.
struct ScratchSetup {
  std::array<std::uint32_t, 4> resource_descriptor{};  ///< V# for buffer accesses with swizzle
  std::uint64_t backing_location = 0;                  ///< gfx8: offset from the scratch pool's base; gfx9: GPU virtual address
  std::uint64_t pool_base = 0;                         ///< GPU virtual address that FLAT scratch offsets count from
  std::uint64_t base = 0;                              ///< GPU virtual address of the first slot
  std::uint64_t bytes = 0;                             ///< bytes of all slots
  std::uint32_t wave_bytes = 0;                        ///< bytes of one wavefront's slot
  std::uint32_t wave_slots = 0;                        ///< number of slots in the backing memory; 0: none
};

/// An object in GPU memory.
struct DispatchObject {
  std::uint64_t address = 0;  ///< GPU virtual address
  unsigned bytes = 0;
};

/// Resources of a compute unit that a workgroup needs.
struct WorkgroupNeeds {
  unsigned wavefronts = 0;
  unsigned vgprs = 0;  ///< per lane, rounded to the allocation granule
  unsigned agprs = 0;
  unsigned sgprs = 0;
  std::uint32_t lds_bytes = 0;
};

/// Counters of a dispatch's work on the compute units of a group (models/compute/windows.h).
struct alignas(64) DispatchWork {
  std::uint64_t wavefront_instructions = 0;
  std::uint64_t thread_instructions = 0;
  KernelActivity activity;
};

/// Part of a dispatch's time that is an estimate, because instructions ran without timing (models/sampling).
struct EstimatedTime {
  std::uint64_t kind = 0;          ///< number of the class of launches that the dispatch belongs to; 0: none
  std::uint64_t instructions = 0;  ///< wavefront instructions of the dispatch that were not timed
  std::uint64_t skipped = 0;       ///< untimed instructions that did not execute: their results are not computed
  Tick time{};                     ///< estimated time of the untimed instructions
  Tick half_width{};               ///< half of the 95 % confidence interval of `time`
  bool any() const { return instructions != 0; }
};

struct Dispatch {
  // -- request
  std::uint64_t index = 0;  ///< 0, 1, ... in order of launch over all queues
  std::string kernel;
  unsigned queue_slot = 0;
  std::uint64_t packet_index = 0;
  std::uint64_t packet_address = 0;  ///< GPU virtual address of the packet in the ring
  std::uint64_t queue_address = 0;   ///< GPU virtual address of the amd_queue_t
  hsa::KernelDispatchPacket packet{};
  hsa::KernelDescriptor descriptor;
  std::uint64_t entry = 0;  ///< GPU virtual address of the first instruction
  std::array<std::uint32_t, 3> workgroups{1, 1, 1};
  std::array<std::uint32_t, 3> grid{1, 1, 1};       ///< work-items; 1 in unused dimensions
  std::array<std::uint32_t, 3> workgroup{1, 1, 1};  ///< work-items
  WorkgroupNeeds needs;
  ScratchSetup scratch;
  std::vector<DispatchObject> objects;  ///< objects read before the dispatch starts, besides packet and kernel descriptor
  int priority = 0;                     ///< dispatches of higher priority are placed on compute units first
  std::vector<std::uint32_t> cu_mask;   ///< see QueueSetup::cu_mask; empty = all compute units
  bool timed_whole = false;             ///< whether no part of the dispatch may run without timing
  bool may_sync_grid = false;           ///< whether the queue may use global wave sync
  /// Value that the addresses of code, arguments and packet are XORed with for the TLBs: unique for each launch with
  /// cp.cold_dispatch, otherwise 0.
  std::uint64_t page_salt = 0;

  // -- progress
  bool held = false;     ///< whether the launch of workgroups is suspended
  BitSet may_have_room;  ///< compute units (by the dispatcher's numbers) that may have room: they have not refused a launch
  std::uint64_t next_workgroup = 0;
  std::uint64_t finished_workgroups = 0;
  EstimatedTime estimated;
  bool ending = false;  ///< whether all workgroups are done, but the estimated part of the dispatch's time has not passed yet
  bool failed = false;  ///< whether a wavefront has faulted: no workgroup is launched, and running wavefronts are dropped
  Tick start{};
  Tick end{};
  std::uint64_t bulk_bytes = 0;  ///< bytes copied or filled without executing instructions, see BulkBlits
  std::uint64_t wavefronts = 0;
  /// Counters by group; null: the group has had no workgroup. Groups count concurrently; collect() sums the counters.
  std::vector<std::unique_ptr<DispatchWork>> work;
  std::uint64_t wavefront_instructions = 0;
  /// Active lanes summed over vector, vector-memory and LDS instructions; a scalar or control instruction adds 1.
  std::uint64_t thread_instructions = 0;
  KernelActivity activity;  ///< empty in functional mode

  /// Whether an address is in the page in which the arguments or the packet begin.
  bool launch_page(std::uint64_t address) const {
    constexpr std::uint64_t kPage = 4096;
    return address / kPage == packet.kernarg_address / kPage || address / kPage == packet_address / kPage;
  }
  /// Bytes of a lane's private memory: the packet's value, rounded up to dwords.
  std::uint64_t private_bytes() const { return (std::uint64_t{packet.private_segment_size} + 3) & ~std::uint64_t{3}; }
  std::uint64_t total_workgroups() const { return std::uint64_t{workgroups[0]} * workgroups[1] * workgroups[2]; }
  bool all_launched() const { return next_workgroup == total_workgroups(); }
  bool done() const { return finished_workgroups == total_workgroups(); }
  DispatchWork& work_of(unsigned group) {
    if (work.size() <= group) work.resize(group + 1);
    if (work[group] == nullptr) {
      work[group] = std::make_unique<DispatchWork>();
      work[group]->activity.classes.resize(needs.wavefronts);  // not resized later: wavefronts hold references to their classes
    }
    return *work[group];
  }
  /// Number of wavefront instructions in counters that have not been collected yet.
  std::uint64_t open_instructions() const {
    std::uint64_t sum = 0;
    for (const auto& part : work) sum += part == nullptr ? 0 : part->wavefront_instructions;
    return sum;
  }
  /// Adds the counters that have not been collected yet to `sums`, which has the members of DispatchWork. Call it between
  /// windows.
  template <class Sums>
  void add_open_work(Sums& sums) const {
    for (const auto& part : work) {
      if (part == nullptr) continue;
      sums.wavefront_instructions += part->wavefront_instructions;
      sums.thread_instructions += part->thread_instructions;
      sums.activity += part->activity;
    }
  }
  /// Collects the counters of all groups, when the dispatch has ended.
  void collect() {
    add_open_work(*this);
    work.clear();
  }
};

}  // namespace lacuna
