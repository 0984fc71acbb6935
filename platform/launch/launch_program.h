// A launch file, or the equivalent of the command line's options: a list of statements (docs/guide/launch.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lacuna {

struct LaunchKey {
  std::string name;
  std::string value;
  unsigned line = 0;  ///< 0 = from the command line
};

struct LaunchStatement {
  enum class Kind : std::uint8_t {
    constants,
    code,
    buffer,
    dispatch,
    set,
    loop,
    while_loop,
    branch,
    end,
    write,
    save,
    compare
  };
  Kind kind{};
  unsigned line = 0;
  std::string name;  ///< name of the buffer, kernel or code object
  std::vector<LaunchKey> keys;
  LaunchKey first;          ///< Kind::loop: variable and its first value
  std::string condition;    ///< condition of loop, while_loop, branch
  LaunchKey next;           ///< Kind::loop: variable and its next value
  std::size_t partner = 0;  ///< loop, while_loop, branch: index of the matching end; end: index of the statement that it closes
  /// Whether an argument of a dispatch describes this buffer, which is allocated when the statement is first executed.
  bool in_place = false;

  /// The key of this name; null if it is not given.
  const LaunchKey* key(std::string_view key_name) const;
};

struct LaunchProgram {
  std::string file;              ///< name for messages
  std::filesystem::path folder;  ///< base of relative file names
  std::vector<LaunchStatement> statements;
  /// Constants set on the command line (--define), which override those of the file.
  std::vector<LaunchKey> definitions;

  /// "FILE:LINE: " for messages; "" for line 0.
  std::string location(unsigned line) const;
};

/// Parses a launch file. Throws LaunchError with file, line, the problem and the nearest legal name.
LaunchProgram parse_launch_file(const std::filesystem::path& file);
LaunchProgram parse_launch_text(std::istream& text, const std::string& name, const std::filesystem::path& folder);

/// Appends a dispatch to the program. Each buffer that an argument describes becomes a separate buffer statement before the
/// dispatch; a buffer without a name is named by `prefix` and the argument's number. `extra`: further keys of such a buffer, by
/// argument number.
void add_dispatch(LaunchProgram& program, LaunchStatement dispatch, const std::string& prefix,
                  const std::vector<std::pair<std::size_t, LaunchKey>>& extra = {});

}  // namespace lacuna
