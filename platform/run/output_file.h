// Output that is known to have been written: files that grow while a run goes on, standard output.
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

/// Flushes standard output. Throws WriteError when that, or a write since the last call, failed.
void flush_standard_output();

/// A file that is handed to the operating system soon after it was written to, so that a process that is killed loses next to
/// nothing, without a system call for each line: a thread of the file's own does it. It sleeps while there is nothing to write.
///
/// The first write that fails closes the file. That is remembered, and later text is dropped.
class OutputFile {
 public:
  enum class Form : bool {
    plain,
    gzip,  ///< each piece that is handed over is a member, so that a reader gets all of it at any time
  };
  /// How long text waits at most: half of the second within which a finished kernel is promised to be in its file.
  static constexpr std::chrono::milliseconds kLongestDelay{500};
  /// More than this does not wait, bytes.
  static constexpr std::size_t kMostWaiting = 64 * 1024;

  /// Makes the file, empty. Throws WriteError.
  explicit OutputFile(std::filesystem::path path, Form form = Form::plain);
  /// Writes what is left, except in a child process: what its parent had not yet written is the parent's to write.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // From any thread.
  void write(std::string_view text);
  /// Now.
  void flush();
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// What went wrong; empty while nothing has.
  std::string failure() const;

 private:
  void write_soon();
  void write_waiting();  // with mutex_ held

  const std::filesystem::path path_;
  const Form form_;
  const pid_t process_;
  int file_;
  mutable std::mutex mutex_;
  std::unique_ptr<std::condition_variable> wake_;  // a child process cannot destroy it while its parent's thread waits
  std::string waiting_;
  std::string failure_;
  std::atomic<bool> failed_{false};
  bool ending_ = false;
  std::thread writer_;
};

}  // namespace lacuna
