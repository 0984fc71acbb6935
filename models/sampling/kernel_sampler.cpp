#include "models/sampling/kernel_sampler.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

namespace {

// Untimed parts of workgroups, as shares of the remaining kernel: of the first part, after a single sample, and of the later
// parts, which have equal lengths, after samples that agree.
constexpr double kFirstShare = 0.1;
constexpr double kLaterShare = 0.2;
// Generations of workgroups that are launched and timed after the last untimed part, in addition to the resident generation:
// one is a sample, one is the end of the kernel.
constexpr double kLastGenerations = 2.1;
// If the mean number of instructions of a part's workgroups differs from the sample's by more than this share, the workgroups
// are of other kinds, or of the same kinds in another mixture: the 95 % interval of their rate is twice the difference.
constexpr double kSameWorkgroups = 0.02;
// Standard error of a sample of workgroups, as a share of its rate.
constexpr double kErrorOfWorkgroups = 0.005;
// Errors that samples cannot show, as shares of the untimed time: caches, queues and the phases of wavefronts differ from those
// of a run that is timed throughout. From the comparisons in docs/guide/sampling.md.
constexpr double kUnseenInWorkgroups = 0.08;
constexpr double kUnseenBetween = 0.025;

}  // namespace

KernelSampler::KernelSampler(const SamplingParameters& parameters, Clock clock, Windows& windows, Dispatcher& dispatcher,
                             std::vector<ComputeUnit*> units, UntimedUnits& untimed, SkippedResults& skipped,
                             const isa::MemoryInterface& memory, CodeCheck waits, Cycles l2_refill)
    : parameters_(parameters),
      clock_(clock),
      windows_(windows),
      dispatcher_(dispatcher),
      units_(std::move(units)),
      untimed_(untimed),
      skipped_(skipped),
      memory_(memory),
      waits_(std::move(waits)),
      l2_refill_(l2_refill),
      classes_(parameters.error) {
  dispatcher_.set_sampler(this);
  windows_.set_end_listener(this);
}

void KernelSampler::reset() {
  classes_ = KernelClasses(parameters_.error);
  current_ = nothing();
  untimed_.reset();
  skipped_.reset();
  last_index_ = ~std::uint64_t{0};
  previous_class_ = 0;
  previous_family_ = 0;
  previous_timed_ = true;
}

Tick KernelSampler::ticks(double cycles) const {
  return clock_.ticks(Cycles{static_cast<std::uint64_t>(std::llround(cycles))});
}

// -- kernels

void KernelSampler::about_to_start(Dispatch& dispatch) {
  if (dispatch.index == last_index_) return;
  begin(dispatch, later(windows_.end(), clock_.ceil(kernel_time())), true);
  dispatch.estimated.kind = current_.number;
  // The L2 is in the state in which the last timed launch left it, so any of its lines may be wrong.
  if (!current_.comparable) dispatch.estimated.half_width = clock_.ticks(l2_refill_);
  if (!parameters_.across_kernels || dispatch.timed_whole) return;
  if (dispatch.may_sync_grid || current_.may_wait) {
    if (!current_.comparable) classes_.follows(KernelClasses::kNever, previous_number_);
    return;
  }
  if (const auto prediction = classes_.predict(current_.number, dispatch.total_workgroups())) {
    previous_number_ = prediction->number;
    dispatch.estimated.kind = prediction->number;
    if (prediction->of_family) ++predicted_by_size_;
    run_whole(dispatch, *prediction);
  } else if (!current_.comparable) {
    classes_.follows(current_.number, previous_number_);
  }
}

KernelSampler::Current KernelSampler::nothing() {
  return {.of_workgroups = SampledTime(kUnseenBetween), .time = SampledTime(kUnseenInWorkgroups)};
}

void KernelSampler::begin(const Dispatch& dispatch, Cycles now, bool alone) {
  ++kernels_;
  KernelKey key{.entry = dispatch.entry, .workgroup = dispatch.workgroup, .lds_bytes = dispatch.needs.lds_bytes};
  const std::uint64_t any_grid = classes_.find_family(key);
  key.previous = previous_family_;
  const std::uint64_t family = classes_.find_family(key);
  key.grid = dispatch.grid;
  key.previous = 0;
  const std::uint64_t code = classes_.find(key);
  key.previous = previous_class_;
  current_ = nothing();
  current_.family = family;
  current_.any = classes_.find(key, family);
  key.arguments = hash_of_arguments(dispatch);
  current_.same = classes_.find(key, family);
  current_.number = classes_.varies(current_.any) ? current_.same : current_.any;
  current_.alone = alone;
  current_.comparable = previous_timed_;
  current_.launched = now;
  current_.may_wait = waits_.problem(dispatch.entry) != nullptr;
  if (current_.may_wait) ++refused_;
  restart_slices(now);
  last_index_ = dispatch.index;
  previous_class_ = code;
  previous_family_ = any_grid;
  previous_timed_ = true;
}

