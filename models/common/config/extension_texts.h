// What research machines add to the records of kernels: causes of stalls and counts, a column of kernels.csv each.
//
// A machine registers its texts when its parameters are made (models/gpu/device_extension.h), and finds its columns by the
// slots that it gets for them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace lacuna {

struct StallText {
  std::string_view name;     ///< as in the output files
  std::string_view meaning;  ///< "the wavefront ...", Markdown
  std::string_view bound;    ///< what limits a kernel whose wavefronts spend most of their time so
};
struct ExtensionCountText {
  std::string_view name;  ///< as in the output files, after the machine's name
  std::string_view unit;
  std::string_view meaning;
};

/// Texts of a machine. Names and arrays are constants of the program.
struct ExtensionTexts {
  std::string_view name;  ///< of the machine, as in the output files
  std::span<const StallText> causes;
  std::span<const ExtensionCountText> counts;
};

inline constexpr std::size_t kMostExtensionCauses = 4;
inline constexpr std::size_t kMostExtensionCounts = 32;

/// Where the columns of a machine begin.
struct ExtensionSlots {
  std::size_t first_cause = 0;  ///< among the causes of all machines
  std::size_t first_count = 0;  ///< in KernelActivity::extension
};

/// The same machine again gets the same slots. std::length_error when all machines together have too many columns. Not while
/// another thread registers or reads texts.
ExtensionSlots register_extension(const ExtensionTexts& machine);
/// All machines that have been registered, in that order.
std::span<const ExtensionTexts> extension_texts();
/// The cause with that number among the causes of all machines. Null: there is none.
const StallText* extension_cause(std::size_t number);

}  // namespace lacuna
