#include "tests/validation/dram_controller.h"

#include <algorithm>

namespace lacuna::validation {
namespace {

constexpr std::size_t kMostOpened = 32;  // Ramulator2's buffer of requests that are being activated

DramOrganization organization(const DramParameters& p) {
  return {p.pseudo_channels, p.bank_groups, p.banks_per_group,
          static_cast<unsigned>(p.row_size.n / (p.burst.n * p.bytes_per_cycle))};
}

void at_least(std::uint64_t& cycle, std::uint64_t bound) { cycle = std::max(cycle, bound); }

}  // namespace

DramController::DramController(const DramParameters& parameters)
    : parameters_(parameters),
      map_(parameters.address_map, organization(parameters)),
      burst_bytes_(static_cast<unsigned>(parameters.burst.n * parameters.bytes_per_cycle)),
      burst_(parameters.burst.n),
      banks_(std::size_t{parameters.pseudo_channels} * parameters.bank_groups * parameters.banks_per_group),
      groups_(std::size_t{parameters.pseudo_channels} * parameters.bank_groups),
      pseudos_(parameters.pseudo_channels) {
  for (Pseudo& pseudo : pseudos_) pseudo.refresh = parameters.tREFI.n != 0 ? parameters.tREFI.n : ~Cycle{0};
}

bool DramController::offer(std::uint64_t address, bool write, std::uint64_t id) {
  if (waiting(write) >= (write ? parameters_.write_queue : parameters_.read_queue)) return false;
  const DramLocation at = map_.locate(address / burst_bytes_);
  const std::size_t group = std::size_t{at.pseudo_channel} * parameters_.bank_groups + at.group;
  requests_.push_back({id, write, false, at.pseudo_channel, group, group * parameters_.banks_per_group + at.bank, at.row});
  ++(write ? writes_ : reads_);
  return true;
}

void DramController::choose_mode() {
  const double writes = static_cast<double>(writes_);
  if (write_mode_) {
    if (writes < parameters_.write_low * parameters_.write_queue && reads_ != 0) write_mode_ = false;
  } else {
    if (writes > parameters_.write_high * parameters_.write_queue || reads_ == 0) write_mode_ = true;
  }
}

void DramController::refresh() {
  for (std::size_t p = 0; p < pseudos_.size(); ++p) {
    Pseudo& pseudo = pseudos_[p];
    if (now_ < pseudo.refresh) continue;
    pseudo.refreshing = true;
    const std::size_t count = banks_.size() / pseudos_.size();
    const auto first = banks_.begin() + static_cast<std::ptrdiff_t>(p * count);
    const auto last = first + static_cast<std::ptrdiff_t>(count);
    if (std::any_of(first, last, [this](const Bank& bank) { return bank.open && bank.precharge > now_; })) continue;
    for (auto bank = first; bank != last; ++bank) {
      bank->open = false;
      at_least(bank->activate, now_ + parameters_.tRP.n + parameters_.tRFC.n);
    }
    pseudo.refresh += parameters_.tREFI.n;
    pseudo.refreshing = false;
  }
}

void DramController::issue_column() {
  const auto ready = [this](const Request& r) {
    const Bank& bank = banks_[r.bank];
    if (!is_served(r) || !bank.open || bank.row != r.row || pseudos_[r.pseudo].refreshing) return false;
    const Group& group = groups_[r.group];
    const Pseudo& pseudo = pseudos_[r.pseudo];
    if (std::max(group.column, pseudo.column) > now_) return false;
    return r.write ? std::max(bank.write, pseudo.write) <= now_ : std::max({bank.read, group.read, pseudo.read}) <= now_;
  };
  const auto request = std::find_if(requests_.begin(), requests_.end(), ready);
  if (request == requests_.end()) return;
  const DramParameters& p = parameters_;
  Bank& bank = banks_[request->bank];
  Group& group = groups_[request->group];
  Pseudo& pseudo = pseudos_[request->pseudo];
  pseudo.column = now_ + std::max(burst_, p.tCCDS.n);
  group.column = now_ + std::max(burst_, p.tCCDL.n);
  if (request->write) {
    const Cycle end = now_ + p.tCWL.n + burst_;
    at_least(bank.precharge, end + p.tWR.n);
    at_least(pseudo.read, end + std::min(p.tWTRS.n, p.tWTR.n));
    at_least(group.read, end + p.tWTR.n);
    if (!pseudo.writing) ++turns_;
    pseudo.writing = true;
    completed_.push_back({request->id, end});
  } else {
    at_least(bank.precharge, now_ + p.tRTP.n);
    const Cycle end = now_ + p.tCL.n + burst_;
    at_least(pseudo.write, end + p.tRTRS.n - std::min(end + p.tRTRS.n, p.tCWL.n));
    pseudo.writing = false;
    completed_.push_back({request->id, end});
  }
  if (request->opened) {
    --opened_;
  } else {
    --(request->write ? writes_ : reads_);
  }
  requests_.erase(request);
}

bool DramController::may_close(std::size_t bank) const {
  return std::none_of(requests_.begin(), requests_.end(),
                      [&](const Request& r) { return r.bank == bank && r.row == banks_[bank].row && is_served(r); });
}

void DramController::activate(Request& request) {
  const DramParameters& p = parameters_;
  const Cycle at = now_ + p.activate_cycles.n - 1;  // timing parameters count from the command's last cycle
  Bank& bank = banks_[request.bank];
  Group& group = groups_[request.group];
  Pseudo& pseudo = pseudos_[request.pseudo];
  bank.open = true;
  bank.row = request.row;
  bank.activate = at + p.tRC.n;
  bank.precharge = at + p.tRAS.n;
  bank.read = at + p.tRCDRD.n;
  bank.write = at + p.tRCDWR.n;
  group.activate = at + p.tRRDL.n;
  pseudo.activate = at + p.tRRDS.n;
  *std::min_element(pseudo.activates.begin(), pseudo.activates.end()) = at + p.tFAW.n;
  row_bus_ = now_ + p.activate_cycles.n;
  if (!request.opened && opened_ < kMostOpened) {  // a refresh may have closed the row again
    request.opened = true;
    ++opened_;
    --(request.write ? writes_ : reads_);
  }
}

void DramController::issue_row() {
  if (row_bus_ > now_) return;
  const Cycle ahead = parameters_.activate_cycles.n - 1;
  for (Request& request : requests_) {
    Bank& bank = banks_[request.bank];
    Pseudo& pseudo = pseudos_[request.pseudo];
    if (!is_served(request) || pseudo.refreshing || (bank.open && bank.row == request.row)) continue;
    if (bank.open) {
      if (bank.precharge > now_ || !may_close(request.bank)) continue;
      bank.open = false;
      at_least(bank.activate, now_ + parameters_.tRP.n);
      row_bus_ = now_ + 1;
      return;
    }
    const Cycle window = *std::min_element(pseudo.activates.begin(), pseudo.activates.end());
    if (std::max({bank.activate, groups_[request.group].activate, pseudo.activate, window}) > now_ + ahead) continue;
    activate(request);
    return;
  }
}

void DramController::tick() {
  refresh();
  choose_mode();
  issue_column();
  issue_row();
  ++now_;
}

std::vector<DramController::Completion> DramController::completed() {
  std::vector<Completion> result;
  result.swap(completed_);
  return result;
}

}  // namespace lacuna::validation
