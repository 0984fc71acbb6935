// An option of a workload; internal to workloads/common.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "workloads/common/program.h"

namespace workload {

struct Program::Option {
  std::string name, what;
  /// Values in the presets, in the order of `preset_names`.
  std::array<std::string, 3> presets;
  /// Sets the variable; throws a UsageError that states the allowed values if the text is none of them.
  std::function<void(const std::string&)> set;
  /// An option without a value.
  bool is_flag = false;
  /// The effective value.
  std::string value;

  bool varies() const { return presets[0] != presets[1] || presets[1] != presets[2]; }
};

inline constexpr std::array<const char*, 3> preset_names = {"small", "default", "paper"};

}  // namespace workload
