// Log of guest mistakes: the first occurrences of each kind are logged, and all are counted.
//
// Models log guest mistakes only through these functions, because a guest may repeat a mistake any number of times. For
// example, a trap handler that faults on itself repeats its fault a million times in a simulated millisecond. The counts are
// reported at the end of the run, see platform/run/log.h. There is one table of kinds per process, as there is one log; threads
// may report concurrently.
#pragma once

#include <spdlog/spdlog.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lacuna {

/// Maximum number of logged mistakes per kind.
inline constexpr std::uint64_t kLoggedGuestMistakes = 16;

struct GuestMistakeCount {
  std::string kind;
  std::uint64_t count = 0;
};

/// Counts a mistake. Returns the number of mistakes of this kind so far, including this mistake.
std::uint64_t count_guest_mistake(std::string_view kind);
/// Logs a mistake, for guest_warning() and guest_error(). `count`: result of count_guest_mistake().
void log_guest_mistake(spdlog::level::level_enum level, std::string_view kind, std::uint64_t count, const std::string& text);

/// Counts a guest's mistake, and logs it if it is one of the first of its kind. `kind`: a plural for the summary ("unmapped bus
/// accesses"); the other arguments format a line of the log.
template <class... Arguments>
void guest_warning(std::string_view kind, spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) {
  const std::uint64_t count = count_guest_mistake(kind);
  if (count > kLoggedGuestMistakes) return;
  log_guest_mistake(spdlog::level::warn, kind, count, fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Like guest_warning(), for a mistake that ends the guest's operation.
template <class... Arguments>
void guest_error(std::string_view kind, spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) {
  const std::uint64_t count = count_guest_mistake(kind);
  if (count > kLoggedGuestMistakes) return;
  log_guest_mistake(spdlog::level::err, kind, count, fmt::format(format, std::forward<Arguments>(arguments)...));
}

void note_failed_check();
/// Like guest_error(), for a mistake after which simulated times are not those of the requested work. The guest continues, and
/// the process ends with kExitCheckFailed (platform/run/exit_codes.h) instead of success.
template <class... Arguments>
void failed_check(std::string_view kind, spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) {
  note_failed_check();
  guest_error(kind, format, std::forward<Arguments>(arguments)...);
}
/// Whether failed_check() was called since the table was cleared.
bool any_failed_check();

/// Counts of all kinds that have occurred, in order of their names.
std::vector<GuestMistakeCount> guest_mistakes();
/// Clears the table of kinds and the result of any_failed_check().
void clear_guest_mistakes();

}  // namespace lacuna
