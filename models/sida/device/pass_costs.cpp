#include "models/sida/device/pass_costs.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lacuna {

std::size_t PassCost::steps_begun(sida::Time elapsed) const {
  return static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), elapsed) - begins.begin());
}

const PassCost* PassCosts::find(Key key) const {
  const auto found = costs_.find(key);
  return found == costs_.end() ? nullptr : &found->second;
}

void PassCosts::begin() {
  ports_before_ = ports_.statistics();
  traffic_before_ = context_->traffic();
}

void PassCosts::end(Key key, const sida::PassCounts& counts, std::vector<sida::Time> begins, sida::Time start) {
  PassCost cost{.counts = counts,
                .begins = std::move(begins),
                .ports = ports_.statistics() - ports_before_,
                .traffic = context_->traffic()};
  for (sida::Time& begin : cost.begins) begin -= start;
  for (std::size_t i = 0; i < cost.traffic.size(); ++i) cost.traffic[i] -= traffic_before_[i];
  costs_.emplace(key, std::move(cost));
}

std::uint64_t PassCosts::Fraction::of(std::uint64_t amount) const {
  if (part == whole) return amount;
  return static_cast<std::uint64_t>(static_cast<double>(amount) * static_cast<double>(part) / static_cast<double>(whole));
}

void PassCosts::count_cycles(const PassCost& cost, sida::Time cycles) {
  const Fraction all{std::min(cycles, cost.counts.cycles), cost.counts.cycles};
  count(cost, all, all, all);
}

void PassCosts::count_bytes(const PassCost& cost, const sida::PassCounts& requested) {
  const auto sum = [](const auto& bytes) { return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}); };
  count(cost, {requested.bytes(), cost.counts.bytes()}, {sum(requested.read_bytes), sum(cost.counts.read_bytes)},
        {sum(requested.written_bytes), sum(cost.counts.written_bytes)});
}

void PassCosts::count(const PassCost& cost, Fraction all, Fraction read, Fraction written) {
  ports_.add({read.of(cost.ports.lines_read), written.of(cost.ports.lines_written), Tick{all.of(cost.ports.waiting.ps)},
              Tick{all.of(cost.ports.translation.ps)}});
  std::vector<std::uint64_t> traffic(cost.traffic.size());
  std::transform(cost.traffic.begin(), cost.traffic.end(), traffic.begin(),
                 [all](std::uint64_t amount) { return all.of(amount); });
  context_->add_traffic(traffic);
}

}  // namespace lacuna
