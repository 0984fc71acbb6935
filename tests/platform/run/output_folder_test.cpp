// Tests the ownership of output folders, and that files are complete or absent even if the process is killed or exceeds a
// limit.
#include "platform/run/output_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "platform/run/gzip.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Message of the exception that `act` throws; "" if it throws none.
std::string message(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

/// Runs `act` in a child process. Returns the result of `act` and the wait status of the child.
std::pair<std::string, int> in_child(const std::function<std::string()>& act) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = act();
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return {text, status};
}

/// Sets the file size limit of this process for the lifetime of the object.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

class OutputFolderInUse : public ::testing::Test {
 protected:
  OutputFolderInUse() {
    std::string pattern = (fs::temp_directory_path() / "lacuna-output-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~OutputFolderInUse() override { fs::remove_all(root_); }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(root_)) found.push_back(entry.path().filename().string());
    return found;
  }

  fs::path root_;
};
using WholeFiles = OutputFolderInUse;

TEST_F(OutputFolderInUse, ASecondRunIsRefusedUntilTheFirstHasEnded) {
  const fs::path out = root_ / "out";
  {
    OutputFolder first = OutputFolder::at(out);
    first.write("statistics.json", [](std::ostream& file) { file << "first"; });
    const std::string refusal = "--out " + out.string() + ": in use by a run that has not ended: process " +
                                std::to_string(getpid()) + "; nothing was written";
    EXPECT_EQ(message([&] { OutputFolder::at(out); }), refusal);
    EXPECT_EQ(in_child([&] { return message([&] { OutputFolder::at(out); }); }).first, refusal);
    EXPECT_EQ(message([&] { OutputFolder::reserve(out, "1.2"); }), refusal);
    EXPECT_EQ(message([&] { OutputFolder::claim(out, "1.2"); }), refusal);
    EXPECT_EQ(contents_of(out / "statistics.json"), "first");
  }
  EXPECT_EQ(message([&] { OutputFolder::at(out); }), "");
}

TEST_F(OutputFolderInUse, AProcessThatIsKilledLeavesNoLock) {
  const fs::path out = root_ / "out";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const OutputFolder folder = OutputFolder::at(out);
    if (write(ends[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]);
  close(ends[1]);
  EXPECT_THAT(message([&] { OutputFolder::at(out); }), HasSubstr("process " + std::to_string(child) + ';'));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(message([&] { OutputFolder::at(out); }), "");
}

// Several processes try to own a folder at the same time; an owner keeps the folder until all have tried.
TEST_F(OutputFolderInUse, OneOfManyRunsGetsTheFolder) {
  const fs::path out = root_ / "out";
  for (int round = 0; round < 5; ++round) {
    int start[2];
    int result[2];
    int end[2];
    for (int* ends : {start, result, end}) ASSERT_EQ(pipe(ends), 0);
    constexpr int kProcesses = 6;
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        for (const int unused : {start[1], end[1]}) close(unused);
        char byte = 0;
        if (read(start[0], &byte, 1) != 0) _exit(1);
        std::optional<OutputFolder> folder;
        const bool refused = !message([&] { folder.emplace(OutputFolder::at(out)); }).empty();
        if (write(result[1], refused ? "-" : "+", 1) != 1 || read(end[0], &byte, 1) != 0) _exit(1);
        _exit(0);
      }
      children.push_back(child);
    }
    close(start[1]);
    std::string answers;
    for (char byte = 0; answers.size() < kProcesses && read(result[0], &byte, 1) == 1;) answers += byte;
    close(end[1]);
    for (const pid_t child : children) waitpid(child, nullptr, 0);
    for (const int left : {start[0], result[0], result[1], end[0]}) close(left);
    ASSERT_EQ(answers.size(), kProcesses);
    EXPECT_EQ(std::count(answers.begin(), answers.end(), '+'), 1);
  }
}

TEST_F(OutputFolderInUse, NumbersAreClaimedByOneRunEach) {
  std::set<std::string> claimed;
  std::vector<OutputFolder> folders;
  for (int i = 0; i < 3; ++i) {
    folders.push_back(OutputFolder::numbered(root_ / "out"));
    claimed.insert(in_child([&] { return OutputFolder::numbered(root_ / "out").path().string(); }).first);
    claimed.insert(folders.back().path().string());
  }
  EXPECT_EQ(claimed.size(), 6u);
  EXPECT_THAT(message([&] { OutputFolder::at(root_ / "out/run-0001"); }), HasSubstr("in use"));
}

