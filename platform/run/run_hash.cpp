#include "platform/run/run_hash.h"

#include <iomanip>
#include <sstream>

#include "platform/run/decimal.h"

namespace lacuna {

void RunHash::bytes(std::string_view bytes) {
  for (const char byte : bytes) {
    hash_ ^= static_cast<unsigned char>(byte);
    hash_ *= 0x100000001b3;
  }
}

void RunHash::add(std::string_view name, std::string_view text) {
  // Lengths separate adjacent texts, so that ("ab", "c") and ("a", "bc") differ.
  for (const std::string_view part : {name, text}) {
    bytes(Decimal(part.size()).text());
    bytes(":");
    bytes(part);
  }
}

void RunHash::add(std::string_view name, std::uint64_t value) { add(name, Decimal(value).text()); }

void RunHash::add(const StatisticsGroup& group) {
  std::string path;
  add(group, path);
}

void RunHash::add(const StatisticsGroup& group, std::string& path) {
  if (group.is_breakdown()) return;
  const std::size_t outer = path.size();
  if (outer != 0) path += '.';
  path += group.name();
  const std::size_t here = path.size();
  for (const Statistic& statistic : group.statistics()) {
    if (!statistic.is_count()) continue;
    path += '.';
    path += statistic.name;
    add(path, statistic.count());
    path.resize(here);
  }
  for (const auto& child : group.groups()) add(*child, path);
  path.resize(outer);
}

std::string RunHash::text() const {
  std::ostringstream text;
  text << std::hex << std::setw(16) << std::setfill('0') << hash_;
  return text.str();
}

}  // namespace lacuna
