// Requests of a device's loads over time: those of all compute units, by intervals (gpu.request_interval).
//
// Read at the edges of windows, as energy is (models/gpu/device_energy.h): it has no process and no event, and what a run does,
// and when, is the same with it and without.
//
// An interval is complete when no unit can make a request in it any more and all loads that began in it have been answered. So
// a sample is the same whenever it is read, on any number of host threads.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "models/compute/memory/request_timeline.h"
#include "models/compute/windows.h"

namespace lacuna {

/// One interval, or several in a row in which no request was made or answered.
struct RequestSample {
  Tick begin{};
  Tick end{};
  RequestCounts counts;
  std::uint64_t in_flight = 0;  ///< at `end`

  bool operator==(const RequestSample& other) const {
    return begin == other.begin && end == other.end && counts.started == other.counts.started &&
           counts.answered == other.counts.answered && counts.latency == other.counts.latency && in_flight == other.in_flight;
  }
};

class DeviceRequests : public WindowBarrier {
 public:
  using Sink = std::function<void(const RequestSample&)>;
  /// When the oldest load of a unit began that has not been answered completely; kNever: there is none.
  using OldestLoad = std::function<Tick()>;

  /// `interval`: not 0. `window`: length of a window, by which units may be behind its edge. `edge`: what compute units have
  /// behind their windows.
  DeviceRequests(Tick interval, Tick window, WindowBarrier& edge);

  /// Where a unit counts its requests.
  RequestTimeline& add(OldestLoad oldest);
  /// Where samples go; none: nowhere.
  void record_to(Sink sink) { sink_ = std::move(sink); }
  /// Gives what is complete at `now`.
  void advance(Tick now);
  /// Gives also the part until `at` of the interval that is not over. A load without all its answers keeps back what came after
  /// it began. If the run goes on, what a unit that is behind adds before `at` is part of the next sample.
  void finish(Tick at);

  void group_finished(unsigned group, unsigned thread, Tick end) override { barrier_.group_finished(group, thread, end); }
  void begin(Tick far) override { barrier_.begin(far); }
  void resolve(Tick end) override;
  Tick next() const override { return barrier_.next(); }
  void retire(Tick horizon) override { barrier_.retire(horizon); }

 private:
  Tick oldest_load() const;
  /// Gives all intervals that end at `until` or before and have requests. std::logic_error: a request came too late.
  void report_until(Tick until);
  void report(Tick end, RequestCounts counts);

  const Tick interval_;
  const Tick window_;
  WindowBarrier& barrier_;
  std::vector<std::unique_ptr<RequestTimeline>> units_;
  std::vector<OldestLoad> oldest_;
  Sink sink_;
  Tick next_{};         // end of the first interval that is not complete
  Tick reported_{};     // end of the last sample
  Tick finished_{};     // the last finish()
  RequestCounts late_;  // of before that
  std::uint64_t in_flight_ = 0;
};

}  // namespace lacuna
