#include "platform/run/file_size_limit.h"

#include <cerrno>
#include <ctime>

namespace lacuna {
namespace {

sigset_t file_size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

bool pending() {
  sigset_t set;
  return sigpending(&set) == 0 && sigismember(&set, SIGXFSZ) == 1;
}

// Whether ignore_file_size_signal() has changed the handling of SIGXFSZ, and the original handling.
bool changed = false;
struct sigaction original {};

}  // namespace

HeldFileSizeSignal::HeldFileSizeSignal() : was_pending_(pending()), blocked_(file_size_signal()) {}

HeldFileSizeSignal::~HeldFileSizeSignal() {
  if (was_pending_) return;
  const int error = errno;
  const sigset_t set = file_size_signal();
  const timespec without_waiting{};
  while (sigtimedwait(&set, nullptr, &without_waiting) < 0 && errno == EINTR) {
  }
  errno = error;
}

void ignore_file_size_signal() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  changed = sigaction(SIGXFSZ, &ignore, &original) == 0;
}

void restore_file_size_signal() {
  if (changed) sigaction(SIGXFSZ, &original, nullptr);
}

}  // namespace lacuna
