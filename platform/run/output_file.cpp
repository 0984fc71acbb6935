#include "platform/run/output_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <system_error>
#include <utility>

#include "models/common/simulator_thread.h"

namespace lacuna {
namespace {

/// `error` is an errno, or 0 when the reason is not known.
std::string cannot_write(const std::string& name, int error) {
  return name + ": cannot be written" + (error == 0 ? "" : ": " + std::generic_category().message(error));
}

}  // namespace

void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& contents) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (file) contents(file);
  file.close();
  if (!file) throw WriteError(cannot_write(path.string(), errno));
}

void flush_standard_output() {
  errno = 0;
  if (std::cout.flush()) return;
  const int error = errno;
  std::cout.clear();
  throw WriteError(cannot_write("standard output", error));
}

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)),
      process_(getpid()),
      file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
      wake_(std::make_unique<std::condition_variable>()) {
  if (file_ < 0) throw WriteError(cannot_write(path_.string(), errno));
  // Signals are for other threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  writer_ = std::thread([this] { write_soon(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

OutputFile::~OutputFile() {
  if (getpid() != process_) {
    // The thread is the parent's, and perhaps so is the mutex at this moment. The condition variable would wait for ever for
    // the thread to leave it.
    writer_.detach();
    static_cast<void>(wake_.release());
    close(file_);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    wake_->notify_one();
  }
  writer_.join();
  write_waiting();
  if (file_ >= 0) close(file_);
}

void OutputFile::write(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (file_ < 0) return;
  if (waiting_.empty()) wake_->notify_one();
  waiting_ += text;
  if (waiting_.size() > kMostWaiting) write_waiting();
}

void OutputFile::flush() {
  const std::lock_guard lock(mutex_);
  write_waiting();
}

std::string OutputFile::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void OutputFile::write_soon() {
  const SimulatorThread registered;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    wake_->wait(lock, [this] { return ending_ || !waiting_.empty(); });
    wake_->wait_for(lock, kLongestDelay, [this] { return ending_; });
    write_waiting();
  }
}

void OutputFile::write_waiting() {
  std::string_view rest = waiting_;
  while (!rest.empty() && file_ >= 0) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      failure_ = cannot_write(path_.string(), errno);
      failed_.store(true, std::memory_order_release);
      close(std::exchange(file_, -1));
    }
  }
  waiting_.clear();
}

}  // namespace lacuna
