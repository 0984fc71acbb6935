#include "platform/run/output_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <iostream>
#include <new>
#include <system_error>
#include <utility>

#include "models/common/host/blocked_signals.h"
#include "models/common/host/simulator_thread.h"
#include "platform/run/gzip.h"

namespace lacuna {

void flush_standard_output() {
  errno = 0;
  if (std::cout.flush()) return;
  const int error = errno;
  std::cout.clear();
  throw write_error("standard output", error);
}

OutputFile::OutputFile(std::filesystem::path path, Form form)
    : path_(std::move(path)),
      form_(form),
      process_(getpid()),
      file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
      wake_(std::make_unique<std::condition_variable>()) {
  if (file_ < 0) throw write_error(path_.string(), errno);
  // Block signals in the new thread, so that other threads handle them.
  const BlockedSignals blocked;
  try {
    writer_ = SimulatorThread::start([this] { write_soon(); });
  } catch (const std::system_error&) {
    close(file_);
    throw;
  }
}

OutputFile::~OutputFile() {
  if (getpid() != process_) {
    // In a child process, the thread belongs to the parent, and the mutex may be locked. The destructor of the condition
    // variable would wait forever for the thread.
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
  std::unique_lock lock(mutex_);
  while (!ending_) {
    wake_->wait(lock, [this] { return ending_ || !waiting_.empty(); });
    wake_->wait_for(lock, kLongestDelay, [this] { return ending_; });
    write_waiting();
  }
}

void OutputFile::write_waiting() {
  if (waiting_.empty()) return;
  int error = 0;
  try {
    if (file_ >= 0 && form_ == Form::gzip) error = write_all(file_, gzip(waiting_));
    if (file_ >= 0 && form_ == Form::plain) error = write_all(file_, waiting_);
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
  }
  waiting_.clear();
  if (error == 0) return;
  failure_ = write_error(path_.string(), error).what();
  failed_.store(true, std::memory_order_release);
  close(std::exchange(file_, -1));
}

}  // namespace lacuna
