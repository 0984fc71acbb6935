#include "models/energy/power_trace.h"

#include <stdexcept>
#include <utility>

namespace lacuna {
namespace {

double picoseconds(Tick time) { return static_cast<double>(time.ps); }

std::vector<double> scaled(const std::vector<double>& counts, double factor) {
  std::vector<double> result;
  result.reserve(counts.size());
  for (const double c : counts) result.push_back(c * factor);
  return result;
}

}  // namespace

PowerTrace::PowerTrace(const EnergyMeter& meter, Tick interval, Sink sink)
    : meter_(meter),
      interval_(interval),
      sink_(std::move(sink)),
      last_(meter.counts()),
      next_(interval),
      counted_(last_.size()) {
  if (interval == Tick{}) throw std::invalid_argument("power: the sampling interval is 0");
}

std::vector<double> PowerTrace::take_counts() {
  EnergyMeter::Counts now = meter_.counts();
  std::vector<double> counted;
  counted.reserve(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) counted.push_back(static_cast<double>(now[i] - last_[i]));
  last_ = std::move(now);
  return counted;
}

void PowerTrace::give(Tick begin, Tick end, const std::vector<double>& counts) {
  const double time = picoseconds(end - begin);
  const double seconds = time * 1e-12;
  PowerSample sample{
      .begin = begin, .end = end, .watts = meter_.joules(counts, time), .bounds = total_of(meter_.bounds(counts, time))};
  for (double& w : sample.watts) w /= seconds;
  sample.bounds = {sample.bounds.low / seconds, sample.bounds.high / seconds};
  sink_(sample);
}

void PowerTrace::read(Tick now) {
  const std::vector<double> counted = take_counts();
  const double since = picoseconds(now - read_);  // not 0: the last reading was before next_
  const auto part = [&](Tick time) { return scaled(counted, picoseconds(time) / since); };

  const std::vector<double> first = part(next_ - read_);
  for (std::size_t i = 0; i < first.size(); ++i) counted_[i] += first[i];
  give(begin_, next_, counted_);
  const Tick whole = interval_ * ((now - next_).ps / interval_.ps);
  if (whole != Tick{}) give(next_, next_ + whole, part(whole));

  begin_ = next_ + whole;
  next_ = begin_ + interval_;
  counted_ = part(now - begin_);
  read_ = now;
}

void PowerTrace::finish(Tick now) {
  advance(now);
  const Tick end = later(now, read_);
  const std::vector<double> counted = take_counts();
  for (std::size_t i = 0; i < counted.size(); ++i) counted_[i] += counted[i];
  read_ = end;
  if (end > begin_) give(begin_, end, counted_);
  begin_ = end;
  next_ = interval_ * (end.ps / interval_.ps + 1);
  counted_.assign(counted_.size(), 0);
}

}  // namespace lacuna
