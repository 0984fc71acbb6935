#include "models/sampling/instruction_mix.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace lacuna {

InstructionMix difference(const InstructionMix& later, const InstructionMix& earlier) {
  InstructionMix result{};
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = later[i] - earlier[i];
  return result;
}

bool is_alike(const InstructionMix& sample, const InstructionMix& instructions) {
  constexpr double kAlike = 0.25;
  constexpr double kAlikeShare = 0.005;
  const auto sum = [](const InstructionMix& mix) {
    return static_cast<double>(std::accumulate(mix.begin(), mix.end(), std::uint64_t{0}));
  };
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const double share = static_cast<double>(instructions[i]) / sum(instructions);
    const double before = static_cast<double>(sample[i]) / sum(sample);
    if (std::abs(share - before) > kAlike * std::max(share, before) + kAlikeShare) return false;
  }
  return true;
}

}  // namespace lacuna
