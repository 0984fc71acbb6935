#include "platform/sweep/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <system_error>

#include "platform/sweep/sweep_error.h"

extern "C" char** environ;

namespace lacuna {
namespace {

constexpr int kNotFound = 127;

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) throw SweepError("no pipe: " + std::generic_category().message(errno));
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

}  // namespace

ProgramOutput run_program(const std::vector<std::string>& words) {
  Pipe output;
  Pipe errors;
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ProgramOutput result;
  if (error != 0) return {kNotFound, {}, words.front() + ": " + std::generic_category().message(error)};
  for (Pipe* pipe : {&output, &errors}) {
    close(pipe->ends[1]);
    pipe->ends[1] = -1;
  }
  std::array<pollfd, 2> ends{{{output.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}}};
  for (int open = 2; open > 0;) {
    if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t got = read(ends[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        (i == 0 ? result.output : result.errors).append(buffer.data(), static_cast<std::size_t>(got));
      } else {
        ends[i].fd = -1;
        --open;
      }
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace lacuna
