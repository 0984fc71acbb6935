// PassPipeline: the order of a step, its end, and the end of the pass.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/sida/pipeline/pass_pipeline.h"

namespace lacuna::sida {

bool PassPipeline::step() {
  if (finished_) return false;
  if (!begun_) begin();

  StepTrace trace;
  trace.step = step_;
  trace.begin = now_;
  const auto read_before = counts_.read_bytes, written_before = counts_.written_bytes;

  // Control stage. E-wise comes to x of the sub-tensor that is fetched now.
  if (step_ != 0) load_code_ = 0;
  prepare_x(step_ + 1);
  const TrafficEstimate estimate = this->estimate();
  const std::uint64_t r = parameters_.eager == Eager::off ? 0 : estimate.r;

  // What the step reads at its begin.
  reads_.clear();
  IsWork work = use_rows();
  use_cached_lines();
  reads_arrive_ = reads_.empty() ? 0 : issuer_.read(reads_, now_);
  StepEnds ends;
  request_vectors();
  run_ewise(ends);
  finish_sums();
  if (!lines_.read_backs().empty()) reads_arrive_ = std::max(reads_arrive_, issuer_.read(lines_.read_backs(), now_));
  issuer_.write(lines_.spills(), now_);
  lines_.read_backs().clear();
  lines_.spills().clear();
  request_columns();
  trace.r_given = r;
  trace.r_used = fetch_eagerly(r);

  run_os(ends);
  if (shape_.has_is && step_ < sub_tensors_) {
    const std::uint64_t kept = rows_.take_in(step_);
    counts_.converted_to_rows += shape_.same_lines ? 0 : kept;
  }
  if (shape_.has_is) {
    const RowStore::Repack repack = rows_.make_room(step_, row_room());
    counts_.repack_moved += repack.moved;
    repack_left_ += (repack.moved + parameters_.is_pes - 1) / parameters_.is_pes;
    if (repack.immediate) work.repack = std::exchange(repack_left_, 0);
  }
  run_is(work, ends);
  last_eager_ = trace.r_used;

  counts_.reloaded += work.reloaded;
  counts_.fetched += work.reloaded;
  counts_.r_given += trace.r_given;
  counts_.r_used += trace.r_used;
  trace.os_entries = shape_.has_os && step_ < sub_tensors_ ? loader_.entries_in(step_) : 0;
  trace.is_entries = work.entries;
  trace.reloaded = work.reloaded;
  end_step(estimate, ends, trace);
  if (parameters_.trace) {
    for (std::size_t kind = 0; kind < kMemoryKinds; ++kind)
      trace.bytes[kind] = counts_.read_bytes[kind] - read_before[kind] + counts_.written_bytes[kind] - written_before[kind];
    trace_.push_back(trace);
  }
  if (++step_ < steps_) return true;
  finish();
  return false;
}

void PassPipeline::end_step(const TrafficEstimate& estimate, const StepEnds& ends, StepTrace& trace) {
  Time end = std::max({now_ + estimate.x, ends.os, ends.ewise, ends.is});
  if (parameters_.prefetch == Prefetch::step && step_ + 1 < sub_tensors_) {
    // The next step waits for what can be requested for it.
    while (loader_.next_time() != ColumnLoader::kNever) advance(loader_.next_time());
    if (const ColumnLoader::Piece* last = shape_.has_os ? loader_.back() : nullptr; last != nullptr)
      end = std::max(end, last->arrival);
    end = std::max({end, wait_for_x(step_ + 1), vectors_arrive_[step_ % 2]});
  }

  // Room, after all uses.
  const BufferContent content{.columns = loader_.held_bytes(),
                              .converted = eager_.held_now() * shape_.entry_bytes,
                              .rows = rows_.space() * shape_.entry_bytes,
                              .lines = lines_.held(step_)};
  if (!parameters_.fixed_csr_entries && content.all() > parameters_.buffer_bytes)
    throw std::logic_error("sida pass: more in the buffer than its capacity");
  lines_.end_step(step_);

  const Time took = end - now_;
  const Time spare = std::min(repack_left_, took - std::min(took, ends.is_busy));
  repack_left_ -= spare;
  counts_.busy[static_cast<std::size_t>(Core::is)] += spare;
  if (repack_left_ == 0 && rows_.repacking()) rows_.end_repack();
  const std::array<Time, kCores> busy{ends.os_busy, ends.ewise_busy, ends.is_busy};
  trace.bound = Bound::memory;
  for (std::size_t core = 0; core < kCores; ++core) {
    counts_.busy[core] += busy[core];
    if (busy[core] >= took && trace.bound == Bound::memory) trace.bound = static_cast<Bound>(core + 1);
  }
  ++counts_.bound[static_cast<std::size_t>(trace.bound)];
  ++counts_.steps;

  counts_.waiting_peak = std::max(counts_.waiting_peak, rows_.waiting());
  counts_.rows_peak = std::max(counts_.rows_peak, rows_.space());
  counts_.buffer_peak = std::max(counts_.buffer_peak, content.all());
  counts_.buffer_sum += content.all();
  if (step_ < sub_tensors_) {
    counts_.waiting_sum += rows_.waiting();
    counts_.rows_sum += rows_.space();
  }

  trace.end = end;
  trace.estimate = estimate.x;
  trace.waiting = rows_.waiting();
  trace.buffer = content;
  const auto step = static_cast<std::int64_t>(step_), sub_tensors = static_cast<std::int64_t>(sub_tensors_);
  const std::array<bool, kCores> present{shape_.has_os, true, shape_.has_is};
  for (std::size_t core = 0; core < kCores; ++core) {
    const std::int64_t sub_tensor = step - static_cast<std::int64_t>(core);
    if (present[core] && sub_tensor >= 0 && sub_tensor < sub_tensors) trace.sub_tensor[core] = sub_tensor;
  }
  now_ = end;
  // The next step's own requests go before columns that could leave at the same time.
  if (end != 0) advance(end - 1);
}

/// Finish code of the last sums, reductions, and the last writes.
void PassPipeline::finish() {
  finished_ = true;
  load_code_ = 0;
  Time at = now_;
  if (done_.elements != 0) {
    at = issuer_.read(done_.reads, now_) + ewise_cycles(done_.elements, shape_.finish, parameters_.ewise_pes);
    issuer_.hold_writes(done_.writes, at);
  }
  const unsigned reductions = shape_.ewise.reductions + shape_.finish.reductions;
  if (reductions != 0) at += tree_stages(parameters_.ewise_pes) + reductions - 1;
  counts_.busy[static_cast<std::size_t>(Core::ewise)] += at - now_;
  issuer_.release(at);
  now_ = std::max(at, issuer_.last());

  counts_.cycles = now_ - start_;
  counts_.evicted = rows_.evictions();
  counts_.repacks = rows_.repacks();
  counts_.converted_to_columns = eager_.converted();
  counts_.discarded = eager_.discarded();
  counts_.conflicts = scatter_.conflicts();
  counts_.conflict_cycles = scatter_.conflict_cycles();
  counts_.lines = lines_.counts();
  check_conservation(counts_, shape_.has_is, rows_.waiting() + eager_.held_now() + loader_.held_bytes());
}

}  // namespace lacuna::sida
