// Columns that research machines add to the records of kernels: stall causes and counts, each a column of kernels.csv.
//
// A machine registers its texts when its parameters are created (models/gpu/device_extension.h). The returned slots identify
// its columns.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace lacuna {

struct StallText {
  std::string_view name;         ///< name in the output files
  std::string_view meaning;      ///< Markdown text that continues "the wavefront ..."
  std::string_view bound;        ///< name of the limit of a kernel whose wavefronts wait mainly for this cause
  std::string_view remedy = {};  ///< Markdown text: changes to try on a kernel that this cause bounds
};
struct ExtensionCountText {
  std::string_view name;  ///< name in the output files, after the machine's name
  std::string_view unit;
  std::string_view meaning;
};

/// Texts of a machine. The names and arrays must exist until the program ends.
struct ExtensionTexts {
  std::string_view name;  ///< name of the machine in the output files
  std::span<const StallText> causes;
  std::span<const ExtensionCountText> counts;
};

inline constexpr std::size_t kMostExtensionCauses = 4;
inline constexpr std::size_t kMostExtensionCounts = 96;

/// Positions of a machine's first stall cause and first count in the lists of all machines.
struct ExtensionSlots {
  std::size_t first_cause = 0;  ///< number of the machine's first cause, counted over all machines
  std::size_t first_count = 0;  ///< index of the machine's first count in KernelActivity::extension
};

/// Registers a machine; a repeated registration returns the same slots. Throws std::length_error if all machines together have
/// too many columns. Must not run concurrently with any other function of this header.
ExtensionSlots register_extension(const ExtensionTexts& machine);
/// Texts of all registered machines, in the order of registration.
std::span<const ExtensionTexts> extension_texts();
/// Texts of cause `number`, counted over all machines; null if there is no such cause.
const StallText* extension_cause(std::size_t number);

}  // namespace lacuna
