// Progress of a sweep: a line on stderr that is rewritten in place on a terminal, otherwise a line from time to time.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "platform/sweep/results_database.h"

namespace lacuna {

class SweepProgress {
 public:
  /// `metrics`: metrics of the sweep. Metrics that the results of the first successful point do not have are reported.
  SweepProgress(bool enabled, std::vector<Metric> metrics);
  ~SweepProgress() { hide(); }
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;

  /// Counts further points that are to be run.
  void expect(std::size_t points) { points_ += points; }
  /// Counts a point that has ended; if it failed, timed out or was killed, prints its state and cause.
  void ended(const std::string& name, const PointRecord& record);
  /// Counts a point that another sweep has run.
  void ended_elsewhere() { ++done_; }
  std::size_t count() const { return done_ + failed_; }
  std::size_t expected() const { return points_; }
  /// Shows the progress; no effect if the last output was very recent.
  void show(std::size_t running);
  /// Removes the progress line and writes a message; the next show() writes the progress line below it.
  void tell(const std::string& message);
  void hide();

 private:
  using Clock = std::chrono::steady_clock;
  std::string text(std::size_t running) const;
  void check_metrics(const std::string& name, const PointResults& results);

  std::size_t points_ = 0;
  bool enabled_;
  std::vector<Metric> metrics_;  ///< metrics not yet checked
  bool terminal_;
  bool visible_ = false;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
};

/// Formats a duration as "1 h 03 min", "4 min 20 s" or "12 s".
std::string readable_duration(double seconds);

}  // namespace lacuna
