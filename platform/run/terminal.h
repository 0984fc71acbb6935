// Terminal output during a simulation: the guest's console, log lines, and the progress line below them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "models/common/time/units.h"
#include "platform/run/output_file.h"

namespace lacuna {

/// One line on stderr, rewritten in place a few times per second of host time; shown only if stderr is a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool enabled);
  ~ProgressLine() { hide(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  struct Snapshot {
    Tick simulated;
    std::uint64_t hart_instructions;  ///< 0 = there is no hart
    std::uint64_t wavefront_instructions;
    std::string_view kernel;  ///< name of the running kernel; empty = none
  };
  /// Whether it is time to rewrite the progress line. Callers make a snapshot only then.
  bool due() const;
  void show(const Snapshot& snapshot);
  /// Removes the progress line. The console calls this function before each write.
  void hide();
  /// Removes the progress line, and ends an unfinished line of the console on the same terminal; called before any other text
  /// is written to stderr.
  void begin_line();
  /// Call it after the console has written; `line_ended`: the last character was a newline.
  void console_written(bool line_ended) { console_line_open_ = shares_terminal_ && !line_ended; }

 private:
  using HostClock = std::chrono::steady_clock;

  bool enabled_;
  bool shares_terminal_;  ///< stdout and stderr are both terminals
  bool console_line_open_ = false;
  std::atomic<bool> visible_{false};  // atomic: any thread may write to the log, which hides the progress line
  HostClock::time_point last_;
  std::uint64_t last_hart_instructions_ = 0;
  std::uint64_t last_wavefront_instructions_ = 0;
};

/// The guest's console output: written to stdout and to console.txt, and kept for the run hash. stdout receives only these
/// bytes; messages of Lacuna itself go to stderr.
class ConsoleOutput {
 public:
  explicit ConsoleOutput(ProgressLine& progress) : progress_(progress) {}
  /// Also writes to this file from now on.
  void record_to(std::shared_ptr<OutputFile> file) { file_ = std::move(file); }

  void write(std::string_view bytes);
  void flush();
  const std::string& text() const { return text_; }
  /// Reason why output to stdout is incomplete; empty if it is complete.
  const std::string& failure() const { return failure_; }

 private:
  void flush_stdout();

  ProgressLine& progress_;
  std::shared_ptr<OutputFile> file_;
  std::string failure_;
  std::string text_;
};

/// The guest's console input: a file, "-" for stdin (the characters typed so far), or "" for none.
class ConsoleInput {
 public:
  /// Opens the source. Throws UsageError if the file cannot be read.
  explicit ConsoleInput(const std::string& source);
  /// The next byte, or -1 if there is none.
  int read();

 private:
  bool standard_input_;
  std::ifstream file_;
};

}  // namespace lacuna
