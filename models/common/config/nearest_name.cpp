#include "models/common/config/nearest_name.h"

#include <algorithm>
#include <numeric>

namespace lacuna {

std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before_last(to.size() + 1);
  std::vector<std::size_t> last(to.size() + 1);
  std::vector<std::size_t> current(to.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[to.size()];
}

std::size_t misspelling_limit(std::string_view name) { return std::max<std::size_t>(2, name.size() / 3); }

std::string nearest_name(const std::vector<std::string>& candidates, std::string_view name) {
  std::string best;
  std::size_t best_distance = misspelling_limit(name) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(const std::string& name) { return name.empty() ? "" : "; did you mean " + name + "?"; }

}  // namespace lacuna
