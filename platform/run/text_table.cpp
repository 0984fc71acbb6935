#include "platform/run/text_table.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iomanip>
#include <limits>
#include <memory>
#include <ostream>
#include <string_view>
#include <system_error>

namespace lacuna {
namespace {

/// Number of characters of a UTF-8 text: its bytes except continuation bytes.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string fixed(double value, int decimals) {
  std::array<char, std::numeric_limits<double>::max_exponent10 + 64> text;
  const auto written = std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed, decimals);
  if (written.ec != std::errc{}) return fmt::format("{:.{}f}", value, decimals);
  return {text.begin(), written.ptr};
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string readable_time(Tick time) {
  struct Unit {
    double ps;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits{{{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}}};
  const auto ps = static_cast<double>(time.ps);
  for (const Unit& unit : kUnits)
    if (ps >= unit.ps) return fixed(ps / unit.ps, 3) + ' ' + unit.name;
  return std::to_string(time.ps) + " ps";
}

std::string readable_kernel(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> whole(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || whole == nullptr) return name;
  // Omits the parameters, and the return type, which precedes the name of a template instance.
  const std::string_view text(whole.get());
  std::size_t begin = 0;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && depth > 0) --depth;
    if (depth != 0) continue;
    if (text[i] == ' ') begin = i + 1;
    if (text[i] == '(' && text.substr(i, 21) != "(anonymous namespace)") return std::string(text.substr(begin, i - begin));
    if (text[i] == '(') i += 20;
  }
  return std::string(text);
}

void write_aligned(const std::vector<TextRow>& rows, std::ostream& out) {
  std::vector<std::size_t> widths;
  for (const TextRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], characters(row[i]));
  }
  for (const TextRow& row : rows) {
    std::size_t cells = row.size();
    while (cells > 0 && row[cells - 1].empty()) --cells;  // no blanks at the end of a line
    for (std::size_t i = 0; i < cells; ++i) {
      const std::string padding(widths[i] - characters(row[i]), ' ');
      if (i == 0) {
        out << row[i] << padding;
      } else {
        out << "  " << padding << row[i];
      }
    }
    out << '\n';
  }
}

}  // namespace lacuna
