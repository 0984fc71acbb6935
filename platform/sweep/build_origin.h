// Origin of this program.
#pragma once

#include <string>

namespace lacuna {

/// The commit that it was built from, with "-dirty" if files have been changed since; "unknown" outside of a git tree.
///
/// It is in a section of the program's file that is not loaded, so that the next commit does not count as another program.
std::string build_commit();

/// `git describe` of that commit, "v0.2.0-12-g3ce795e0ef72"; "" if no version before it has a tag.
std::string build_description();

/// The compiler and its version.
std::string build_compiler();

}  // namespace lacuna
