// Output with detection of write errors: files that grow during a run, and standard output.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "platform/run/whole_file.h"

namespace lacuna {

/// Flushes standard output. Throws WriteError if the flush, or a write since the last call, failed.
void flush_standard_output();

/// A file for which a dedicated thread passes text to the operating system soon after write(). A killed process thus loses
/// hardly any text, without a system call per line. The thread sleeps while there is nothing to write.
///
/// The first write that fails closes the file. The failure is recorded, and later text is dropped.
class OutputFile {
 public:
  enum class Form : bool {
    plain,
    gzip,  ///< each write is a complete gzip member, so that the file can be read at any time
  };
  /// Maximum time for which text is buffered: half a second, since a finished kernel is guaranteed to be in its file within a
  /// second.
  static constexpr std::chrono::milliseconds kLongestDelay{500};
  /// Maximum number of bytes of text that are buffered.
  static constexpr std::size_t kMostWaiting = 64 * 1024;

  /// Creates the file, empty. Throws WriteError.
  explicit OutputFile(std::filesystem::path path, Form form = Form::plain);
  /// Writes the remaining text, except in a child process, where the text belongs to the parent.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // The following functions may be called from any thread.
  void write(std::string_view text);
  /// Writes all text immediately.
  void flush();
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Description of the first error; empty if there was none.
  std::string failure() const;

 private:
  void write_soon();
  void write_waiting();  // mutex_ must be held

  const std::filesystem::path path_;
  const Form form_;
  const pid_t process_;
  int file_;
  mutable std::mutex mutex_;
  std::unique_ptr<std::condition_variable> wake_;  // a pointer: a child process must not destroy it, see ~OutputFile()
  std::string waiting_;
  std::string failure_;
  std::atomic<bool> failed_{false};
  bool ending_ = false;
  std::thread writer_;
};

}  // namespace lacuna
