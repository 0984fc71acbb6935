#include "models/gpu/device_requests.h"

#include <stdexcept>
#include <utility>

namespace lacuna {

DeviceRequests::DeviceRequests(Tick interval, Tick window, WindowBarrier& barrier)
    : interval_(interval), window_(window), barrier_(barrier), next_(interval) {
  if (interval == Tick{}) throw std::invalid_argument("requests over time: the interval is 0");
}

RequestTimeline& DeviceRequests::add(OldestLoad oldest) {
  oldest_.push_back(std::move(oldest));
  return *units_.emplace_back(std::make_unique<RequestTimeline>(interval_));
}

Tick DeviceRequests::oldest_load() const {
  Tick oldest = kNever;
  for (const OldestLoad& of_unit : oldest_) oldest = earlier(oldest, of_unit());
  return oldest;
}

void DeviceRequests::resolve(Tick end) {
  barrier_.resolve(end);
  advance(end);
}

void DeviceRequests::advance(Tick now) {
  if (now >= next_ + window_) report_until(earlier(now - window_, oldest_load()));
}

void DeviceRequests::report_until(Tick until) {
  const std::uint64_t end = until.ps / interval_.ps;
  RequestIntervals complete;
  for (const auto& unit : units_) unit->take(end, complete);
  for (const auto& [number, counts] : complete) {
    const Tick begin = interval_ * number;
    if (begin + interval_ > reported_) {
      if (begin > reported_) report(begin, {});
      report(begin + interval_, counts);
    } else if (begin + interval_ <= finished_) {
      late_ += counts;
    } else {
      throw std::logic_error("requests over time: a request of an interval that was complete");
    }
  }
  next_ = later(next_, interval_ * (end + 1));
}

void DeviceRequests::report(Tick end, RequestCounts counts) {
  counts += std::exchange(late_, {});
  in_flight_ += counts.started - counts.answered;
  if (sink_) sink_({.begin = reported_, .end = end, .counts = counts, .in_flight = in_flight_});
  reported_ = end;
}

void DeviceRequests::finish(Tick at) {
  const Tick oldest = oldest_load();
  report_until(earlier(at, oldest));
  if (oldest < at || reported_ >= at) return;
  const Tick begin = interval_ * (at.ps / interval_.ps);
  RequestIntervals part;
  if (begin < at) {
    for (const auto& unit : units_) unit->take(at.ps / interval_.ps + 1, part);
  }
  RequestCounts counts;
  for (const auto& [number, of_interval] : part) counts += of_interval;
  if (!part.empty() && begin > reported_) report(begin, {});
  report(at, counts);
  finished_ = at;
}

}  // namespace lacuna
