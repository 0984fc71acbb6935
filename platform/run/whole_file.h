// Files that are there whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lacuna {

/// Output that cannot be written: no space left, standard output closed. The message names the file and the reason.
class WriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `error` is an errno, or 0 when the reason is not known.
WriteError write_error(const std::string& name, int error);

/// A file that is written under a hidden name in its folder and gets its own when it is complete, in place of an earlier one.
///
/// What is no regular file (a device, a pipe) cannot be replaced and is written directly; so is an existing file in a folder
/// where none can be made. A symbolic link stays: the file that it names is replaced. An earlier file's permissions stay.
class WholeFile {
 public:
  /// Throws WriteError.
  explicit WholeFile(std::filesystem::path path);
  /// Without commit(): the earlier file stays.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Throws WriteError.
  void write(std::string_view bytes);
  /// All has been written. Throws WriteError.
  void commit();

  /// Whether a file of this name in a folder is one that a process left unfinished.
  static bool is_unfinished(std::string_view name);

 private:
  void open();

  const std::filesystem::path path_;
  std::filesystem::path target_;     ///< path_, or the file that a symbolic link there names
  std::filesystem::path temporary_;  ///< empty: the target is written directly
  int file_ = -1;
};

/// Writes a whole file. Throws WriteError.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& contents);

/// All of it. Returns 0 or an errno. SIGXFSZ does not interrupt it.
int write_all(int file, std::string_view bytes);

}  // namespace lacuna
