// Messages about unknown names.
#pragma once

#include <string>
#include <vector>

#include "models/common/config/nearest_name.h"

namespace lacuna::sida {

/// "; did you mean X?", or ": A, B or C" if no name is near.
inline std::string nearest_or_all(const std::vector<std::string>& names, const std::string& name) {
  if (const std::string nearest = nearest_name(names, name); !nearest.empty()) return did_you_mean(nearest);
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) all += (i == 0 ? ": " : i + 1 == names.size() ? " or " : ", ") + names[i];
  return all;
}

}  // namespace lacuna::sida
