// The workgroups of a compute unit from launch to completion: resources, initial state, barriers, end.
//
//   launch()         slots, registers and LDS are allocated
//   start()          wavefronts receive their initial state and may issue
//   s_barrier        arrive_at_barrier(): wavefronts are held (StallReason::barrier) until the last running wavefront arrives
//   s_endpgm         end_wavefront(): slot and registers are free
//   last completion  when no wavefront runs and all stores are performed, the LDS is free and workgroup_done is reported
//
// abort() ends the workgroups of a dispatch without a report.
#pragma once

#include <cstdint>
#include <span>

#include "models/compute/compute_unit_context.h"
#include "models/compute/issue/instruction_fetch.h"
#include "models/compute/matrix/matrix_pipe.h"
#include "models/compute/memory/memory_pipe.h"
#include "models/compute/reports/unit_reports.h"
#include "models/compute/wavefront_pool.h"

namespace lacuna {

class WorkgroupLifecycle final : public MemoryPipe::Listener {
 public:
  /// The referenced objects must outlive this object.
  WorkgroupLifecycle(const ComputeUnitParameters& parameters, ComputeUnitPlace place, const ComputeUnitContext& context,
                     WavefrontPool& pool, InstructionFetch& fetch, MemoryPipe& memory, MatrixPipe& matrix,
                     UnitReports& reports);

  /// Sets `group`, the number under which the unit counts work of a dispatch, and `stores` (see WindowGroup).
  void attach(unsigned group, isa::StoreBuffer* stores) {
    group_ = group;
    stores_ = stores;
  }
  /// Sets the apertures of FLAT addresses for wavefronts that start later.
  void set_apertures(std::uint64_t shared, std::uint64_t private_base) {
    shared_aperture_ = shared;
    private_aperture_ = private_base;
  }

  /// Sets whether starts of wavefronts and barriers take time from now on. Without timing, stores go to memory immediately.
  void set_timed(bool timed) { timed_ = buffers_stores_ = timed; }
  /// Without timing: sets whether stores, of resident wavefronts and of those that start later, go to the store buffer. When
  /// buffering ends, wavefronts held by StallReason::order continue at cycle `at`.
  void set_buffered(bool buffered, Cycles at);
  /// Takes a resident wavefront out of simulated time: its memory operations in flight are detached, its account is closed.
  /// Requires that all operations of its dispatch have been dropped (MemoryPipe::drop()).
  void suspend(WavefrontSlot& slot);
  /// Ends the workgroups that waited only for operations that have been dropped.
  void end_dropped();
  /// Puts a wavefront back into simulated time at cycle `at`: its next instruction is fetched then, and its account begins.
  void resume(WavefrontSlot& slot, Cycles at);
  /// Puts the resident workgroups back into simulated time at cycle `at`.
  void resume_workgroups(Cycles at);
  /// Allocates the resources of a workgroup; returns null if they are not free now. `scratch_slots`: one for each wavefront, if
  /// the dispatch uses scratch. Dispatch::wavefronts is not changed.
  ResidentWorkgroup* launch(Dispatch& dispatch, std::uint64_t workgroup, std::span<const std::uint32_t> scratch_slots);
  /// First cycle in which wavefronts launched at `launched` may issue.
  Cycles first_cycle(Tick launched) const { return clock_.ceil(launched) + (timed_ ? launch_latency_ : Cycles{0}); }
  void start(ResidentWorkgroup& group, Cycles at);
  /// Handles s_barrier, and fetches the wavefront's next instruction.
  void arrive_at_barrier(WavefrontSlot& slot, Cycles cycle);
  /// Handles s_endpgm. The slot may be reused afterwards.
  void end_wavefront(WavefrontSlot& slot, Cycles cycle);
  /// Drops the workgroups of a dispatch. Returns their number.
  unsigned abort(const Dispatch& dispatch);

  /// Number of workgroups launched so far.
  const std::uint64_t& workgroups() const { return workgroups_; }
  /// Number of wavefronts launched so far.
  const std::uint64_t& wavefronts() const { return wavefronts_; }

 private:
  void operation_completed(ResidentWorkgroup& group) override { end_workgroup(group); }
  void start_wavefront(WavefrontSlot& slot, std::uint32_t scratch_slot, Cycles start);
  void release_barrier(ResidentWorkgroup& group);
  void end_workgroup(ResidentWorkgroup& group);
  void free(WavefrontSlot& slot);

  const ComputeUnitPlace place_;
  bool timed_;
  bool buffers_stores_;
  const isa::Target target_;
  const Clock clock_;
  const isa::FineGrainedFloatAtomics fine_grained_float_atomics_;
  const Cycles launch_latency_;   ///< latency with timing; without timing it is 0
  const Cycles barrier_latency_;  ///< latency with timing; without timing it is 1 cycle
  GpuVm& vm_;
  WavefrontPool& pool_;
  InstructionFetch& fetch_;
  MemoryPipe& memory_;
  MatrixPipe& matrix_;
  UnitReports& reports_;
  unsigned group_ = 0;
  isa::StoreBuffer* stores_ = nullptr;
  std::uint64_t shared_aperture_ = 0;
  std::uint64_t private_aperture_ = 0;
  std::uint64_t workgroups_ = 0;
  std::uint64_t wavefronts_ = 0;
};

}  // namespace lacuna
