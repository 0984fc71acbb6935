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
  LaunchKey first;          ///< for loop: variable and its first value
  std::string condition;    ///< for loop, while_loop, branch
  LaunchKey next;           ///< for loop: variable and its next value
  std::size_t partner = 0;  ///< for loop, while_loop, branch and end: index of the statement at the other end
  /// Whether an argument of a dispatch describes this buffer: it is allocated when the statement is first reached.
  bool in_place = false;

  /// Null if the key is not given.
  const LaunchKey* key(std::string_view key_name) const;
};

struct LaunchProgram {
  std::string file;              ///< name for messages
  std::filesystem::path folder;  ///< base of relative file names
  std::vector<LaunchStatement> statements;
  /// Constants that the command line overrides.
  std::vector<LaunchKey> definitions;

  /// "FILE:LINE: " for messages; "" for line 0.
  std::string location(unsigned line) const;
};

/// Throws LaunchError with file, line, the problem and the nearest legal name.
LaunchProgram parse_launch_file(const std::filesystem::path& file);
LaunchProgram parse_launch_text(std::istream& text, const std::string& name, const std::filesystem::path& folder);

/// Moves the buffers that a dispatch's arguments describe to separate buffer statements, which are named by `prefix` and the
/// argument's number unless they have a name, and appends all to the program. `extra` returns further keys of such a buffer.
void add_dispatch(LaunchProgram& program, LaunchStatement dispatch, const std::string& prefix,
                  const std::vector<std::pair<std::size_t, LaunchKey>>& extra = {});

}  // namespace lacuna
