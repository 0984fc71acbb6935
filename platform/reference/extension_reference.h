// Common parts of the reference pages of research machines, which are generated.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>

#include "models/common/config/extension_texts.h"
#include "models/energy/hardware_cost.h"

namespace lacuna {

/// A page of docs/. Texts are Markdown.
struct ExtensionPage {
  const ExtensionTexts& machine;
  std::string_view title;
  std::string_view guide;             ///< link to the page that explains the machine: "[Duplo](../guide/duplo.md)"
  std::string_view counts_file;       ///< header with the counts
  std::string_view cost_file;         ///< header with the cost
  std::string_view cost_explanation;  ///< contents of the comments in `cost_file`
};

/// Begins a page: title, sources, and a table of the machine's counts.
void write_extension_counts(const ExtensionPage& page, std::ostream& out);
/// Writes the section on hardware. `subject`: the parts that `cost` covers, and the configuration that it is computed for.
void write_extension_hardware(const ExtensionPage& page, std::string_view subject, std::span<const CostLine> cost,
                              std::ostream& out);
/// A line for each count of a machine, in a table of three columns: its column of kernels.csv, unit and meaning.
void write_count_lines(const ExtensionTexts& machine, std::ostream& out);

}  // namespace lacuna
