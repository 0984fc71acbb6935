#include "platform/run/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "platform/command_line.h"
#include "platform/run/kernel_log.h"
#include "platform/run/text_table.h"

namespace lacuna {
namespace {

constexpr std::chrono::milliseconds kProgressInterval{200};
constexpr const char* kEraseLine = "\r\033[K";

std::string millions(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << value / 1e6 << " M";
  return text.str();
}

/// Columns that can be written without wrapping to a second line, which could not be erased.
std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : std::string::npos;
}

}  // namespace

ProgressLine::ProgressLine(bool enabled)
    : enabled_(enabled && isatty(STDERR_FILENO) != 0),
      shares_terminal_(isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) != 0),
      last_(HostClock::now()) {}

bool ProgressLine::due() const { return enabled_ && HostClock::now() - last_ >= kProgressInterval; }

void ProgressLine::show(const Snapshot& snapshot) {
  const HostClock::time_point now = HostClock::now();
  const double seconds = std::chrono::duration<double>(now - last_).count();
  std::ostringstream line;
  line << "simulated " << readable_time(snapshot.simulated);
  if (snapshot.hart_instructions != 0)
    line << " | hart " << millions(static_cast<double>(snapshot.hart_instructions)) << " instructions, "
         << millions(static_cast<double>(snapshot.hart_instructions - last_hart_instructions_) / seconds) << "/s";
  if (snapshot.wavefront_instructions != 0)
    line << " | GPU " << millions(static_cast<double>(snapshot.wavefront_instructions)) << " wavefront instructions, "
         << millions(static_cast<double>(snapshot.wavefront_instructions - last_wavefront_instructions_) / seconds) << "/s";
  if (!snapshot.kernel.empty()) line << " | " << readable_kernel(std::string(snapshot.kernel));
  last_ = now;
  last_hart_instructions_ = snapshot.hart_instructions;
  last_wavefront_instructions_ = snapshot.wavefront_instructions;
  std::cout.flush();
  begin_line();
  std::cerr << kEraseLine << line.str().substr(0, terminal_width()) << std::flush;
  visible_ = true;
}

void ProgressLine::hide() {
  if (!visible_) return;
  std::cerr << kEraseLine << std::flush;
  visible_ = false;
}

void ProgressLine::begin_line() {
  hide();
  if (!console_line_open_) return;
  console_line_open_ = false;
  std::cout.flush();
  std::cerr << '\n';
}

void ConsoleOutput::write(std::string_view bytes) {
  progress_.hide();
  if (failure_.empty()) {
    std::cout << bytes;
    if (bytes.find('\n') != std::string_view::npos) flush_stdout();
  }
  if (file_ != nullptr) file_->write(bytes);
  text_ += bytes;
  if (!bytes.empty()) progress_.console_written(bytes.back() == '\n');
}

void ConsoleOutput::flush() {
  if (failure_.empty()) flush_stdout();
  if (file_ != nullptr) file_->flush();
}

void ConsoleOutput::flush_stdout() {
  try {
    flush_standard_output();
  } catch (const WriteError& e) {
    failure_ = e.what();
  }
}

ConsoleInput::ConsoleInput(const std::string& source) : standard_input_(source == "-") {
  if (source.empty() || standard_input_) return;
  file_.open(source, std::ios::binary);
  if (!file_) throw UsageError("--input " + source + ": cannot be read");
}

int ConsoleInput::read() {
  if (!standard_input_) return file_.is_open() ? file_.get() : -1;
  pollfd standard_input{STDIN_FILENO, POLLIN, 0};
  unsigned char byte = 0;
  if (poll(&standard_input, 1, 0) <= 0 || ::read(STDIN_FILENO, &byte, 1) != 1) return -1;
  return byte;
}

}  // namespace lacuna
