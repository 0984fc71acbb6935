// Files that are either complete or absent.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lacuna {

/// Output cannot be written, for example because the disk is full or standard output is closed. The message states the file and
/// the reason.
class WriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `error`: an errno, or 0 if the reason is unknown.
WriteError write_error(const std::string& name, int error);

/// A file that is written under a hidden name in its folder and renamed when it is complete, replacing an earlier file.
///
/// A target that is not a regular file (a device, a pipe) cannot be replaced and is written directly, as is an existing file in
/// a folder in which no file can be created. A symbolic link is kept: the file to which it points is replaced. The permissions
/// of an earlier file are kept.
class WholeFile {
 public:
  /// Opens the file for writing. Throws WriteError.
  explicit WholeFile(std::filesystem::path path);
  /// Removes the hidden file and keeps the earlier file, if commit() was not called.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Appends bytes to the file. Throws WriteError.
  void write(std::string_view bytes);
  /// Completes the file: all bytes have been written. Throws WriteError.
  void commit();

  /// Whether a file of this name was left unfinished by a process.
  static bool is_unfinished(std::string_view name);

 private:
  void open();

  const std::filesystem::path path_;
  std::filesystem::path target_;     ///< path_, or the target of the symbolic link at path_
  std::filesystem::path temporary_;  ///< empty: the target is written directly
  int file_ = -1;
};

/// Writes a whole file. Throws WriteError.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& contents);

/// Writes all bytes. Returns 0 or an errno. SIGXFSZ does not end the process.
int write_all(int file, std::string_view bytes);

}  // namespace lacuna
