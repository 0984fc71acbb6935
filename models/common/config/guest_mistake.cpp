#include "models/common/config/guest_mistake.h"

#include <functional>
#include <map>
#include <mutex>

namespace lacuna {
namespace {

struct Table {
  std::mutex mutex;
  std::map<std::string, std::uint64_t, std::less<>> counts;
  bool failed_check = false;
};

Table& table() {
  // Never destroyed: in the process of a ROCm program, the runtime calls the driver until the process ends.
  static auto* const made = new Table;
  return *made;
}

}  // namespace

std::uint64_t count_guest_mistake(std::string_view kind) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  auto found = all.counts.find(kind);
  if (found == all.counts.end()) found = all.counts.emplace(kind, 0).first;
  return ++found->second;
}

void log_guest_mistake(spdlog::level::level_enum level, std::string_view kind, std::uint64_t count, const std::string& text) {
  if (count < kLoggedGuestMistakes) {
    spdlog::log(level, "{}", text);
  } else {
    spdlog::log(level, "{} (more {} are counted, but not logged)", text, kind);
  }
}

std::vector<GuestMistakeCount> guest_mistakes() {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  std::vector<GuestMistakeCount> list;
  for (const auto& [kind, count] : all.counts) list.push_back({kind, count});
  return list;
}

void clear_guest_mistakes() {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  all.counts.clear();
  all.failed_check = false;
}

void note_failed_check() {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  all.failed_check = true;
}

bool any_failed_check() {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  return all.failed_check;
}

}  // namespace lacuna
