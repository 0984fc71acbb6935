// Tests that gdb-multiarch can drive the hart over the GDB stub: breakpoints, watchpoints, step, registers, memory, Ctrl-C.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/host/hart_environment.h"

namespace lacuna::test {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Writes the commands of the debug session, with the port inserted, to a file.
void write_script(const std::filesystem::path& path, std::uint16_t port) {
  std::string script = contents(LACUNA_GDB_SESSION);
  const std::size_t place = script.find("PORT");
  script.replace(place, 4, std::to_string(port));
  std::ofstream(path) << script;
}

pid_t start_debugger(const std::filesystem::path& script, const std::filesystem::path& output) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (::freopen(output.c_str(), "w", stdout) == nullptr || ::dup2(STDOUT_FILENO, STDERR_FILENO) < 0) ::_exit(126);
  ::execl(LACUNA_GDB, LACUNA_GDB, "-nx", "-nh", "-batch", "-x", script.c_str(), LACUNA_DEBUGGEE_ELF, nullptr);
  ::_exit(127);
}

TEST(HartGdb, AScriptedGdbSessionControlsTheHart) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("lacuna_hart_gdb_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  HartEnvironment environment("environment", {});
  environment.load(LACUNA_DEBUGGEE_IMAGE);
  environment.hart.attach_semihosting({.root = folder, .command_line = "debuggee"});
  const std::uint16_t port = environment.hart.attach_gdb(0);
  write_script(folder / "session.gdb", port);
  const pid_t debugger = start_debugger(folder / "session.gdb", folder / "output");
  ASSERT_GT(debugger, 0);
  // If the debugger ends before it connects, the hart stops waiting for it.
  environment.hart.set_stop_request(
      [debugger] { return ::kill(debugger, 0) != 0 || ::waitpid(debugger, nullptr, WNOHANG) > 0; });
  // Ctrl-C is sent to the debugger while the hart is in the endless loop, the only part of the program that takes a long time.
  sc_core::sc_spawn([&] {
    while (environment.hart.statistics().instructions < 1'000'000) sc_core::wait(1, sc_core::SC_MS);
    ::kill(debugger, SIGINT);
  });
  sc_core::sc_start();
  ::waitpid(debugger, nullptr, 0);

  const std::string output = contents(folder / "output");
  for (const char* line : {"A pc=0x80000000\n", "B a0=1 counter=0\n", "C a0=2 counter=1\n", "$1 = 1\n",
                           "D misa=0x800000000010112d priv-registers=0\n", "Old value = 1\nNew value = 101\n",
                           "E counter=101\n", "Value = 77\n", "F read=77\n", "G ratio=1.5\n", "H still-inside=1\n",
                           "I ft0=2.5\n", "SIGINT", "J interrupted=1\n", "K go_on=3\n", "exited with code 03"}) {
    EXPECT_NE(output.find(line), std::string::npos) << line << "is missing from:\n" << output;
  }
  // The debugger changed the argument of work(2) to 100: `counter` is 1, 101, 104, 108, 113 in turn, and the sum is twice the
  // total of these values, plus 77.
  EXPECT_EQ(environment.console, "sum 931 counter 113\n");
  EXPECT_EQ(environment.exit_code, 3);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lacuna::test
