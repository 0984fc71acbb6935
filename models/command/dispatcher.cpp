#include "models/command/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <ostream>
#include <utility>

#include "models/command/running_kernels.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

namespace {

/// Interval at which progress is counted while the estimated part of a dispatch's time passes, so that the run is not
/// considered hung.
constexpr Tick kEstimatedStep{1'000'000'000};

}  // namespace

void DispatcherParameters::describe(ParameterSection& s) {
  s.add("cycles_per_wavefront", cycles_per_wavefront, "Cycles to launch one wavefront of a workgroup",
        {.range = {0, 1000},
         .source = "MGPUSim v3.0.3 (github.com/sarchlab/mgpusim), latency table of "
                   "timing/cp/internal/dispatching: n wavefronts take n cycles"});
  s.add("cycles_per_workgroup", cycles_per_workgroup, "Minimum cycles to launch a workgroup", {.range = {0, 1000}});
}

Dispatcher::Dispatcher(sc_core::sc_module_name name, const DispatcherParameters& parameters, Clock clock, Cycles lookahead)
    : sc_module(name), parameters_(parameters), clock_(clock), lookahead_(lookahead), wake_("wake") {
  SC_HAS_PROCESS(Dispatcher);
  SC_METHOD(work);
  sensitive << wake_;
  dont_initialize();
}

void Dispatcher::attach(std::vector<ComputeUnit*> units, DispatchListener& listener) {
  units_ = std::move(units);
  listener_ = &listener;
  // Drivers number compute units across shader arrays first (Linux, kfd_mqd_manager.c, mqd_symmetrically_map_cu_mask).
  std::vector<unsigned> order(units_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [this](unsigned a, unsigned b) { return units_[a]->place().in_array < units_[b]->place().in_array; });
  for (unsigned number = 0; number < units_.size(); ++number) {
    const unsigned index = units_[number]->place().index;
    if (numbers_.size() <= index) numbers_.resize(index + 1);
    numbers_[index] = number;
  }
  mask_bit_.resize(units_.size());
  for (unsigned bit = 0; bit < order.size(); ++bit) mask_bit_[order[bit]] = bit;
}

bool Dispatcher::allows(std::span<const std::uint32_t> mask, unsigned bit) {
  return mask.empty() || (bit / 32 < mask.size() && (mask[bit / 32] >> bit % 32 & 1) != 0);
}

bool Dispatcher::mask_selects_any(std::span<const std::uint32_t> mask) const {
  return std::any_of(mask_bit_.begin(), mask_bit_.end(), [mask](unsigned bit) { return allows(mask, bit); });
}

bool Dispatcher::busy() const {
  return std::any_of(active_.begin(), active_.end(),
                     [](const Dispatch* d) { return !d->held || d->finished_workgroups != d->next_workgroup; });
}

void Dispatcher::expect_room() {
  for (Dispatch* dispatch : active_) dispatch->may_have_room.assign(static_cast<unsigned>(units_.size()), true);
}

std::string Dispatcher::refusal(const Dispatch& dispatch) const {
  if (auto reason = units_.front()->fit_error(dispatch.needs)) return *reason;
  if (dispatch.scratch.wave_bytes > 0 && dispatch.scratch.wave_slots < dispatch.needs.wavefronts) {
    return fmt::format("workgroup has {} wavefronts, the queue's scratch memory has room for {}", dispatch.needs.wavefronts,
                       dispatch.scratch.wave_slots);
  }
  return {};
}

void Dispatcher::submit(Dispatch& dispatch) {
  const auto next = std::find_if(active_.begin(), active_.end(),
                                 [&dispatch](const Dispatch* other) { return other->priority < dispatch.priority; });
  active_.insert(next, &dispatch);
  dispatch.may_have_room.assign(static_cast<unsigned>(units_.size()), true);
  wake_.notify(sc_core::SC_ZERO_TIME);
}

void Dispatcher::abort(Dispatch& dispatch) {
  dispatch.failed = true;
  for (ComputeUnit* unit : units_) unit->abort(dispatch);
  if (sampler_ != nullptr) sampler_->aborted(dispatch);
  dispatch.collect();
  sync_.drop(dispatch);
  std::erase(active_, &dispatch);
  // Drops the dispatch's future completions, which would otherwise be attributed to a later Dispatch at the same address.
  std::vector<Completion> kept;
  for (; !completions_.empty(); completions_.pop()) {
    if (completions_.top().dispatch != &dispatch) kept.push_back(completions_.top());
  }
  for (const Completion& completion : kept) completions_.push(completion);
  if (dispatch.queue_slot < scratch_.size()) scratch_[dispatch.queue_slot] = {};
  expect_room();
  wake_.notify(sc_core::SC_ZERO_TIME);
}

void Dispatcher::reset() {
  while (!active_.empty()) abort(*active_.back());
  for (ComputeUnit* unit : units_) unit->reset();
  completions_ = {};
  completion_order_ = 0;
  next_unit_ = 0;
  next_launch_ = {};
  scratch_.clear();
  sync_ = {};
  wake_.cancel();
}

void Dispatcher::workgroup_done(const ComputeUnitPlace& unit, Dispatch& dispatch, std::span<const std::uint32_t> scratch_slots,
                                Tick at) {
  release_scratch(dispatch, scratch_slots);
  completions_.push({untimed_ ? kernel_time() : at, completion_order_++, &dispatch, numbers_[unit.index]});
  if (!untimed_) wake_.notify(delay_until(at));
}

void Dispatcher::wavefront_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick at) {
  listener_->dispatch_fault(dispatch, fault, at);
}

