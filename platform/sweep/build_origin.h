// Origin of this program: commit and compiler.
#pragma once

#include <string>

namespace lacuna {

/// The commit from which the program was built, with "-dirty" if files had uncommitted changes; "unknown" outside of a git
/// tree.
///
/// The text is in a section of the program's file that is not loaded, so that a new commit alone does not count as another
/// program.
std::string build_commit();

/// `git describe` of the commit, such as "v0.2.0-12-g3ce795e0ef72"; "" if no earlier version has a tag.
std::string build_description();

/// Name and version of the compiler that built the program.
std::string build_compiler();

}  // namespace lacuna
