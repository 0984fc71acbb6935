#include "models/command/dispatch_reports.h"

#include <algorithm>

namespace lacuna {

namespace {

template <class Report>
std::optional<Report> take_front(std::deque<Report>& reports) {
  if (reports.empty()) return std::nullopt;
  std::optional<Report> front(std::move(reports.front()));
  reports.pop_front();
  return front;
}

}  // namespace

bool DispatchReports::has_fault(const Dispatch& dispatch) const {
  return std::any_of(faults_.begin(), faults_.end(), [&dispatch](const Fault& f) {
    return f.slot == dispatch.queue_slot && f.packet == dispatch.packet_index;
  });
}

void DispatchReports::add_fault(const Dispatch& dispatch, const WavefrontFault& fault, std::string text) {
  faults_.push_back({dispatch.queue_slot, dispatch.packet_index, fault, std::move(text)});
}

std::optional<DispatchReports::Completion> DispatchReports::next_completion() { return take_front(completions_); }

std::optional<DispatchReports::Fault> DispatchReports::next_fault() { return take_front(faults_); }

std::optional<DispatchReports::Failure> DispatchReports::next_failure() { return take_front(failures_); }

void DispatchReports::drop(unsigned slot) {
  std::erase_if(completions_, [slot](const Completion& c) { return c.slot == slot; });
  std::erase_if(faults_, [slot](const Fault& f) { return f.slot == slot; });
  std::erase_if(failures_, [slot](const Failure& f) { return f.slot == slot; });
}

void DispatchReports::clear() {
  completions_.clear();
  faults_.clear();
  failures_.clear();
}

}  // namespace lacuna