void KernelSampler::ended(const Dispatch& dispatch) {
  if (dispatch.index != last_index_ || !current_.alone || current_.whole) return;
  const auto cycles = [this](Tick time) { return static_cast<double>(clock_.ceil(time).n); };
  const TimedLaunch launch{.cycles = cycles(dispatch.end) - static_cast<double>(current_.launched.n),
                           .half_width = cycles(dispatch.estimated.half_width),
                           .instructions = dispatch.wavefront_instructions,
                           .workgroups = dispatch.total_workgroups(),
                           .comparable = current_.comparable};
  for (const std::uint64_t number : {current_.any, current_.same, current_.family}) classes_.add(number, launch);
}

// Words that are addresses of mapped memory are ignored: launches that differ only in their buffers are of the same kind.
std::uint64_t KernelSampler::hash_of_arguments(const Dispatch& dispatch) const {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  std::uint64_t hash = 1;
  const std::uint64_t end = dispatch.packet.kernarg_address + dispatch.descriptor.kernarg_bytes;
  const isa::MemoryWindow window = memory_.find(dispatch.packet.kernarg_address);
  if (!isa::allows(window.granted, isa::Access::read)) return hash;
  for (std::uint64_t at = dispatch.packet.kernarg_address; at + 8 <= end && window.contains(at, 8); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, window.host + (at - window.base), sizeof word);
    if (memory_.find(word).contains(word, 1)) word = 0;
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
  }
  return hash;
}

void KernelSampler::window_complete(Cycles end) {
  const std::vector<Dispatch*>& dispatches = dispatcher_.dispatches();
  if (dispatches.size() != 1) {
    current_.alone = false;
    restart_slices(end);
    return;
  }
  Dispatch& dispatch = *dispatches.front();
  if (dispatch.failed || dispatch.held || dispatch.done() || dispatch.may_sync_grid || dispatch.timed_whole) return;
  if (current_.whole || current_.may_wait) return;
  if (dispatch.index != last_index_) {
    begin(dispatch, end, false);
    dispatch.estimated.kind = current_.number;
  }
  current_.generation = std::max(current_.generation, dispatch.next_workgroup - dispatch.finished_workgroups);
  if (count_workgroups(dispatch, end)) return;
  if (!parameters_.within_workgroups) return;
  if (!end_slice(dispatch, end) || current_.slices.size() < parameters_.slices) return;
  // Rates between two generations of workgroups differ from those within a generation.
  if (dispatch.finished_workgroups != current_.finished) {
    restart_slices(end);
    return;
  }
  if (end < current_.launched + parameters_.shortest || !has_long_wavefronts(dispatch)) return;
  if (const auto sample = steady_sample(current_.slices, parameters_.error)) sample_taken(dispatch, *sample, end);
}

// -- parts without timing

unsigned KernelSampler::resident() const {
  unsigned sum = 0;
  for (const ComputeUnit* unit : units_) sum += unit->resident_wavefronts();
  return sum;
}

InstructionMix KernelSampler::mix() const {
  InstructionMix sum{};
  for (const ComputeUnit* unit : units_) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += unit->statistics().issued[i];
  }
  return sum;
}

bool KernelSampler::runs(const Dispatch& dispatch) const {
  const std::vector<Dispatch*>& all = dispatcher_.dispatches();
  return std::find(all.begin(), all.end(), &dispatch) != all.end() && !dispatch.failed;
}

void KernelSampler::suspend(const Dispatch& dispatch, Cycles from) {
  untimed_listener_(true);
  dispatcher_.set_untimed(true);
  for (ComputeUnit* unit : units_) unit->suspend_timing(dispatch, from);
  windows_.deliver_reports();
  dispatcher_.refill();
}

void KernelSampler::resume(Cycles at) {
  for (ComputeUnit* unit : units_) unit->resume_timing(at);
  untimed_listener_(false);
}

void KernelSampler::update_estimate(Dispatch& dispatch) const {
  const TimeEstimate within = current_.time.estimate();
  const TimeEstimate workgroups = current_.of_workgroups.estimate();
  dispatch.estimated.time = ticks(within.cycles + workgroups.cycles);
  const double stale = current_.comparable ? 0 : static_cast<double>(l2_refill_.n);
  dispatch.estimated.half_width = ticks(std::hypot(within.half_width, workgroups.half_width, stale));
}

// -- workgroups

double KernelSampler::elapsed(Cycles end) const {
  return static_cast<double>((end - current_.launched).n) + current_.time.estimate().cycles;
}