void Dispatcher::wavefront_warning(Dispatch& dispatch, const WavefrontFault& fault, Tick at) {
  listener_->dispatch_warning(dispatch, fault, at);
}

void Dispatcher::interrupt_message(Dispatch& dispatch, std::uint32_t m0, Tick at) {
  listener_->interrupt_message(dispatch, m0, at);
}

bool Dispatcher::wave_sync(const isa::WaveSyncRequest& request, const WavefrontTicket& wavefront, Tick at) {
  const bool goes_on = sync_.perform(request, wavefront);
  for (const WavefrontTicket& released : sync_.released()) released.unit->release_from_sync(released, at);
  return goes_on;
}

void Dispatcher::work() {
  const Tick now = kernel_time();
  complete(now);
  if (sampler_ != nullptr) ask_sampler();
  launch(now);
  expect_next(now);
}

void Dispatcher::ask_sampler() {
  if (active_.size() != 1) return;
  Dispatch& dispatch = *active_.front();
  if (dispatch.next_workgroup == 0 && !dispatch.failed && !dispatch.held) sampler_->about_to_start(dispatch);
}

void Dispatcher::expect_next(Tick now) {
  if (completions_.empty()) return;
  Tick next = completions_.top().at;
  if (completions_.top().unit == kEnd && next > now + kEstimatedStep) {
    next = now + kEstimatedStep;
    ++estimated_steps_;
  }
  wake_.notify(delay_until(next));
}

void Dispatcher::set_untimed(bool untimed) {
  untimed_ = untimed;
  if (untimed) return;
  const std::vector<Dispatch*> active = active_;
  for (Dispatch* dispatch : active) {
    if (dispatch->done() && !dispatch->ending) all_done(*dispatch);
  }
  wake_.notify(sc_core::SC_ZERO_TIME);
}

void Dispatcher::workgroup_ended_elsewhere(Dispatch& dispatch) {
  ++dispatch.finished_workgroups;
  dispatch.end = later(dispatch.end, kernel_time());
  if (dispatch.done()) all_done(dispatch);
  wake_.notify(sc_core::SC_ZERO_TIME);
}

void Dispatcher::refill() {
  const Tick now = kernel_time();
  complete(now);
  for (Dispatch* dispatch : active_) {
    while (!dispatch->failed && !dispatch->held && !dispatch->all_launched() && launch_workgroup(*dispatch, now)) {
    }
  }
}

void Dispatcher::complete(Tick now) {
  while (!completions_.empty() && completions_.top().at <= now) {
    const Completion completion = completions_.top();
    completions_.pop();
    if (completion.unit == kEnd) {
      end(*completion.dispatch);
      continue;
    }
    for (Dispatch* waiting : active_) waiting->may_have_room.insert(completion.unit);
    Dispatch& dispatch = *completion.dispatch;
    ++dispatch.finished_workgroups;
    dispatch.end = later(dispatch.end, completion.at);
    if (dispatch.done() && !untimed_) all_done(dispatch);
  }
}

// Ends the dispatch after its last workgroup; if part of it was not simulated, only after the time estimated for that part has
// passed as well.
void Dispatcher::all_done(Dispatch& dispatch) {
  if (!dispatch.estimated.any()) {
    end(dispatch);
    return;
  }
  dispatch.ending = true;
  dispatch.end += dispatch.estimated.time;
  completions_.push({dispatch.end, completion_order_++, &dispatch, kEnd});
}

void Dispatcher::end(Dispatch& dispatch) {
  std::erase(active_, &dispatch);
  dispatch.collect();
  if (sampler_ != nullptr) sampler_->ended(dispatch);
  listener_->dispatch_done(dispatch);
}

void Dispatcher::launch(Tick now) {
  const Tick limit = now + clock_.ticks(lookahead_);
  Tick at = later(clock_.align_up(now), next_launch_);
  for (Dispatch* dispatch : active_) {
    while (!dispatch->failed && !dispatch->held && !dispatch->all_launched()) {
      if (at > limit) {
        wake_.notify(to_sc_time(at - now));
        return;
      }
      if (!launch_workgroup(*dispatch, at)) break;
      at += clock_.ticks(
          {std::max(parameters_.cycles_per_workgroup.n, parameters_.cycles_per_wavefront.n * dispatch->needs.wavefronts)});
      next_launch_ = at;
    }
  }
}

