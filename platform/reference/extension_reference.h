// Common parts of the generated reference pages of research machines.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>

#include "models/common/config/extension_texts.h"
#include "models/energy/hardware_cost.h"

namespace lacuna {

/// Texts of a page in docs/reference, in Markdown.
struct ExtensionPage {
  const ExtensionTexts& machine;
  std::string_view title;
  std::string_view guide;             ///< link to the page that explains the machine: "[Duplo](../guide/duplo.md)"
  std::string_view counts_file;       ///< header with the counts
  std::string_view cost_file;         ///< header with the cost
  std::string_view cost_explanation;  ///< describes the comments in `cost_file`
};

/// Begins a page: title, sources, and a table of the machine's counts.
void write_extension_counts(const ExtensionPage& page, std::ostream& out);
/// Writes the section on hardware cost. `subject`: the parts that `cost` covers, and the configuration for which it is
/// computed.
void write_extension_hardware(const ExtensionPage& page, std::string_view subject, std::span<const CostLine> cost,
                              std::ostream& out);
/// Writes a table row for each count of a machine: column in kernels.csv, unit and meaning.
void write_count_lines(const ExtensionTexts& machine, std::ostream& out);

}  // namespace lacuna
