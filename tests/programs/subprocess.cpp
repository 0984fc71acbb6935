#include "subprocess.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

namespace lacuna::programs {
namespace {

constexpr int kNotStarted = 127;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// The child becomes a separate process group, so that the processes that it starts end with it.
Outcome supervise(const std::function<void()>& child, std::chrono::seconds limit) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) fail("pipe");
  const pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    setpgid(0, 0);
    dup2(pipe_ends[1], STDOUT_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
    alarm(static_cast<unsigned>(limit.count()));
    child();
    _exit(0);
  }
  close(pipe_ends[1]);
  Outcome result;
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  // The alarm ends the child and thereby this loop; it remains set across exec.
  while ((count = read(pipe_ends[0], buffer.data(), buffer.size())) > 0 || (count < 0 && errno == EINTR)) {
    if (count > 0) result.output.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  kill(-pid, SIGKILL);  // processes that the child left behind, if any
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.timed_out = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  return result;
}

}  // namespace

Outcome run_command(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                    std::chrono::seconds limit) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  return supervise(
      [&] {
        if (chdir(folder.c_str()) == 0) execvp(argv[0], argv.data());
        _exit(kNotStarted);
      },
      limit);
}

Outcome run_isolated(const std::function<void()>& work, std::chrono::seconds limit) { return supervise(work, limit); }

}  // namespace lacuna::programs
