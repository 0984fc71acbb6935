#include "platform/text_table.h"

#include <algorithm>
#include <array>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace lacuna {

std::string fixed(double value, int decimals) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(decimals) << value;
  return text.str();
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

void write_aligned(const std::vector<TextRow>& rows, std::ostream& out) {
  std::vector<std::size_t> widths;
  for (const TextRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const TextRow& row : rows) {
    std::size_t cells = row.size();
    while (cells > 0 && row[cells - 1].empty()) --cells;  // no blanks at the end of a line
    for (std::size_t i = 0; i < cells; ++i)
      out << (i == 0 ? "" : "  ") << (i == 0 ? std::left : std::right) << std::setw(static_cast<int>(widths[i])) << row[i];
    out << '\n';
  }
}

}  // namespace lacuna
