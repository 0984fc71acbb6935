// Memory requests of a device's loads over time: counts per interval (gpu.request_interval), summed over all compute units.
//
// Counters are read at window boundaries, like those of energy (models/gpu/device_energy.h). Counting needs no process or event
// of the simulation: behaviour and timing of a run are the same with and without it.
//
// An interval is complete when no unit can make further requests in it and all loads that began in it have their responses.
// Samples therefore do not depend on when they are read or on the number of host threads.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "models/compute/memory/request_timeline.h"
#include "models/compute/windows.h"

namespace lacuna {

/// Counts of one interval, or of consecutive intervals without requests and responses.
struct RequestSample {
  Tick begin{};
  Tick end{};
  RequestCounts counts;
  std::uint64_t in_flight = 0;  ///< number of requests in flight at `end`

  bool operator==(const RequestSample& other) const {
    return begin == other.begin && end == other.end && counts.started == other.counts.started &&
           counts.answered == other.counts.answered && counts.latency == other.counts.latency && in_flight == other.in_flight;
  }
};

class DeviceRequests : public WindowBarrier {
 public:
  using Sink = std::function<void(const RequestSample&)>;
  /// Start of a unit's oldest load that still waits for responses; kNever: there is none.
  using OldestLoad = std::function<Tick()>;

  /// `interval`: not 0. `window`: length of a window; units lag a window's end by at most this time. `barrier`: the barrier at
  /// the ends of the compute units' windows, to which all calls are passed on.
  DeviceRequests(Tick interval, Tick window, WindowBarrier& barrier);

  /// Adds a unit. Returns the timeline in which the unit counts its requests.
  RequestTimeline& add(OldestLoad oldest);
  /// Sets the receiver of samples. Without a receiver, samples are dropped.
  void record_to(Sink sink) { sink_ = std::move(sink); }
  /// Reports the intervals that are complete at `now`.
  void advance(Tick now);
  /// Reports the complete intervals, and the part of the current interval until `at`. A load that waits for responses delays
  /// the report of everything after its start. If the run continues, requests that lagging units make before `at` are counted
  /// in the next sample.
  void finish(Tick at);

  void group_finished(unsigned group, unsigned thread, Tick end) override { barrier_.group_finished(group, thread, end); }
  void begin(Tick far) override { barrier_.begin(far); }
  void resolve(Tick end) override;
  Tick next() const override { return barrier_.next(); }
  void retire(Tick horizon) override { barrier_.retire(horizon); }

 private:
  Tick oldest_load() const;
  /// Reports all intervals with requests that end at `until` or before. Throws std::logic_error if a request belongs to an
  /// interval that has been reported.
  void report_until(Tick until);
  void report(Tick end, RequestCounts counts);

  const Tick interval_;
  const Tick window_;
  WindowBarrier& barrier_;
  std::vector<std::unique_ptr<RequestTimeline>> units_;
  std::vector<OldestLoad> oldest_;
  Sink sink_;
  Tick next_{};                  // end of the first interval that is not complete
  Tick reported_{};              // end of the last sample
  Tick finished_{};              // time of the last finish()
  RequestCounts late_;           // requests before finished_ that were added later
  std::uint64_t in_flight_ = 0;  // number of requests without response at the end of the last sample
};

}  // namespace lacuna
