#include "models/sampling/skipped_results.h"

#include <fmt/format.h>

#include <cstring>

#include "models/common/config/guest_mistake.h"
#include "models/isa/analysis/loaded_control.h"

namespace lacuna {

namespace {

isa::FetchWords fetch_from(const isa::MemoryInterface& memory) {
  return [&memory](std::uint64_t pc, std::array<std::uint32_t, 3>& words) {
    const isa::MemoryWindow window = memory.find(pc);
    if (!isa::allows(window.granted, isa::Access::execute)) return std::size_t{0};
    std::size_t count = words.size();
    while (count > 0 && !window.contains(pc, count * sizeof words[0])) --count;
    if (count > 0) std::memcpy(words.data(), window.host + (pc - window.base), count * sizeof words[0]);
    return count;
  };
}

}  // namespace

void SkippedResults::skipped(const Dispatch& dispatch) {
  if (!first_.empty()) return;
  first_ = dispatch.kernel;
  guest_warning("kernels whose results are not computed",
                "kernel {}: workgroups are skipped (sampling.untimed = skipped): from here on results are not computed",
                dispatch.kernel);
}

const std::optional<std::string>& SkippedResults::loaded_control(const Dispatch& dispatch) {
  const auto [place, is_new] = known_.try_emplace(dispatch.entry);
  if (is_new) {
    const isa::ControlFlow flow(fetch_from(memory_), target_, dispatch.entry);
    if (const auto found = isa::find_loaded_control(flow))
      place->second = fmt::format("{} at {} + {:#x}", found->mnemonic, dispatch.kernel, found->pc - dispatch.entry);
  }
  return place->second;
}

std::optional<std::string> SkippedResults::refusal(Dispatch& dispatch) {
  if (first_.empty()) return std::nullopt;
  const std::optional<std::string>& found = loaded_control(dispatch);
  if (!found) return std::nullopt;
  return fmt::format(
      "its control flow depends on loaded data ({}), but workgroups of {} have been skipped, so that data may be missing: use "
      "sampling.untimed = executed (without --results none)",
      *found, first_);
}

}  // namespace lacuna
