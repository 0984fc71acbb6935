// Columns that research machines add to the records of kernels: causes of stalls and counts, a column of kernels.csv each.
//
// A machine registers its texts when its parameters are made (models/gpu/device_extension.h). The returned slots identify its
// columns.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace lacuna {

struct StallText {
  std::string_view name;         ///< name in the output files
  std::string_view meaning;      ///< continuation of "the wavefront ...", Markdown
  std::string_view bound;        ///< limit of a kernel whose wavefronts spend most of their time in this cause
  std::string_view remedy = {};  ///< changes to try on such a kernel, Markdown
};
struct ExtensionCountText {
  std::string_view name;  ///< name in the output files, after the machine's name
  std::string_view unit;
  std::string_view meaning;
};

/// Texts of a machine. Names and arrays are constants of the program.
struct ExtensionTexts {
  std::string_view name;  ///< name of the machine in the output files
  std::span<const StallText> causes;
  std::span<const ExtensionCountText> counts;
};

inline constexpr std::size_t kMostExtensionCauses = 4;
inline constexpr std::size_t kMostExtensionCounts = 96;

/// First columns of a machine.
struct ExtensionSlots {
  std::size_t first_cause = 0;  ///< number among the causes of all machines
  std::size_t first_count = 0;  ///< index in KernelActivity::extension
};

/// Registers a machine; a repeated registration returns the same slots. Throws std::length_error if all machines together have
/// too many columns. Not thread-safe, also with the functions below.
ExtensionSlots register_extension(const ExtensionTexts& machine);
/// All registered machines, in the order of registration.
std::span<const ExtensionTexts> extension_texts();
/// The cause with a number among the causes of all machines, or null.
const StallText* extension_cause(std::size_t number);

}  // namespace lacuna
