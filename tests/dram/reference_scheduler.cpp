#include "tests/dram/reference_scheduler.h"

#include <algorithm>
#include <cmath>

namespace lacuna::test {
namespace {

constexpr std::size_t kMostOpened = 32;
// Number of past commands that are kept for timing checks.
constexpr std::size_t kRemembered = 48;

template <typename T>
void remember(std::vector<T>& list, const T& item) {
  if (list.size() == kRemembered) list.erase(list.begin());
  list.push_back(item);
}

}  // namespace

ReferenceScheduler::ReferenceScheduler(const DramParameters& parameters)
    : parameters_(parameters),
      banks_(std::size_t{parameters.pseudo_channels} * parameters.bank_groups * parameters.banks_per_group),
      next_refresh_(parameters.tREFI.n != 0 ? parameters.tREFI.n : ~Cycle{0}) {}

void ReferenceScheduler::request(std::uint64_t id, bool write, std::uint32_t bank, std::uint64_t row, Cycle at) {
  const auto later = std::find_if(arriving_.begin(), arriving_.end(), [at](const Request& r) { return r.at > at; });
  arriving_.insert(later, Request{.id = id, .write = write, .bank = bank, .row = row, .at = at});
}

std::size_t ReferenceScheduler::held(bool write) const {
  return static_cast<std::size_t>(
      std::count_if(entered_.begin(), entered_.end(), [write](const Request& r) { return r.write == write && !r.opened; }));
}

void ReferenceScheduler::refresh() {
  if (now_ != next_refresh_) return;
  next_refresh_ += parameters_.tREFI.n;
  for (std::uint32_t pseudo = 0; pseudo < parameters_.pseudo_channels; ++pseudo) {
    Cycle begin = now_;
    for (std::uint32_t i = 0; i < banks_.size(); ++i) {
      if (pseudo_of(i) == pseudo && banks_[i].open) begin = std::max(begin, precharge_of(banks_[i]));
    }
    for (std::uint32_t i = 0; i < banks_.size(); ++i) {
      if (pseudo_of(i) != pseudo) continue;
      banks_[i].open = banks_[i].conflict = false;
      banks_[i].refreshed = begin + parameters_.tRP.n;
    }
  }
}

void ReferenceScheduler::enter(std::vector<Event>& events) {
  std::size_t read_room = parameters_.read_queue - held(false);
  std::size_t write_room = parameters_.write_queue - held(true);
  for (auto r = arriving_.begin(); r != arriving_.end() && r->at <= now_;) {
    std::size_t& room = r->write ? write_room : read_room;
    if (room == 0) {
      ++r;
      continue;
    }
    --room;
    events.push_back({.id = r->id, .write = r->write, .enters = true, .first = {}});
    entered_.push_back(*r);
    r = arriving_.erase(r);
  }
}

void ReferenceScheduler::choose_mode() {
  const auto reads = static_cast<double>(held(false));
  const auto writes = static_cast<double>(held(true));
  const double queue = parameters_.write_queue;
  if (write_mode_) {
    if (reads != 0 && (writes == 0 || writes < parameters_.write_low * queue)) write_mode_ = false;
  } else {
    if (writes != 0 && (reads == 0 || writes > std::floor(parameters_.write_high * queue))) write_mode_ = true;
  }
}

bool ReferenceScheduler::is_first_of_pseudo(const Request& request) const {
  const auto first = std::find_if(entered_.begin(), entered_.end(), [&](const Request& r) {
    return is_served(r) && pseudo_of(r.bank) == pseudo_of(request.bank);
  });
  return first->id == request.id;
}

ReferenceScheduler::Command ReferenceScheduler::next_command(const Request& request) const {
  const Bank& bank = banks_[request.bank];
  if (!bank.open) return Command::activate;
  return bank.row == request.row ? Command::column : Command::precharge;
}

bool ReferenceScheduler::may_issue(const Request& request, Command command) const {
  switch (command) {
    case Command::column:
      return may_issue_column(request);
    case Command::precharge:
      return now_ >= precharge_of(banks_[request.bank]) && may_close(request.bank);
    case Command::activate:
      return may_activate(request.bank);
  }
  return false;
}

ReferenceScheduler::Cycle ReferenceScheduler::precharge_of(const Bank& bank) const {
  const DramParameters& p = parameters_;
  Cycle cycle = *bank.activated + p.activate_cycles.n - 1 + p.tRAS.n;
  if (bank.read) cycle = std::max(cycle, *bank.read + p.tRTP.n);
  if (bank.written) cycle = std::max(cycle, *bank.written + p.tCWL.n + p.burst.n + p.tWR.n);
  return cycle;
}

bool ReferenceScheduler::may_close(std::uint32_t bank) const {
  return in_order() || std::none_of(entered_.begin(), entered_.end(), [&](const Request& r) {
           return is_served(r) && r.bank == bank && r.row == banks_[bank].row;
         });
}

bool ReferenceScheduler::may_activate(std::uint32_t index) const {
  const DramParameters& p = parameters_;
  const Bank& bank = banks_[index];
  // tRP and tRFC end with the activate's last cycle, tRC with its first.
  const Cycle last = now_ + p.activate_cycles.n - 1;
  if (bank.activated && now_ < *bank.activated + p.tRC.n) return false;
  if (bank.precharged && last < *bank.precharged + p.tRP.n) return false;
  if (bank.refreshed && last < *bank.refreshed + p.tRFC.n) return false;
  unsigned in_window = 0;
  for (const Issued& other : activates_) {
    if (pseudo_of(other.bank) != pseudo_of(index)) continue;
    if (now_ < other.at + p.tRRDS.n) return false;
    if (group_of(other.bank) == group_of(index) && now_ < other.at + p.tRRDL.n) return false;
    in_window += now_ < other.at + p.tFAW.n;
  }
  return in_window < 4;
}

bool ReferenceScheduler::may_issue_column(const Request& request) const {
  const DramParameters& p = parameters_;
  const Cycle opened = *banks_[request.bank].activated + p.activate_cycles.n - 1;
  if (now_ < opened + (request.write ? p.tRCDWR : p.tRCDRD).n) return false;
  for (const Issued& other : columns_) {
    if (pseudo_of(other.bank) != pseudo_of(request.bank)) continue;
    const bool same_group = group_of(other.bank) == group_of(request.bank);
    if (now_ < other.at + std::max(p.burst.n, p.tCCDS.n)) return false;
    if (same_group && now_ < other.at + std::max(p.burst.n, p.tCCDL.n)) return false;
    if (other.write && !request.write) {
      const Cycle end = other.at + p.tCWL.n + p.burst.n;
      if (now_ < end + std::min(p.tWTRS.n, p.tWTR.n) || (same_group && now_ < end + p.tWTR.n)) return false;
    }
    if (!other.write && request.write && now_ + p.tCWL.n < other.at + p.tCL.n + p.burst.n + p.tRTRS.n) return false;
  }
  return true;
}

std::vector<ReferenceScheduler::Request>::iterator ReferenceScheduler::choose(bool column) {
  return std::find_if(entered_.begin(), entered_.end(), [&](const Request& r) {
    const Command command = next_command(r);
    return is_served(r) && (command == Command::column) == column && (!in_order() || is_first_of_pseudo(r)) &&
           may_issue(r, command);
  });
}

void ReferenceScheduler::issue_column(std::vector<Event>& events) {
  const auto request = choose(true);
  if (request == entered_.end()) return;
  Bank& bank = banks_[request->bank];
  (request->write ? bank.written : bank.read) = now_;
  remember(columns_, {now_, request->bank, request->write});
  if (in_order()) row_bus_ = std::max(row_bus_, now_ + 1);
  if (parameters_.page_policy == DramPagePolicy::closed) {
    bank.open = false;
    bank.precharged = precharge_of(bank);
  }
  events.push_back({.id = request->id, .write = request->write, .enters = false, .first = request->first});
  entered_.erase(request);
}

void ReferenceScheduler::issue_row() {
  if (now_ < row_bus_) return;
  const auto request = choose(false);
  if (request == entered_.end()) return;
  Bank& bank = banks_[request->bank];
  if (bank.open) {
    bank.open = false;
    bank.conflict = true;
    bank.precharged = now_;
    row_bus_ = now_ + 1;
    return;
  }
  if (request->first == Command::column) request->first = bank.conflict ? Command::precharge : Command::activate;
  bank = {.open = true, .row = request->row, .activated = now_};
  remember(activates_, {now_, request->bank, request->write});
  row_bus_ = now_ + parameters_.activate_cycles.n;
  const auto opened = std::count_if(entered_.begin(), entered_.end(), [](const Request& r) { return r.opened; });
  if (static_cast<std::size_t>(opened) < kMostOpened) request->opened = true;
}

std::vector<ReferenceScheduler::Event> ReferenceScheduler::tick() {
  std::vector<Event> events;
  refresh();
  enter(events);
  choose_mode();
  issue_column(events);
  issue_row();
  ++now_;
  return events;
}

}  // namespace lacuna::test
