// PassPipeline: stages of a step, its end, and the end of the pass.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/sida/pipeline/pass_pipeline.h"

namespace lacuna::sida {

bool PassPipeline::resume(Time until) {
  while (go_on()) {
  }
  if (stage_ == Stage::complete) return false;
  // Arrivals may have freed space or reduced the bytes in flight: request further columns, and x for them.
  if (until != 0 && shape_.has_os) advance(until - 1);
  while (go_on()) {
  }
  if (keeps_requests_) issuer_.release(kNoLimit);
  return stage_ != Stage::complete;
}

bool PassPipeline::step() {
  if (stage_ == Stage::complete) return false;
  for (const std::uint64_t step = step_; step_ == step || step_ == steps_;) {
    if (go_on()) continue;
    if (stage_ == Stage::complete) return false;
    throw std::logic_error(std::string("sida pass: arrivals are not known immediately: ") + waits_for_);
  }
  return true;
}

const PassCounts& PassPipeline::run() {
  while (step()) {
  }
  return counts_;
}

void PassPipeline::skip(std::span<const Time> begins, Time from) {
  if (begins.empty()) return;
  issuer_.skip(true);
  for (std::uint64_t step = 0; step < begins.size(); ++step) {
    while (stage_ != Stage::step || step_ != step) {
      if (!go_on()) throw std::logic_error(std::string("sida pass: a skipped step waits for ") + waits_for_);
    }
    now_ = std::max(now_, begins[step]);
  }
  now_ = std::max(now_, from);
  if (shape_.has_os) advance(now_ - 1);
  issuer_.release(now_ - 1);
  issuer_.skip(false);
}

/// Runs one stage. Returns false if the stage waits for data, or if the pass is complete.
bool PassPipeline::go_on() {
  switch (stage_) {
    case Stage::begin:
      return begin();
    case Stage::preload:
      return preload();
    case Stage::step:
      return begin_step();
    case Stage::cores:
      return run_cores();
    case Stage::next_sub_tensor:
      return await_next_sub_tensor();
    case Stage::finish:
      return finish();
    case Stage::last_requests:
      return await_last_requests();
    case Stage::complete:
      return false;
  }
  return false;
}

bool PassPipeline::go_on_with(bool known, const char* awaited) {
  waits_for_ = known ? "" : awaited;
  return known;
}

bool PassPipeline::begin() {
  preload_arrives_ = Arrival(start_);
  stage_ = Stage::preload;
  if (shape_.preload && shape_.x_length != 0 && shape_.x_from_memory)
    issuer_.read({MemoryKind::x, Operand::load, 0, shape_.x_length * shape_.x_read_bytes()}, start_, preload_arrives_);
  if (shape_.preload && shape_.x_length != 0) lines_.load_all_x();
  if (shape_.has_os) start_loading();
  return true;
}

bool PassPipeline::preload() {
  if (shape_.preload && shape_.x_length != 0) {
    if (!go_on_with(preload_arrives_.known(), "x, which load code reduces before OS begins")) return false;
    const Time code = ewise_cycles(shape_.x_length, shape_.load, parameters_.ewise_pes);
    const Time reduce = shape_.load.reductions == 0 ? 0 : tree_stages(parameters_.ewise_pes) + shape_.load.reductions - 1;
    counts_.busy[static_cast<std::size_t>(Core::ewise)] += code + reduce;
    now_ = std::max(preload_arrives_.at() + shape_.load.instructions, start_ + code) + reduce;
  }
  stage_ = Stage::step;
  if (shape_.has_os && now_ > start_) advance(now_ - 1);
  return true;
}

void PassPipeline::start_loading() {
  loader_.allow(parameters_.prefetch == Prefetch::step ? 0 : kNoLimit, start_);
  loader_.request_offsets(0, start_, issuer_);
  prepare_x(0);
  advance(start_);
}

/// Runs the control stage, and makes the requests at the beginning of the step.
bool PassPipeline::begin_step() {
  begins_.push_back(now_);
  step_trace_ = {};
  step_trace_.step = step_;
  step_trace_.begin = now_;
  for (std::size_t kind = 0; kind < kMemoryKinds; ++kind)
    bytes_before_[kind] = counts_.read_bytes[kind] + counts_.written_bytes[kind];
  // Load code of this step processes x of the next sub-tensor, which is fetched now. In step 0, the load code of sub-tensor 0
  // counts as well.
  if (step_ != 0) load_code_ = 0;
  prepare_x(step_ + 1);
  estimate_ = estimate();
  const std::uint64_t r = parameters_.eager == Eager::off ? 0 : estimate_.r;
  ends_ = {};
  os_ = {.at = now_};
  columns_arrive_ = now_;

  reads_.clear();
  use_rows();
  use_cached_lines();
  reads_arrive_ = Arrival(now_);
  reads_for_is_ = !reads_.empty();
  if (reads_for_is_) issuer_.read(reads_, now_, reads_arrive_);
  request_vectors();
  ewise_.next = EwiseProgress::Next::elements;
  ewise_.at = now_;
  take_finished();
  finish_sums();
  if (!lines_.read_backs().empty()) {
    reads_for_is_ = true;
    issuer_.read(lines_.read_backs(), now_, reads_arrive_);
  }
  issuer_.write(lines_.spills(), now_);
  lines_.read_backs().clear();
  lines_.spills().clear();
  request_columns();
  step_trace_.r_given = r;
  step_trace_.r_used = fetch_eagerly(r);
  stage_ = Stage::cores;
  return true;
}

/// Passes the sums that the previous step has finished to E-wise, and reads the vectors of the finish code.
void PassPipeline::take_finished() {
  std::swap(ewise_.finished, done_);
  done_.elements = 0;
  done_.reads.clear();
  done_.writes.clear();
  ewise_.arrival = Arrival(now_);
  if (ewise_.finished.elements != 0) issuer_.read(ewise_.finished.reads, now_, ewise_.arrival);
}

bool PassPipeline::run_cores() {
  hold_x(step_);
  hold_x(step_ + 1);
  const bool ewise = run_ewise(), os = run_os();
  if (!go_on_with(os, "columns, or x for them")) return false;
  if (!go_on_with(ewise, "vectors of element-wise code")) return false;
  end_cores();
  if (!go_on_with(run_is(), "rows that are loaded again or ahead, or sums")) return false;
  stage_ = Stage::next_sub_tensor;
  return true;
}

/// Runs once OS has used the step's columns: adds the entries that wait for their row, and makes space for them.
void PassPipeline::end_cores() {
  if (is_work_.taken_in) return;
  is_work_.taken_in = true;
  if (!shape_.has_is) return;
  if (step_ < sub_tensors_) {
    const std::uint64_t kept = rows_.take_in(step_);
    counts_.converted_to_rows += shape_.same_lines ? 0 : kept;
  }
  const RowStore::Repack repack = rows_.make_room(step_, row_room());
  counts_.repack_moved += repack.moved;
  repack_left_ += (repack.moved + parameters_.is_pes - 1) / parameters_.is_pes;
  if (repack.immediate) is_work_.repack = std::exchange(repack_left_, 0);
}

/// With prefetch = step: issues all requests for the next step that space allows, and waits for them.
bool PassPipeline::await_next_sub_tensor() {
  Time end = std::max({now_ + estimate_.x, ends_.os, ends_.ewise, ends_.is});
  if (parameters_.prefetch == Prefetch::step && step_ + 1 < sub_tensors_) {
    while (loader_.next_time() != ColumnLoader::kNever) advance(loader_.next_time());
    if (!go_on_with(!loader_.awaits_requests(), "the next columns")) return false;
    if (const ColumnLoader::Piece* last = shape_.has_os ? loader_.back() : nullptr; last != nullptr) {
      if (!go_on_with(last->arrival.known(), "the next columns")) return false;
      end = std::max(end, last->arrival.at());
    }
    hold_x(step_ + 1);
    Time x = 0;
    const Arrival& vectors = vectors_arrive_[step_ % 2];
    if (!go_on_with(x_arrived(step_ + 1, &x) && vectors.known(), "the next vectors")) return false;
    end = std::max({end, x, vectors.at()});
  }
  return end_step(end);
}

bool PassPipeline::end_step(Time end) {
  last_eager_ = step_trace_.r_used;
  counts_.reloaded += is_work_.reloaded;
  counts_.fetched += is_work_.reloaded;
  counts_.r_given += step_trace_.r_given;
  counts_.r_used += step_trace_.r_used;
  step_trace_.os_entries = shape_.has_os && step_ < sub_tensors_ ? loader_.entries_in(step_) : 0;
  step_trace_.is_entries = is_work_.entries;
  step_trace_.reloaded = is_work_.reloaded;

  // Contents of the buffer after all uses of the step.
  const BufferContent content{.columns = loader_.held_bytes(),
                              .converted = eager_.held_now() * shape_.entry_bytes,
                              .rows = rows_.space() * shape_.entry_bytes,
                              .lines = lines_.held(step_)};
  if (!parameters_.fixed_csr_entries && content.all() > parameters_.buffer_bytes)
    throw std::logic_error("sida pass: more in the buffer than its capacity");
  lines_.end_step(step_);
  count_step(end, content);
  now_ = end;
  // Stop before `end`: requests of the next step precede columns that depart at the same time.
  if (end != 0) advance(end - 1);
  stage_ = ++step_ < steps_ ? Stage::step : Stage::finish;
  return true;
}

void PassPipeline::count_step(Time end, const BufferContent& content) {
  StepTrace& trace = step_trace_;
  const Time took = end - now_;
  const Time spare = std::min(repack_left_, took - std::min(took, ends_.is_busy));
  repack_left_ -= spare;
  counts_.busy[static_cast<std::size_t>(Core::is)] += spare;
  if (repack_left_ == 0 && rows_.repacking()) rows_.end_repack();
  const std::array<Time, kCores> busy{ends_.os_busy, ends_.ewise_busy, ends_.is_busy};
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
  if (!parameters_.trace) return;
  trace.end = end;
  trace.estimate = estimate_.x;
  trace.waiting = rows_.waiting();
  trace.buffer = content;
  const auto step = static_cast<std::int64_t>(step_), sub_tensors = static_cast<std::int64_t>(sub_tensors_);
  const std::array<bool, kCores> present{shape_.has_os, true, shape_.has_is};
  for (std::size_t core = 0; core < kCores; ++core) {
    const std::int64_t sub_tensor = step - static_cast<std::int64_t>(core);
    if (present[core] && sub_tensor >= 0 && sub_tensor < sub_tensors) trace.sub_tensor[core] = sub_tensor;
  }
  for (std::size_t kind = 0; kind < kMemoryKinds; ++kind)
    trace.bytes[kind] = counts_.read_bytes[kind] + counts_.written_bytes[kind] - bytes_before_[kind];
  trace_.push_back(trace);
}

/// Passes the last finished sums to E-wise.
bool PassPipeline::finish() {
  load_code_ = 0;
  ewise_.at = now_;
  take_finished();
  stage_ = Stage::last_requests;
  return true;
}

/// Runs finish code of the last sums, then waits for all requests and for the reductions.
bool PassPipeline::await_last_requests() {
  Finished& finished = ewise_.finished;
  if (finished.elements != 0) {
    if (!go_on_with(ewise_.arrival.known(), "vectors of finish code")) return false;
    ewise_.at = ewise_.arrival.at() + ewise_cycles(finished.elements, shape_.finish, parameters_.ewise_pes);
    issuer_.hold_writes(finished.writes, ewise_.at);
    finished.elements = 0;
  }
  issuer_.release(kNoLimit);
  if (!go_on_with(issuer_.all().known(), "the last requests")) return false;
  Time at = ewise_.at;
  const unsigned reductions = shape_.ewise.reductions + shape_.finish.reductions;
  if (reductions != 0) at += tree_stages(parameters_.ewise_pes) + reductions - 1;
  counts_.busy[static_cast<std::size_t>(Core::ewise)] += at - now_;
  now_ = std::max(at, issuer_.all().at());
  stage_ = Stage::complete;

  counts_.cycles = now_ - start_;
  counts_.evicted = rows_.evictions();
  counts_.repacks = rows_.repacks();
  counts_.converted_to_columns = eager_.converted();
  counts_.discarded = eager_.discarded();
  counts_.conflicts = scatter_.conflicts();
  counts_.conflict_cycles = scatter_.conflict_cycles();
  counts_.lines = lines_.counts();
  check_conservation(counts_, shape_.has_is, rows_.waiting() + eager_.held_now() + loader_.held_bytes());
  return false;
}

}  // namespace lacuna::sida
