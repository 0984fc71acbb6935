// What guests do wrong, on its way to the log: a kind of mistake is logged the first few times and counted always.
//
// A guest repeats a mistake as often as it likes (a trap handler that faults on itself does so a million times in a simulated
// millisecond), so models never log a guest's mistake by themselves. The counts are told at the end of the run, see
// platform/run/log.h. Like the log that it stands before, the table of kinds is the process's; threads may report at once.
#pragma once

#include <spdlog/spdlog.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lacuna {

/// So many mistakes of a kind are logged.
inline constexpr std::uint64_t kLoggedGuestMistakes = 16;

struct GuestMistakeCount {
  std::string kind;
  std::uint64_t count = 0;
};

/// Counts one and returns how many of the kind there are now.
std::uint64_t count_guest_mistake(std::string_view kind);
/// For guest_warning and guest_error: `count` is what count_guest_mistake returned.
void log_guest_mistake(spdlog::level::level_enum level, std::string_view kind, std::uint64_t count, const std::string& text);

/// A guest's mistake. `kind` is a plural for the summary ("unmapped bus accesses"), the rest a line of the log.
template <class... Arguments>
void guest_warning(std::string_view kind, spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) {
  const std::uint64_t count = count_guest_mistake(kind);
  if (count > kLoggedGuestMistakes) return;
  log_guest_mistake(spdlog::level::warn, kind, count, fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// The same for a mistake that ends what the guest was about.
template <class... Arguments>
void guest_error(std::string_view kind, spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) {
  const std::uint64_t count = count_guest_mistake(kind);
  if (count > kLoggedGuestMistakes) return;
  log_guest_mistake(spdlog::level::err, kind, count, fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// All kinds that have occurred, by name.
std::vector<GuestMistakeCount> guest_mistakes();
/// Begins a new table.
void forget_guest_mistakes();

}  // namespace lacuna
