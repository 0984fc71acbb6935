#include "models/command/kernel_recorder.h"

#include <algorithm>

#include "models/common/time/tlm_time.h"

namespace lacuna {

void KernelRecorder::started(Dispatch& dispatch) {
  if (resources_ != nullptr) {  // values at the start, which add_resources() subtracts
    dispatch.activity.used = resources_->used();
    dispatch.activity.memory = resources_->memory_counts();
  }
  if (energy_ != nullptr) energy_->kernel_started(dispatch.index, dispatch.start);
  for (KernelObserver* observer : observers_) observer->kernel_started(dispatch);
}

void KernelRecorder::ended(const InFlightPacket& packet, End how) {
  const Dispatch& d = *packet.dispatch;
  const Tick end = how == End::unfinished ? kernel_time() : d.end;
  KernelRecord record{.index = d.index,
                      .name = d.kernel,
                      .queue = d.queue_slot,
                      .grid = d.grid,
                      .workgroup = d.workgroup,
                      .start = d.start,
                      .end = end,
                      .cycles = clock_.ceil(end - d.start).n,
                      .workgroups = d.finished_workgroups,
                      .wavefronts = d.wavefronts,
                      .wavefront_instructions = d.wavefront_instructions,
                      .thread_instructions = d.thread_instructions,
                      .wall_seconds = host_seconds() - packet.wall_start,
                      .failed = how == End::failed,
                      .unfinished = how == End::unfinished,
                      .bulk_bytes = d.bulk_bytes,
                      .untimed_instructions = d.estimated.instructions,
                      .skipped_instructions = d.estimated.skipped,
                      .half_width = std::min(clock_.ceil(d.estimated.half_width).n, clock_.ceil(end - d.start).n),
                      .activity = d.activity};
  d.add_open_work(record);
  if (how == End::unfinished) dispatcher_.add_resident(d, record.activity);
  if (resources_ != nullptr) add_resources(d, record);
  if (d.estimated.kind != 0 && how == End::done) extrapolate(d, record);
  if (energy_ != nullptr) record.energy = energy_->kernel_ended(record.index, record.end, untimed_work(d, record));
  for (KernelObserver* observer : observers_) observer->kernel_ended(record);
}

UntimedWork KernelRecorder::untimed_work(const Dispatch& dispatch, const KernelRecord& record) {
  const EstimatedTime& e = dispatch.estimated;
  const double time = static_cast<double>(e.time.ps);
  return {.kind = e.kind,
          .instructions = record.wavefront_instructions + record.skipped_instructions,
          .untimed = e.instructions,
          .half_width = static_cast<double>(e.half_width.ps),
          .half_width_share = time > 0 ? static_cast<double>(e.half_width.ps) / time : 0};
}

void KernelRecorder::extrapolate(const Dispatch& dispatch, KernelRecord& record) {
  const std::uint64_t all = record.wavefront_instructions + record.skipped_instructions;
  const std::uint64_t timed = all - record.untimed_instructions;
  if (timed != 0) {
    const Tick time = record.end - record.start;
    const Tick of_timed = time - dispatch.estimated.time;
    const double work = static_cast<double>(all) / static_cast<double>(timed);
    record.activity.scale(static_cast<double>(time.ps) / static_cast<double>(of_timed.ps), work);
    timed_[dispatch.estimated.kind] = record;
    return;
  }
  const auto like = timed_.find(dispatch.estimated.kind);
  if (like == timed_.end()) return;
  const KernelRecord& other = like->second;
  const auto issued = record.activity.issued;
  const ResourceAmounts available = record.activity.available;
  const std::uint64_t reachable = record.activity.reachable_dram_bytes;
  record.activity = other.activity;
  record.activity.scale(
      static_cast<double>(record.cycles) / static_cast<double>(other.cycles),
      static_cast<double>(all) / static_cast<double>(other.wavefront_instructions + other.skipped_instructions));
  record.activity.issued = issued;
  record.activity.available = available;
  record.activity.reachable_dram_bytes = reachable;
}

void KernelRecorder::add_resources(const Dispatch& dispatch, KernelRecord& record) const {
  KernelActivity& a = record.activity;
  const ResourceAmounts used = resources_->used();
  a.available = resources_->available({record.cycles});
  for (std::size_t i = 0; i < kResources; ++i) a.used[i] = used[i] - dispatch.activity.used[i];
  a.used[static_cast<std::size_t>(Resource::slots)] = a.all().resident;
  // Writes that memory has accepted may be booked beyond the kernel's end: the kernel did not wait for them.
  for (std::size_t i = 0; i < kResources; ++i) a.used[i] = std::min(a.used[i], a.available[i]);
  a.reachable_dram_bytes = resources_->reachable_dram_bytes({record.cycles});
  const MemoryCounts counts = resources_->memory_counts();
  for (std::size_t i = 0; i < kMemoryCounts; ++i) a.memory[i] = counts[i] - dispatch.activity.memory[i];
}

}  // namespace lacuna
