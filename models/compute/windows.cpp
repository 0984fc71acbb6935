#include "models/compute/windows.h"

#include <algorithm>
#include <utility>

#include "models/common/time/retirement.h"
#include "models/common/time/tlm_time.h"
#include "models/compute/deferred_work.h"
#include "models/compute/windowed_unit.h"

namespace lacuna {
namespace {

// Units of a group alternate every kTurn cycles: requests reach their shared caches in nearly the order of simulated time, and
// the host does not switch between the units' states in every cycle.
constexpr Cycles kTurn{8};
// The window of a group can be divided into kParts parts, between which the group can change threads. Only the last
// kGroupsInParts groups of each thread are divided.
constexpr unsigned kParts = 4;
constexpr std::size_t kGroupsInParts = 3;
constexpr Cycles kFunctionalLength{10'000};
constexpr Cycles kRetireCycles{512};

}  // namespace

Windows::Windows(sc_core::sc_module_name name, Clock clock, TimingMode mode, Cycles length, WorkerThreads* threads)
    : sc_module(name),
      clock_(clock),
      timed_(mode != TimingMode::functional),
      length_(timed_ ? later(length, Cycles{1}) : kFunctionalLength),
      threads_(timed_ ? threads : nullptr),
      wake_("wake") {
  SC_HAS_PROCESS(Windows);
  SC_METHOD(run);
  sensitive << wake_;
  dont_initialize();
}

void Windows::add_group(std::vector<WindowedUnit*> units) {
  groups_.push_back(std::make_unique<Group>());
  Group& group = *groups_.back();
  group.units = std::move(units);
  group.first_unit = static_cast<std::uint32_t>(units_.size());
  units_.insert(units_.end(), group.units.begin(), group.units.end());
  const WindowGroup joined{.number = static_cast<unsigned>(groups_.size() - 1),
                           .stores = timed_ ? &group.stores : nullptr,
                           .performer = &performer_};
  for (WindowedUnit* unit : group.units) {
    unit->attach(*this, joined);
    unit->accesses().attach(group.has_accesses);
    unit->reports().attach(group.has_reports);
    accesses_.of_unit.push_back(&unit->accesses());
    reports_.of_unit.push_back(&unit->reports());
  }
}

void Windows::reset() {
  wake_.cancel();
  end_ = Cycles{};
  next_retire_ = horizon_ = Tick{};
}

void Windows::wake(Cycles at) { wake_.notify(delay_until(clock_.ticks(later(at, end_)))); }

void Windows::launched(unsigned group, WindowedUnit& unit, ResidentWorkgroup& workgroup, Cycles at) {
  groups_[group]->launched.push_back({&unit, &workgroup, at});
  groups_[group]->active = groups_[group]->booked = true;
  wake(at);
}

void Windows::resume(unsigned group) {
  groups_[group]->active = groups_[group]->booked = true;
  if (const Cycles earliest = groups_[group]->earliest(); earliest != kNeverCycles) wake(earliest);
}

void Windows::start_launched(unsigned group) { start_launched(*groups_[group]); }

void Windows::start_launched(Group& group) {
  for (const Group::Launched& launched : group.launched) launched.unit->start(*launched.workgroup, launched.at);
  group.launched.clear();
}

Cycles Windows::Group::earliest() const {
  Cycles first = kNeverCycles;
  for (const WindowedUnit* unit : units) first = std::min(first, unit->earliest());
  return first;
}

bool Windows::Group::idle() const {
  return launched.empty() && std::all_of(units.begin(), units.end(), [](const WindowedUnit* unit) { return unit->idle(); });
}

void Windows::run() {
  const Tick now = kernel_time();
  const Cycles begin = later(clock_.ceil(now), end_);
  end_ = begin + length_;
  ++count_;
  retire(now);
  if (barrier_ != nullptr) barrier_->begin(clock_.ticks(end_ + length_));

  busy_.clear();
  for (unsigned i = 0; i < groups_.size(); ++i) {
    const Group& group = *groups_[i];
    if (group.active && (group.earliest() < end_ || !group.launched.empty())) busy_.push_back(i);
  }
  if (threads_ != nullptr && threads_->threads() > 1 && busy_.size() > 1) {
    share_work(begin);
  } else {
    for (const unsigned group : busy_) work(group, 0, begin);
  }
  if (timed_) {
    for (const auto& group : groups_) group->stores.flush();
    perform(accesses_);
  }
  if (barrier_ != nullptr) barrier_->resolve(clock_.ticks(end_));
  if (timed_) perform(reports_);
  if (end_listener_ != nullptr) end_listener_->window_complete(end_);

  Cycles next = kNeverCycles;
  for (const auto& group : groups_) {
    if (!group->active) continue;
    const Cycles earliest = group->earliest();
    next = std::min(next, earliest);
    group->active = earliest != kNeverCycles || !group->idle();
  }
  if (barrier_ != nullptr && next > end_) {
    if (const Tick leaves = barrier_->next(); leaves != kNever) next = std::min(next, clock_.floor(leaves));
  }
  if (next != kNeverCycles) wake(next);
}

// Distributes the groups over the threads. An idle thread takes parts of the groups that another thread would run last.
void Windows::share_work(Cycles begin) {
  const auto groups = static_cast<unsigned>(groups_.size());
  items_.clear();
  // The last groups of each thread are divided into parts, which are interleaved with those of the other groups. A thread that
  // takes a part of a group first runs the group's earlier parts, if they have not been run.
  const auto is_in_parts = [&](std::size_t i) {
    const std::size_t behind = i + kGroupsInParts;
    return behind >= busy_.size() || threads_->owner(busy_[behind], groups) != threads_->owner(busy_[i], groups);
  };
  for (std::size_t i = 0; i < busy_.size(); ++i) {
    groups_[busy_[i]]->progress.restart();
    if (!is_in_parts(i)) items_.push_back(busy_[i] + groups * (kParts - 1));
  }
  for (unsigned part = 0; part < kParts; ++part) {
    for (std::size_t i = 0; i < busy_.size(); ++i) {
      if (is_in_parts(i)) items_.push_back(busy_[i] + groups * part);
    }
  }
  threads_->run(items_, groups, [&](unsigned item, unsigned thread) {
    const unsigned group = item % groups;
    groups_[group]->progress.reach(item / groups + 1, [&](unsigned part) { work_part(group, part, thread, begin); });
  });
}

void Windows::work(unsigned number, unsigned thread, Cycles begin) {
  for (unsigned part = 0; part < kParts; ++part) work_part(number, part, thread, begin);
}

void Windows::work_part(unsigned number, unsigned part, unsigned thread, Cycles begin) {
  Group& group = *groups_[number];
  if (part == 0) {
    start_launched(group);
    begin_turns(group, begin);
  }
  const bool last = part + 1 == kParts;
  take_turns(group, begin, last ? end_ : begin + Cycles{length_.n * (part + 1) / kParts});
  if (!last) return;
  if (barrier_ != nullptr) barrier_->group_finished(number, thread, clock_.ticks(end_));
}

void Windows::begin_turns(Group& group, Cycles begin) {
  group.until = begin;
  group.working.clear();
  for (WindowedUnit* unit : group.units) {
    if (const Cycles earliest = unit->earliest(); earliest < end_) group.working.push_back({unit, earliest});
  }
}

// Runs the turns that begin before `end`.
void Windows::take_turns(Group& group, Cycles begin, Cycles end) {
  std::vector<Group::Working>& working = group.working;
  const Cycles turn = timed_ && group.units.size() > 1 ? kTurn : length_;
  while (!working.empty() && group.until < end) {
    const bool first_turn = group.until == begin;
    const Cycles until = group.until = std::min(group.until + turn, end_);
    std::size_t left = 0;
    for (std::size_t i = 0; i < working.size(); ++i) {
      if (first_turn && i + 1 < working.size()) working[i + 1].unit->announce(end_);
      Group::Working unit = working[i];
      if (unit.earliest < until) {
        unit.unit->run(until);
        unit.earliest = unit.unit->earliest();
      }
      if (unit.earliest < end_) working[left++] = unit;
    }
    working.resize(left);
  }
}

void Windows::retire(Tick now) {
  if (now < next_retire_) return;
  next_retire_ = now + clock_.ticks(kRetireCycles);
  const Tick horizon = retirement_horizon(now);
  if (barrier_ != nullptr) barrier_->retire(horizon);
  horizon_ = horizon;
  for (const auto& group : groups_) {
    if (!group->booked) continue;
    for (WindowedUnit* unit : group->units) unit->retire();
    group->booked = group->active;
  }
}

void Windows::perform(WorkKind& kind) {
  turns_.clear();
  for (const auto& group : groups_) {
    if (!std::exchange((*group).*kind.pending, false)) continue;
    for (std::uint32_t i = group->first_unit; i < group->first_unit + group->units.size(); ++i) {
      const DeferredWork& work = *kind.of_unit[i];
      for (std::uint32_t k = 0; k < work.count(); ++k) turns_.push_back({work.at(k), i, k});
    }
  }
  if (turns_.empty()) return;
  std::sort(turns_.begin(), turns_.end());
  for (const Turn& turn : turns_) kind.of_unit[turn.unit]->perform(turn.number);
  for (const Turn& turn : turns_) kind.of_unit[turn.unit]->clear();
}

}  // namespace lacuna