bool Dispatcher::launch_workgroup(Dispatch& dispatch, Tick at) {
  if (!take_scratch(dispatch)) return false;
  const auto count = static_cast<unsigned>(units_.size());
  const unsigned next = next_unit_;
  if (launch_on_units(dispatch, next, count, at) || launch_on_units(dispatch, 0, next, at)) return true;
  release_scratch(dispatch, taken_);
  return false;
}

bool Dispatcher::launch_on_units(Dispatch& dispatch, unsigned first, unsigned end, Tick at) {
  BitSet& may_have_room = dispatch.may_have_room;
  for (unsigned unit = may_have_room.next(first); unit < end; unit = may_have_room.next(unit + 1)) {
    if (!allows(dispatch.cu_mask, mask_bit_[unit])) continue;
    if (units_[unit]->launch(dispatch, dispatch.next_workgroup, at, taken_)) {
      ++dispatch.next_workgroup;
      next_unit_ = unit + 1 < units_.size() ? unit + 1 : 0;
      return true;
    }
    may_have_room.erase(unit);
  }
  return false;
}

bool Dispatcher::take_scratch(const Dispatch& dispatch) {
  taken_.clear();
  if (dispatch.scratch.wave_bytes == 0) return true;
  if (scratch_.size() <= dispatch.queue_slot) scratch_.resize(dispatch.queue_slot + 1);
  ScratchPool& pool = scratch_[dispatch.queue_slot];
  if (!pool.is_laid_out_for(dispatch.scratch)) {
    if (pool.free.size() < pool.slots) return false;
    pool.base = dispatch.scratch.base;
    pool.slot_bytes = dispatch.scratch.wave_bytes;
    pool.slots = dispatch.scratch.wave_slots;
    pool.free.clear();
    for (std::uint32_t i = pool.slots; i > 0; --i) pool.free.push_back(i - 1);
  }
  if (pool.free.size() < dispatch.needs.wavefronts) return false;
  for (unsigned i = 0; i < dispatch.needs.wavefronts; ++i) {
    taken_.push_back(pool.free.back());
    pool.free.pop_back();
  }
  return true;
}

void Dispatcher::release_scratch(const Dispatch& dispatch, std::span<const std::uint32_t> slots) {
  if (slots.empty()) return;
  std::vector<std::uint32_t>& free = scratch_[dispatch.queue_slot].free;
  free.insert(free.end(), slots.rbegin(), slots.rend());
}

std::uint64_t Dispatcher::wavefront_instructions() const {
  std::uint64_t sum = 0;
  for (const ComputeUnit* unit : units_) sum += unit->statistics().wavefront_instructions;
  return sum;
}

void Dispatcher::describe_statistics(StatisticsGroup& device) const {
  for (const ComputeUnit* unit : units_) unit->describe(device.group(unit->basename()));
}

void Dispatcher::add_resident(const Dispatch& dispatch, KernelActivity& activity) const {
  for (const ComputeUnit* unit : units_) unit->add_resident(dispatch, activity);
}

std::string Dispatcher::why_not_started(const Dispatch& dispatch) const {
  if (dispatch.ending) return "its estimated time passes";
  if (dispatch.all_launched()) return {};
  if (dispatch.held) return "the queue is suspended";
  if (dispatch.scratch.wave_bytes > 0 && dispatch.queue_slot < scratch_.size() &&
      scratch_[dispatch.queue_slot].free.size() < dispatch.needs.wavefronts) {
    return fmt::format("waits for scratch memory of the queue, {} of {} slots are free, it needs {}",
                       scratch_[dispatch.queue_slot].free.size(), dispatch.scratch.wave_slots, dispatch.needs.wavefronts);
  }
  std::map<std::string, unsigned> lacks;
  unsigned allowed = 0;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (!allows(dispatch.cu_mask, mask_bit_[i])) continue;
    ++allowed;
    std::string what = units_[i]->lacks(dispatch.needs);
    if (what.empty()) return "is about to start";
    ++lacks[std::move(what)];
  }
  std::string text;
  for (const auto& [what, units] : lacks)
    text += fmt::format("{}{} on {} of {} compute units", text.empty() ? "waits for " : ", ", what, units, allowed);
  return text;
}

void Dispatcher::diagnose(std::ostream& out) const {
  const RunningKernels running(
      active_, units_, [this](const Dispatch& dispatch, std::uint64_t pc) { return listener_->code_place(dispatch, pc); },
      [this](std::uint64_t address) { return listener_->memory_place(address); });
  running.write(out, [this](const Dispatch& dispatch) { return why_not_started(dispatch); });
}

}  // namespace lacuna
