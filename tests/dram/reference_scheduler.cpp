#include "tests/dram/reference_scheduler.h"

#include <algorithm>
#include <cmath>

namespace lacuna::test {
namespace {

constexpr std::size_t kMostOpened = 32;
// Commands that are looked back on.
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
      next_(banks_.size()),
      next_refresh_(parameters.tREFI.n != 0 ? parameters.tREFI.n : ~Cycle{0}) {}

void ReferenceScheduler::request(std::uint64_t id, bool write, std::uint32_t bank, std::uint64_t row, Cycle at) {
  const auto later = std::find_if(requests_.begin(), requests_.end(), [at](const Request& r) { return r.at > at; });
  requests_.insert(later, Request{.id = id, .write = write, .bank = bank, .row = row, .at = at});
}

std::size_t ReferenceScheduler::held(bool write) const {
  return static_cast<std::size_t>(std::count_if(
      requests_.begin(), requests_.end(), [write](const Request& r) { return r.write == write && r.entered && !r.opened; }));
}

bool ReferenceScheduler::refresh() {
  if (now_ != next_refresh_) return false;
  next_refresh_ += parameters_.tREFI.n;
  for (std::uint32_t pseudo = 0; pseudo < parameters_.pseudo_channels; ++pseudo) {
    Cycle begin = now_;
    for (std::uint32_t i = 0; i < banks_.size(); ++i) {
      if (pseudo_of(i) == pseudo && banks_[i].open) begin = std::max(begin, precharge_of(banks_[i]));
    }
    for (std::uint32_t i = 0; i < banks_.size(); ++i) {
      if (pseudo_of(i) != pseudo) continue;
      banks_[i].open = false;
      banks_[i].refreshed = begin + parameters_.tRP.n;
    }
  }
  choose_next_of_all();
  return true;
}

bool ReferenceScheduler::enter() {
  bool any = false;
  for (const bool write : {false, true}) {
    for (Request& r : requests_) {
      if (r.write != write || r.entered || r.at > now_) continue;
      if (held(write) == (write ? parameters_.write_queue : parameters_.read_queue)) break;
      r.entered = true;
      r.order = order_++;
      any = true;
      if (!is_served(r)) continue;
      const Bank& bank = banks_[r.bank];
      Next& next = next_[r.bank];
      const bool hit = bank.open && bank.row == r.row;
      if (next.command == Command::none) {
        next = {hit ? Command::column : bank.open ? Command::precharge : Command::activate, r.id};
      } else if (next.command == Command::precharge && hit && parameters_.scheduler != DramScheduler::fcfs) {
        next = {Command::column, r.id};
      }
    }
  }
  return any;
}

void ReferenceScheduler::choose_mode() {
  const auto reads = static_cast<double>(held(false));
  const auto writes = static_cast<double>(held(true));
  const double queue = parameters_.write_queue;
  const bool before = write_mode_;
  if (write_mode_) {
    if (reads != 0 && (writes == 0 || writes < parameters_.write_low * queue)) write_mode_ = false;
  } else {
    if (writes != 0 && (reads == 0 || writes > std::floor(parameters_.write_high * queue))) write_mode_ = true;
  }
  if (write_mode_ != before) choose_next_of_all();
}

ReferenceScheduler::Next ReferenceScheduler::next_of(std::uint32_t index) const {
  const Bank& bank = banks_[index];
  Next next;
  for (const Request& r : requests_) {
    if (r.bank != index || !is_served(r)) continue;
    if (bank.open && r.row == bank.row) {
      if (next.command != Command::none && parameters_.scheduler == DramScheduler::fcfs) return next;
      return {Command::column, r.id};
    }
    if (next.command == Command::none) next = {bank.open ? Command::precharge : Command::activate, r.id};
  }
  return next;
}

void ReferenceScheduler::choose_next_of_all() {
  for (std::uint32_t i = 0; i < banks_.size(); ++i) next_[i] = next_of(i);
}

ReferenceScheduler::Request& ReferenceScheduler::request_of(const Next& next) {
  return *std::find_if(requests_.begin(), requests_.end(), [&next](const Request& r) { return r.id == next.id; });
}

ReferenceScheduler::Cycle ReferenceScheduler::precharge_of(const Bank& bank) const {
  const DramParameters& p = parameters_;
  Cycle cycle = *bank.activated + p.activate_cycles.n - 1 + p.tRAS.n;
  if (bank.read) cycle = std::max(cycle, *bank.read + p.tRTP.n);
  if (bank.written) cycle = std::max(cycle, *bank.written + p.tCWL.n + p.burst.n + p.tWR.n);
  return cycle;
}

bool ReferenceScheduler::may_activate(std::uint32_t index) const {
  const DramParameters& p = parameters_;
  const Bank& bank = banks_[index];
  // After a precharge or a refresh the last cycle of the command counts, after activates the first.
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

ReferenceScheduler::Next ReferenceScheduler::choose(bool column) {
  Next chosen;
  std::uint64_t order = 0;
  for (const Next& next : next_) {
    if (next.command == Command::none || (next.command == Command::column) != column) continue;
    const Request& request = request_of(next);
    const bool ready = column                              ? may_issue_column(request)
                       : next.command == Command::activate ? may_activate(request.bank)
                                                           : now_ >= precharge_of(banks_[request.bank]);
    const auto goes_before = [&](const Next& other) {
      if (other.command == Command::none) return false;
      const Request& r = request_of(other);
      return pseudo_of(r.bank) == pseudo_of(request.bank) && r.order < request.order;
    };
    if (!ready || (chosen.command != Command::none && order < request.order)) continue;
    if (parameters_.scheduler == DramScheduler::fcfs && std::any_of(next_.begin(), next_.end(), goes_before)) continue;
    chosen = next;
    order = request.order;
  }
  return chosen;
}

bool ReferenceScheduler::issue_column(std::optional<std::uint64_t>& issued) {
  if (now_ < column_bus_) return false;
  const Next next = choose(true);
  if (next.command == Command::none) return false;
  const Request request = request_of(next);
  Bank& bank = banks_[request.bank];
  (request.write ? bank.written : bank.read) = now_;
  remember(columns_, {now_, request.bank, request.write});
  column_bus_ = now_ + 1;
  if (parameters_.scheduler == DramScheduler::fcfs) row_bus_ = std::max(row_bus_, now_ + 1);
  if (parameters_.page_policy == DramPagePolicy::closed) {
    bank.open = false;
    bank.precharged = precharge_of(bank);
  }
  issued = request.id;
  std::erase_if(requests_, [&request](const Request& r) { return r.id == request.id; });
  next_[request.bank] = next_of(request.bank);
  return true;
}

bool ReferenceScheduler::issue_row() {
  if (now_ < row_bus_) return false;
  const Next next = choose(false);
  if (next.command == Command::none) return false;
  Request& request = request_of(next);
  Bank& bank = banks_[request.bank];
  if (next.command == Command::precharge) {
    bank.open = false;
    bank.precharged = now_;
    row_bus_ = now_ + 1;
    next_[request.bank].command = Command::activate;
    return true;
  }
  bank = {.open = true, .row = request.row, .activated = now_};
  remember(activates_, {now_, request.bank, request.write});
  row_bus_ = now_ + parameters_.activate_cycles.n;
  const auto opened = std::count_if(requests_.begin(), requests_.end(), [](const Request& r) { return r.opened; });
  if (static_cast<std::size_t>(opened) < kMostOpened) request.opened = true;
  next_[request.bank].command = Command::column;
  return true;
}

std::optional<std::uint64_t> ReferenceScheduler::tick(bool begins) {
  std::optional<std::uint64_t> issued;
  if (!refresh() && !begins) {
    issue_column(issued);
    issue_row();
  }
  for (bool any = true; any;) {
    any = enter();
    choose_mode();
    any |= issue_column(issued);
    any |= issue_row();
  }
  ++now_;
  return issued;
}

}  // namespace lacuna::test
