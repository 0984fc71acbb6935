// Formatting of numbers and tables for reports.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

/// "1.234 ms": three decimals in a suitable unit from ns to s; "12 ps" below 1 ns.
std::string readable_time(Tick time);
/// "1,234,567": digits in groups of three.
std::string grouped(std::uint64_t number);
std::string fixed(double value, int decimals);
/// A kernel's name as in its source: "scale<float>" for _Z5scaleIfEvPT_S0_i. Other names are unchanged.
std::string readable_kernel(const std::string& name);

using TextRow = std::vector<std::string>;
/// Columns padded to their widest cell: the first left-aligned, the others right-aligned.
void write_aligned(const std::vector<TextRow>& rows, std::ostream& out);

}  // namespace lacuna