TEST_F(OutputFolderInUse, FilesOfAnEarlierRunAreRemovedAndNoOthers) {
  const std::vector<std::string> earlier{
      "statistics.json", "kernels.csv", "kernels.csv.gz", "kernel_totals.csv", "power.csv",    "requests.csv",
      "links.csv",       "links.svg",   "links_gpu1.svg", "look_ups.csv.gz",   "jobs.csv",     "job_arrays.csv",
      "passes.csv",      "log.txt",     "console.txt",    ".log.txt.1.2.part", "effective.cfg"};
  for (const std::string& name : earlier) std::ofstream(root_ / name) << "earlier";
  std::ofstream(root_ / "notes.txt") << "mine";
  fs::create_directory(root_ / "process-1");
  fs::remove(root_ / "power.csv");
  fs::create_symlink("/dev/null", root_ / "power.csv");
  const OutputFolder folder = OutputFolder::at(root_);
  EXPECT_THAT(names(), ::testing::UnorderedElementsAre("notes.txt", "process-1", "power.csv", ".lacuna-lock"));
  EXPECT_TRUE(fs::is_symlink(root_ / "power.csv"));
}

// If a process is killed after it has locked the folder, but before it writes its first file, the folder belongs to Lacuna.
TEST_F(OutputFolderInUse, TheLockMarksTheFolder) {
  { const OutputFolder folder = OutputFolder::at(root_ / "out"); }
  std::ofstream(root_ / "out/notes.txt") << "mine";
  EXPECT_EQ(message([&] { OutputFolder::at(root_ / "out"); }), "");
}

TEST_F(OutputFolderInUse, ARunThatHasReservedItKeepsItWhileItLives) {
  const fs::path out = root_ / "out";
  const std::string run = name_of_this_run();
  OutputFolder::reserve(out, run);
  const std::string refusal = "--out " + out.string() + ": in use by a run that has not ended: process " +
                              std::to_string(getpid()) + "; nothing was written";
  EXPECT_EQ(message([&] { OutputFolder::reserve(out, "1.2"); }), refusal);
  EXPECT_EQ(message([&] { OutputFolder::claim(out, "1.2"); }), refusal);
  EXPECT_EQ(in_child([&] { return OutputFolder::claim(out, run).path().string(); }).first, out.string()) << "its first process";
  EXPECT_THAT(in_child([&] { return OutputFolder::claim(out, run).path().string(); }).first,
              StartsWith((out / "process-").string()))
      << "its second";
  // Runs that have ended: the process ID of the first has been reused by another process, that of the second is not in use.
  OutputFolder::reserve(root_ / "other", std::to_string(getpid()) + ".1");
  EXPECT_EQ(message([&] { OutputFolder::reserve(root_ / "other", "0.1"); }), "");
  EXPECT_EQ(message([&] { OutputFolder::at(root_ / "other"); }), "");
}

// A system call filter simulates a file system without locks, because such file systems are rare.
TEST_F(OutputFolderInUse, WithoutLocksTheRunGoesOnAndSaysSo) {
  const auto [text, status] = in_child([&] {
    // The last arguments of BPF_JUMP are the numbers of instructions skipped if the values are equal, and if they are not.
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_OFD_SETLK, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_OFD_SETLKW, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{.len = std::size(filter), .filter = filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return std::string("no filter");
    const OutputFolder folder = OutputFolder::at(root_ / "out");
    folder.write("statistics.json", [](std::ostream& out) { out << "whole"; });
    return folder.lock().missing();
  });
  EXPECT_EQ(text, "No locks available");
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents_of(root_ / "out/statistics.json"), "whole");
}