bool KernelSampler::count_workgroups(Dispatch& dispatch, Cycles end) {
  Current& c = current_;
  const std::uint64_t finished = dispatch.finished_workgroups;
  const std::uint64_t resident = dispatch.next_workgroup - finished;
  if (c.other_workgroups || dispatch.total_workgroups() < kManyGenerations * resident) return false;
  if (dispatch.all_launched() || dispatch.scratch.wave_bytes > 0 || end < c.mark_from) return false;
  if (!c.mark) {
    if (finished >= c.mark_after + resident) c.mark = {elapsed(end), dispatch.open_instructions(), finished, resident, mix()};
    return false;
  }
  const std::uint64_t ended = finished - c.mark->finished;
  const double cycles = elapsed(end) - c.mark->elapsed;
  if (ended < c.mark->resident || cycles < static_cast<double>(parameters_.slice.n * 2 * parameters_.slices)) return false;
  const std::uint64_t instructions = dispatch.open_instructions() - c.mark->instructions;
  const double each = static_cast<double>(instructions) / static_cast<double>(ended);
  // The work of skipped workgroups is unknown: it may be as much as that of the workgroups after them.
  c.of_workgroups.doubt(
      static_cast<std::uint64_t>(std::abs(each - c.skipped_each) * static_cast<double>(std::exchange(c.skipped, 0))));
  const InstructionMix of_sample = difference(mix(), c.mark->mix);
  c.mark.reset();
  if (end < c.launched + parameters_.shortest) return false;
  const double rate = cycles / static_cast<double>(instructions);
  c.of_workgroups.add({.cycles_per_instruction = rate, .error = kErrorOfWorkgroups * rate, .instructions = instructions});
  ++samples_;
  if (c.of_workgroups.samples().size() > 1) {
    if (!c.of_workgroups.settled(parameters_.error)) {
      c.workgroups = std::max(1.0, c.workgroups / 2);
      c.part = 0;
    } else {
      c.workgroups = std::min(2 * c.workgroups, kLongest);
      const auto left = static_cast<double>(dispatch.total_workgroups() - dispatch.next_workgroup);
      if (c.part == 0) c.part = kLaterShare * left;
    }
  }
  const std::uint64_t count = choose_workgroups(dispatch, ended);
  if (count == 0) {
    update_estimate(dispatch);
    return false;
  }
  const InstructionMix before = untimed_.issued();
  const std::uint64_t passed = pass_workgroups(dispatch, count, each);
  c.of_workgroups.add_untimed(passed);
  const double differs = std::abs(static_cast<double>(passed) / (static_cast<double>(count) * each) - 1);
  if (parameters_.untimed == UntimedParts::executed && differs > kSameWorkgroups)
    c.of_workgroups.doubt(static_cast<std::uint64_t>(std::min(1.0, 2 * differs) * static_cast<double>(passed)));
  // Workgroups that wait for others execute a different mix without timing: the sample does not apply to them.
  if (parameters_.untimed == UntimedParts::executed && passed > 0 &&
      !is_alike(of_sample, difference(untimed_.issued(), before))) {
    c.other_workgroups = true;
    c.of_workgroups.doubt(passed);
  }
  untimed_instructions_ += passed;
  dispatch.estimated.instructions += passed;
  update_estimate(dispatch);
  // The next sample begins when the resident workgroups have ended: the workgroups after the untimed ones use other data.
  c.mark_from = end + parameters_.settle;
  c.mark_after = dispatch.finished_workgroups;
  restart_slices(end);
  return true;
}

std::uint64_t KernelSampler::choose_workgroups(const Dispatch& dispatch, std::uint64_t of_sample) const {
  const std::uint64_t resident = dispatch.next_workgroup - dispatch.finished_workgroups;
  const std::uint64_t left = dispatch.total_workgroups() - dispatch.next_workgroup;
  // The last generation of workgroups is timed and, until samples agree, at least 1 - kShareOfRest of the workgroups before it.
  if (left <= resident) return 0;
  const auto one = static_cast<double>(of_sample);
  double most = kShareOfRest * static_cast<double>(left - resident);
  double wanted = std::max(current_.workgroups, 1 / parameters_.most_timed - 1) * one;
  const std::size_t samples = current_.of_workgroups.samples().size();
  if (samples == 1) wanted = std::max(wanted, kFirstShare * static_cast<double>(left));
  if (current_.part > 0) {
    wanted = std::max(wanted, current_.part);
    if (samples > 2) most = std::max(0.0, static_cast<double>(left) - kLastGenerations * static_cast<double>(resident));
  }
  const auto count = static_cast<std::uint64_t>(std::min(most, wanted));
  return 4 * count < of_sample ? 0 : count;
}

