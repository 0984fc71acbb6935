// Where this program comes from.
#pragma once

#include <string>

namespace lacuna {

/// The commit that it was built from, "-dirty" behind it when files were changed since; "unknown" outside of a git tree.
///
/// It is in a section of the program's file that is not loaded: the next commit does not make another program of it.
std::string build_commit();

/// The compiler and its version.
std::string build_compiler();

}  // namespace lacuna