TEST_F(WholeFiles, TheEarlierOneStaysUntilTheNewOneIsComplete) {
  const fs::path file = root_ / "result.json";
  std::ofstream(file) << "earlier";
  chmod(file.c_str(), 0640);
  {
    WholeFile unfinished(file);
    unfinished.write("half");
    EXPECT_EQ(contents_of(file), "earlier");
    EXPECT_EQ(names().size(), 2u);
  }
  EXPECT_EQ(contents_of(file), "earlier");
  EXPECT_EQ(names().size(), 1u) << "it has been removed completely";
  const std::string much(200'000, 'x');
  write_file(file, [&](std::ostream& out) {
    out << much << 42;
    out.flush();
    EXPECT_EQ(contents_of(file), "earlier");
  });
  EXPECT_EQ(contents_of(file), much + "42");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0640));
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(WholeFiles, AProcessThatIsKilledLeavesTheEarlierOne) {
  const fs::path file = root_ / "result.json";
  std::ofstream(file) << "earlier";
  const auto [text, status] = in_child([&] {
    write_file(file, [&](std::ostream& out) {
      out << std::string(200'000, 'x') << std::flush;
      raise(SIGKILL);
    });
    return std::string();
  });
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(contents_of(file), "earlier");
}

TEST_F(WholeFiles, LinksStayAndDevicesAreWrittenTo) {
  std::ofstream(root_ / "there") << "earlier";
  fs::create_symlink("there", root_ / "link");
  write_file(root_ / "link", [](std::ostream& out) { out << "new"; });
  EXPECT_TRUE(fs::is_symlink(root_ / "link"));
  EXPECT_EQ(contents_of(root_ / "there"), "new");
  write_file("/dev/null", [](std::ostream& out) { out << "new"; });
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const std::string longest(255, 'n');
  write_file(root_ / longest, [](std::ostream& out) { out << "new"; });
  EXPECT_EQ(contents_of(root_ / longest), "new");
}

TEST_F(WholeFiles, EveryFailureNamesTheFile) {
  const auto write = [&](const fs::path& file, std::size_t bytes) {
    return message([&] { write_file(file, [&](std::ostream& out) { out << std::string(bytes, 'x'); }); });
  };
  const std::string file = (root_ / "result.json").string();
  EXPECT_EQ(write(root_ / "none/result.json", 1),
            (root_ / "none/result.json").string() + ": cannot be written: No such file or directory");
  fs::create_directory(root_ / "folder");
  EXPECT_EQ(write(root_ / "folder", 1), (root_ / "folder").string() + ": cannot be written: Is a directory");
  EXPECT_EQ(write("/dev/full", 1), "/dev/full: cannot be written: No space left on device");
  std::ofstream(file) << "earlier";
  for (const rlim_t limit : {0, 1, 4096, 100'000}) {
    const FileSizeLimit limited(limit);
    EXPECT_EQ(write(file, 200'000), file + ": cannot be written: File too large") << limit;
  }
  EXPECT_EQ(contents_of(file), "earlier");
  EXPECT_EQ(names().size(), 2u);
}

volatile std::sig_atomic_t signals_seen = 0;

// SIGXFSZ ends a process that does not handle it. Signals caused by the simulator's writes must not reach the program's
// handler, but signals caused by the program's own writes must.
TEST_F(WholeFiles, TheLimitsSignalStaysTheProgramsOwn) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { signals_seen = signals_seen + 1; };
  sigaction(SIGXFSZ, &action, &before);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  {
    const FileSizeLimit limited(10);
    OutputFile grows(root_ / "grows");
    grows.write(std::string(2 * OutputFile::kMostWaiting, 'x'));  // written by the caller's thread
    EXPECT_EQ(grows.failure(), (root_ / "grows").string() + ": cannot be written: File too large");
    EXPECT_THAT(message([&] { write_file(root_ / "whole", [](std::ostream& out) { out << "more than ten bytes"; }); }),
                HasSubstr("File too large"));
    EXPECT_EQ(signals_seen, 0);
    const int own = open((root_ / "own").c_str(), O_WRONLY | O_CREAT, 0666);
    EXPECT_EQ(pwrite(own, "x", 1, 10), -1);
    close(own);
    EXPECT_EQ(signals_seen, 1);
  }
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  EXPECT_EQ(sigismember(&now, SIGXFSZ), sigismember(&mask, SIGXFSZ));
  sigaction(SIGXFSZ, &before, nullptr);
  // A process without a handler also continues.
  const auto [text, status] = in_child([&] {
    const FileSizeLimit limited(0);
    OutputFile grows(root_ / "grows");
    grows.write("x");
    while (!grows.failed()) usleep(1000);  // the file's thread writes asynchronously
    return grows.failure();
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(text, HasSubstr("File too large"));
}

TEST(Gzip, ConcatenatedMembersAreReadAndTruncatedOnesRefused) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + ",kernel,0,0,0,0\n";
  EXPECT_EQ(gunzip(gzip(text)), text);
  EXPECT_EQ(gunzip(gzip("a") + gzip("") + gzip(text) + gzip("b")), "a" + text + "b");
  EXPECT_EQ(gunzip(""), "");
  EXPECT_LT(gzip(text).size(), text.size() / 4);
  const std::string member = gzip(text);
  for (const std::size_t size : {std::size_t{1}, std::size_t{10}, member.size() / 2, member.size() - 1})
    EXPECT_THROW(gunzip(std::string_view(member).substr(0, size)), GzipError) << size;
  EXPECT_THROW(gunzip("index,kernel"), GzipError);
  EXPECT_THROW(gunzip(member + "index"), GzipError);
}

TEST_F(OutputFolderInUse, ACompressedFileIsCompleteAtAnyTime) {
  OutputFolder folder = OutputFolder::at(root_ / "out");
  const auto file = folder.begin("kernels.csv.gz", OutputFile::Form::gzip);
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const std::string more(1000, static_cast<char>('a' + i));
    file->write(more);
    text += more;
    file->flush();
    file->flush();  // no effect: nothing is left to write
    EXPECT_EQ(gunzip(contents_of(root_ / "out/kernels.csv.gz")), text);
  }
  fs::create_symlink("/dev/full", root_ / "out/full");
  const auto full = folder.begin("full", OutputFile::Form::gzip);
  full->write("text");
  EXPECT_THAT(message([&] { folder.flush(); }), AllOf(HasSubstr("out/full"), HasSubstr("No space left on device")));
}

}  // namespace
}  // namespace lacuna
