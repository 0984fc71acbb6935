// Parts within workgroups that run without timing (sampling.within_workgroups): their samples, and their execution.

#include <algorithm>
#include <cmath>

#include "models/sampling/kernel_sampler.h"

namespace lacuna {

namespace {

// An untimed part within workgroups is divided into rounds. In a round, each wavefront executes its instructions before the
// next wavefront continues: many, so that its registers stay in the host's caches, but few compared with the part, since
// workgroups that end are replaced, and the mix of instructions is examined, only between rounds.
constexpr double kRound = 64;  // instructions of a wavefront, at least
constexpr double kMostRounds = 16;
// Instructions between examinations, in samples.
constexpr std::uint64_t kSamplesOfCheck = 4;
// Share of the resident workgroups that may end during an untimed part that begins and ends inside of workgroups, and of the
// resident wavefronts by which two parts of a phase may differ.
constexpr double kEnded = 0.02;
// Shortest untimed part, in samples.
constexpr double kShortest = 1;
constexpr std::size_t kFewSamples = 3;
// Parts within workgroups run without timing if wavefronts are longer than this number of samples: in kernels of few
// generations, and in kernels of many generations, of which whole workgroups run without timing as well.
constexpr std::uint64_t kLongWavefront = 3;
constexpr std::uint64_t kVeryLongWavefront = 16;

// The samples' addresses are those of single moments, so a loop's ends are likely to be missing: adds a quarter of the range on
// either side.
AddressRange with_margin(const AddressRange& code) {
  if (code.empty()) return code;
  const std::uint64_t margin = (code.last - code.first) / 4;
  return {.first = code.first - std::min(code.first, margin), .last = code.last + margin};
}

}  // namespace

// -- samples

void KernelSampler::restart_slices(Cycles from) {
  current_.settled = from + parameters_.settle;
  current_.settled_count = 0;
  current_.slices.clear();
  current_.ends.clear();
  current_.codes.clear();
  current_.mixes.clear();
}

// Returns whether a slice ends at `end`.
bool KernelSampler::end_slice(const Dispatch& dispatch, Cycles end) {
  Current& c = current_;
  const bool ends = !c.ends.empty();
  if (end < (ends ? c.ends.back() + parameters_.slice : c.settled)) {
    if (c.settled_count == 0)
      c.settled_count = dispatch.open_instructions() + std::uint64_t{parameters_.settle_work} * resident();
    return false;
  }
  const std::uint64_t instructions = dispatch.open_instructions();
  if (instructions < (ends ? c.counted + std::uint64_t{parameters_.slice_work} * resident() : c.settled_count)) return false;
  if (ends) {
    c.slices.push_back({.cycles = static_cast<double>((end - c.ends.back()).n), .instructions = instructions - c.counted});
  } else {
    c.finished = dispatch.finished_workgroups;
    c.first_count = instructions;
    for (ComputeUnit* unit : units_) unit->sample_wavefronts(0);
  }
  c.counted = instructions;
  c.ends.push_back(end);
  c.mixes.push_back(mix());
  c.codes.emplace_back();
  for (const ComputeUnit* unit : units_) unit->add_addresses(c.codes.back());
  if (c.slices.size() == parameters_.slices / 2) {
    for (ComputeUnit* unit : units_) unit->sample_wavefronts(1);
  }
  if (c.slices.size() > parameters_.slices) {
    c.slices.erase(c.slices.begin());
    c.ends.erase(c.ends.begin());
    c.codes.erase(c.codes.begin());
    c.mixes.erase(c.mixes.begin());
  }
  return ends;
}

void KernelSampler::sample_taken(Dispatch& dispatch, const TimeSample& sample, Cycles end) {
  const unsigned residents = resident();
  const InstructionMix instructions_of_sample = difference(current_.mixes.back(), current_.mixes.front());
  AddressRange code;
  for (const AddressRange& of_slice : current_.codes) code.include(of_slice);
  const bool new_phase = current_.finished != current_.finished_before || !is_alike(current_.sampled, instructions_of_sample) ||
                         std::abs(static_cast<double>(residents) - current_.residents) > kEnded * current_.residents ||
                         !with_margin(current_.code).contains(code);
  current_.residents = residents;
  current_.finished_before = current_.finished;
  current_.sampled = instructions_of_sample;
  if (new_phase) current_.code = {};
  current_.code.include(code);
  current_.time.add(sample, new_phase);
  ++samples_;
  const bool settled = !new_phase && current_.time.settled(parameters_.error);
  if (dispatch.estimated.any()) update_estimate(dispatch);
  if (!settled) {
    // The next sample follows immediately: two samples must agree before a part may run without timing.
    current_.length = kShortest;
    const Cycles from = current_.ends.back();
    restart_slices(from);
    current_.settled = from;
    current_.settled_count = 1;
    return;
  }
  if (current_.other) {
    current_.length = kShortest;
    current_.other = false;
  } else if (dispatch.estimated.any()) {
    current_.length = std::min(2 * current_.length, kLongest);
  }
  const std::uint64_t instructions = choose_length(dispatch);
  if (instructions == 0) {
    current_.settled = kNeverCycles;  // the rest is timed
    return;
  }
  run_untimed(dispatch, instructions, end);
}

std::optional<double> KernelSampler::of_workgroup(const Dispatch& dispatch) {
  const auto ended = static_cast<double>(dispatch.finished_workgroups);
  const double resident = static_cast<double>(dispatch.next_workgroup) - ended;
  if (ended == 0) return std::nullopt;
  const auto instructions = static_cast<double>(dispatch.open_instructions() + dispatch.estimated.skipped);
  return instructions / (ended + resident / 2);
}

std::optional<double> KernelSampler::remaining(const Dispatch& dispatch) {
  const std::optional<double> each = of_workgroup(dispatch);
  if (!each) return std::nullopt;
  const auto executed = static_cast<double>(dispatch.open_instructions() + dispatch.estimated.skipped);
  return std::max(0.0, *each * static_cast<double>(dispatch.total_workgroups()) - executed);
}

std::uint64_t KernelSampler::choose_length(const Dispatch& dispatch) {
  const auto of_sample = static_cast<double>(current_.time.samples().back().instructions);
  double length = current_.length * of_sample;
  const bool few = current_.time.samples().size() < kFewSamples;
  if (!few) {
    const TimeEstimate estimate = current_.time.estimate();
    const double total = estimate.cycles + static_cast<double>((current_.ends.back() - current_.launched).n);
    if (estimate.seen > parameters_.error * total) length = std::min(length, 4 * of_sample);
  }
  length = std::max(length, of_sample / parameters_.most_timed - of_sample);
  if (const std::optional<double> rest = remaining(dispatch)) length = std::min(length, kShareOfRest * *rest);
  return length < kShortest * of_sample ? 0 : static_cast<std::uint64_t>(length);
}

// -- execution

bool KernelSampler::has_long_wavefronts(const Dispatch& dispatch) const {
  const bool many = dispatch.total_workgroups() >= kManyGenerations * current_.generation && dispatch.scratch.wave_bytes == 0;
  const std::uint64_t sample = parameters_.settle_work + std::uint64_t{parameters_.slice_work} * parameters_.slices;
  return dispatch.open_instructions() > (many ? kVeryLongWavefront : kLongWavefront) * sample * dispatch.wavefronts;
}

void KernelSampler::run_untimed(Dispatch& dispatch, std::uint64_t instructions, Cycles end) {
  const std::uint64_t executed = execute(dispatch, instructions, end);
  if (executed > 0) {
    current_.time.add_untimed(executed);
    untimed_instructions_ += executed;
    dispatch.estimated.instructions += executed;
    update_estimate(dispatch);
  }
  dispatcher_.set_untimed(false);
  restart_slices(end);
  if (executed == 0) current_.settled = kNeverCycles;
}

// Executes about `instructions` instructions. Returns the exact number; 0 if the dispatch has failed.
std::uint64_t KernelSampler::execute(Dispatch& dispatch, std::uint64_t instructions, Cycles end) {
  // A progress of 1 is the number of instructions issued since the start of the first slice.
  const auto of_sample = static_cast<double>(current_.counted - current_.first_count);
  const double progress = static_cast<double>(instructions) / of_sample;
  const double of_wavefront = of_sample / resident();
  const double rounds = std::clamp(std::ceil(of_wavefront * progress / kRound), 4.0, kMostRounds);
  const std::uint64_t before = dispatch.open_instructions();
  for (ComputeUnit* unit : units_) unit->begin_progress(of_wavefront, end);
  suspend(dispatch, end);
  double limit = static_cast<double>(end.n);  // cycle up to which wavefronts that start in the meantime run
  const std::uint64_t finished = dispatch.finished_workgroups;
  const auto resident_workgroups = static_cast<double>(dispatch.next_workgroup - finished);
  std::uint64_t executed = 0;
  unsigned stopped = 0;  // wavefronts that have left the code of the samples
  const AddressRange code = with_margin(current_.code);
  InstructionMix checked = mix();
  // Mixes of shorter parts depend on where in a loop they begin.
  const std::uint64_t between_checks = kSamplesOfCheck * current_.time.samples().back().instructions;
  std::uint64_t next_check = between_checks;
  while (executed < instructions) {
    limit += std::max(1.0, of_wavefront * progress / rounds);
    for (ComputeUnit* unit : units_) {
      if (unit->resident_wavefronts() == 0) continue;
      stopped += unit->run_untimed(progress / rounds, Cycles{static_cast<std::uint64_t>(limit)}, code);
    }
    windows_.deliver_reports();
    if (!runs(dispatch)) break;
    dispatcher_.refill();
    const std::uint64_t now = dispatch.open_instructions() - before;
    if (dispatch.done() || now == executed) break;
    executed = now;
    if (static_cast<double>(dispatch.finished_workgroups - finished) > kEnded * resident_workgroups) break;
    if (resident() < (1 - kEnded) * current_.residents || stopped > kEnded * current_.residents) break;
    if (executed >= next_check) {
      const InstructionMix here = mix();
      const InstructionMix since = difference(here, checked);
      checked = here;
      next_check = executed + between_checks;
      if (!is_alike(current_.sampled, since)) {
        current_.other = true;
        break;
      }
    }
  }
  resume(end);
  return runs(dispatch) ? dispatch.open_instructions() - before : 0;
}

}  // namespace lacuna
