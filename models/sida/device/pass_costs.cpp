#include "models/sida/device/pass_costs.h"

#include <algorithm>
#include <utility>

namespace lacuna {
namespace {

std::uint64_t share_of(std::uint64_t amount, std::uint64_t part, std::uint64_t whole) {
  if (part == whole) return amount;
  return static_cast<std::uint64_t>(static_cast<double>(amount) * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

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

void PassCosts::count(const PassCost& cost, std::uint64_t part, std::uint64_t whole) {
  const auto share = [&](std::uint64_t amount) { return share_of(amount, part, whole); };
  ports_.add({share(cost.ports.lines_read), share(cost.ports.lines_written), Tick{share(cost.ports.waiting.ps)},
              Tick{share(cost.ports.translation.ps)}});
  std::vector<std::uint64_t> traffic(cost.traffic.size());
  std::transform(cost.traffic.begin(), cost.traffic.end(), traffic.begin(), share);
  context_->add_traffic(traffic);
}

}  // namespace lacuna
