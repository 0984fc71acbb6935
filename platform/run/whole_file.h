// Files that are either complete or absent.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lacuna {

/// Output cannot be written: no space left, standard output closed. The message states the file and the reason.
class WriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `error`: an errno, or 0 if the reason is unknown.
WriteError write_error(const std::string& name, int error);

/// A file that is written under a hidden name in its folder and renamed when it is complete, replacing an earlier one.
///
/// If the target is not a regular file (a device, a pipe), it cannot be replaced and is written directly; so is an existing
/// file in a folder in which none can be created. A symbolic link is kept: the file that it names is replaced. An earlier
/// file's permissions are kept.
class WholeFile {
 public:
  /// Throws WriteError.
  explicit WholeFile(std::filesystem::path path);
  /// Without commit() the earlier file is kept.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Throws WriteError.
  void write(std::string_view bytes);
  /// Completes the file: all bytes have been written. Throws WriteError.
  void commit();

  /// Whether the name is that of a file which a process has left unfinished.
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

/// Writes all bytes. Returns 0 or an errno. Not interrupted by SIGXFSZ.
int write_all(int file, std::string_view bytes);

}  // namespace lacuna
