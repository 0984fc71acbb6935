#include "platform/run/run_hash.h"

#include <iomanip>
#include <sstream>

namespace lacuna {

void RunHash::bytes(std::string_view bytes) {
  for (const char byte : bytes) {
    hash_ ^= static_cast<unsigned char>(byte);
    hash_ *= 0x100000001b3;
  }
}

void RunHash::add(std::string_view name, std::string_view text) {
  // Lengths keep neighbouring texts apart: ("ab", "c") is not ("a", "bc").
  bytes(std::to_string(name.size()) + ':');
  bytes(name);
  bytes(std::to_string(text.size()) + ':');
  bytes(text);
}

void RunHash::add(std::string_view name, std::uint64_t value) { add(name, std::to_string(value)); }

void RunHash::add(const StatisticsGroup& group, const std::string& path) {
  const std::string here = path.empty() ? group.name() : path + '.' + group.name();
  for (const Statistic& statistic : group.statistics())
    if (statistic.count) add(here + '.' + statistic.name, statistic.count());
  for (const auto& child : group.groups()) add(*child, here);
}

std::string RunHash::text() const {
  std::ostringstream text;
  text << std::hex << std::setw(16) << std::setfill('0') << hash_;
  return text.str();
}

}  // namespace lacuna
