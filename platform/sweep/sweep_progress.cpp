#include "platform/sweep/sweep_progress.h"

#include <unistd.h>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <utility>

#include "platform/sweep/statistic_path.h"

namespace lacuna {
namespace {

constexpr std::chrono::milliseconds kOnTerminal{200};
constexpr std::chrono::seconds kElsewhere{30};

}  // namespace

std::string readable_duration(double seconds) {
  const auto whole = static_cast<unsigned long long>(std::ceil(seconds));
  std::ostringstream text;
  text << std::setfill('0');
  if (whole >= 3600) {
    text << whole / 3600 << " h " << std::setw(2) << whole / 60 % 60 << " min";
  } else if (whole >= 60) {
    text << whole / 60 << " min " << std::setw(2) << whole % 60 << " s";
  } else {
    text << whole << " s";
  }
  return text.str();
}

SweepProgress::SweepProgress(bool enabled, std::vector<Metric> metrics)
    : enabled_(enabled), metrics_(std::move(metrics)), terminal_(isatty(STDERR_FILENO) != 0) {}

std::string SweepProgress::text(std::size_t running) const {
  std::ostringstream text;
  text << done_ << " of " << points_ << " points done, " << running << " running, " << failed_ << " failed";
  const std::size_t ended = count();
  if (ended != 0 && ended < points_) {
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
    text << ", about " << readable_duration(elapsed / static_cast<double>(ended) * static_cast<double>(points_ - ended))
         << " left";
  }
  return text.str();
}

void SweepProgress::ended(const std::string& name, const PointRecord& record) {
  if (record.state == PointState::done) {
    ++done_;
    check_metrics(name, record.results);
    return;
  }
  ++failed_;
  tell(name + ": " + state_name(record.state) + ": " + record.cause);
}

// Paths of kernels and of printed values cannot be checked before a run. A missing one is reported after the first run, and
// the sweep continues: other points may have the path, and `lacuna results` can show other metrics of the same runs. Paths of
// hardware were checked before: one that the first point lacks belongs to another machine of the sweep.
void SweepProgress::check_metrics(const std::string& name, const PointResults& results) {
  for (const Metric& metric : std::exchange(metrics_, {})) {
    for (const std::string& path : metric.paths()) {
      const std::string statistic = StatisticPath::parse(path).path;
      if (!statistic.starts_with("kernels.") && !statistic.starts_with("result.")) continue;
      const std::string missing = path_without_result(statistic, results);
      if (!missing.empty()) tell("after the first point (" + name + "): " + metric.name + " = " + metric.text + ": " + missing);
    }
  }
}

void SweepProgress::show(std::size_t running) {
  const Clock::time_point now = Clock::now();
  if (!enabled_ || now - last_ < (terminal_ ? Clock::duration(kOnTerminal) : Clock::duration(kElsewhere))) return;
  last_ = now;
  if (terminal_) {
    std::cerr << "\r\033[K" << text(running) << std::flush;
    visible_ = true;
  } else {
    std::cerr << "lacuna: sweep: " << text(running) << std::endl;
  }
}

void SweepProgress::tell(const std::string& message) {
  hide();
  std::cerr << "lacuna: sweep: " << message << std::endl;
}

void SweepProgress::hide() {
  if (!visible_) return;
  visible_ = false;
  std::cerr << "\r\033[K" << std::flush;
}

}  // namespace lacuna
