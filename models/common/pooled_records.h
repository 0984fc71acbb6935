// Records that are named by their number and used again when they are done with: what is under way in a model, without an
// allocation for each.
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna {

/// A number from `free`, or that of a new record at the end of `all`. References into `all` do not outlive it.
template <typename T>
[[gnu::always_inline]] inline std::uint32_t take_record(std::vector<T>& all, std::vector<std::uint32_t>& free) {
  if (free.empty()) [[unlikely]] {
    all.emplace_back();
    return static_cast<std::uint32_t>(all.size() - 1);
  }
  const std::uint32_t number = free.back();
  free.pop_back();
  return number;
}

}  // namespace lacuna