std::uint64_t KernelSampler::pass_workgroups(Dispatch& dispatch, std::uint64_t count, double instructions_of_each) {
  const double expected = instructions_of_each * static_cast<double>(count);
  if (parameters_.untimed == UntimedParts::skipped) {
    skipped_.skipped(dispatch);
    skipped_workgroups_ += count;
    current_.skipped = count;
    current_.skipped_each = instructions_of_each;
    dispatch.next_workgroup += count;
    dispatch.finished_workgroups += count;
    dispatch.estimated.skipped += static_cast<std::uint64_t>(expected);
    return static_cast<std::uint64_t>(expected);
  }
  const std::uint64_t before = dispatch.open_instructions();
  untimed_.execute(dispatch, count, instructions_of_each);
  return dispatch.open_instructions() - before;
}

// Lets the estimated time pass without executing the kernel.
void KernelSampler::skip_whole(Dispatch& dispatch, const KernelPrediction& prediction) {
  skipped_.skipped(dispatch);
  skipped_workgroups_ += dispatch.total_workgroups();
  dispatcher_.set_untimed(true);
  dispatch.next_workgroup = dispatch.finished_workgroups = dispatch.total_workgroups();
  dispatch.end = later(dispatch.end, kernel_time());
  dispatch.estimated.instructions = dispatch.estimated.skipped = static_cast<std::uint64_t>(prediction.instructions);
  dispatch.estimated.time = ticks(prediction.cycles);
  dispatch.estimated.half_width = ticks(prediction.half_width);
  untimed_instructions_ += dispatch.estimated.instructions;
  ++predicted_;
  current_.whole = true;
  current_.settled = kNeverCycles;
  previous_timed_ = false;
  dispatcher_.set_untimed(false);
}

void KernelSampler::run_whole(Dispatch& dispatch, const KernelPrediction& prediction) {
  if (parameters_.untimed == UntimedParts::skipped) return skip_whole(dispatch, prediction);
  if (dispatch.scratch.wave_bytes == 0) {
    dispatcher_.set_untimed(true);
    const auto workgroups = static_cast<double>(dispatch.total_workgroups());
    untimed_.execute(dispatch, dispatch.total_workgroups(), prediction.instructions / workgroups);
  } else {
    run_whole_on_timed_units(dispatch, prediction);
  }
  if (runs(dispatch)) {
    const std::uint64_t executed = dispatch.open_instructions();
    const KernelPrediction final = classes_.executed(prediction, executed);
    dispatch.estimated.instructions = executed;
    dispatch.estimated.time = ticks(final.cycles);
    dispatch.estimated.half_width = ticks(final.half_width);
    untimed_instructions_ += executed;
    ++predicted_;
    current_.whole = true;
    current_.settled = kNeverCycles;
    previous_timed_ = false;
  }
  dispatcher_.set_untimed(false);
}

// For kernels with scratch memory, which only the dispatcher's units can use.
void KernelSampler::run_whole_on_timed_units(Dispatch& dispatch, const KernelPrediction& prediction) {
  const Cycles from = current_.launched;
  const double most = UntimedUnits::kMostInstructions * prediction.instructions + 1e6;
  constexpr Cycles kRoundOfWhole{64};
  suspend(dispatch, from);
  Cycles limit = from;
  std::uint64_t executed = 0;
  while (!dispatch.done() && static_cast<double>(executed) < most) {
    limit += kRoundOfWhole;
    for (ComputeUnit* unit : units_) {
      if (unit->resident_wavefronts() != 0) unit->run_untimed(limit);
    }
    windows_.deliver_reports();
    if (!runs(dispatch)) break;
    dispatcher_.refill();
    // If no instruction has executed, all wavefronts wait, and the rest of the kernel is timed.
    const std::uint64_t before = std::exchange(executed, dispatch.open_instructions());
    if (executed == before) break;
  }
  resume(from);
}

void KernelSampler::describe_statistics(StatisticsGroup& device) const {
  StatisticsGroup& g = device.group("sampling");
  g.add("kernels", kernels_, "kernels that ran alone when they began", "kernels");
  g.add("predicted_kernels", predicted_, "kernels that ran without timing as a whole", "kernels");
  g.add("kernels_predicted_by_size", predicted_by_size_,
        "of these, kernels whose time was predicted from launches of other sizes", "kernels");
  g.add("waiting_kernels", refused_, "kernels that were timed whole because their code may wait for other workgroups",
        "kernels");
  g.add("samples", samples_, "samples of kernels' rates", "samples");
  g.add("untimed_instructions", untimed_instructions_, "instructions whose time is an estimate", "wavefront instructions");
  g.add("skipped_workgroups", skipped_workgroups_, "workgroups that were not executed: their results are missing",
        "workgroups");
}

}  // namespace lacuna
