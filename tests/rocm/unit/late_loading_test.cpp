// Tests a program that loads the library while it runs, as scripting languages do, uses a queue, and exits without closing
// anything: it must end normally, with the results written.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <hsakmttypes.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "platform/run/exit_codes.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

/// The child process: returns 0 if everything worked until its end.
int use_library() {
  void* library = dlopen(LACUNA_HSAKMT, RTLD_NOW);
  if (library == nullptr) return 1;
  auto* open = symbol<HSAKMT_STATUS()>(library, "hsaKmtOpenKFD");
  auto* allocate = symbol<HSAKMT_STATUS(HSAuint32, HSAuint64, HsaMemFlags, void**)>(library, "hsaKmtAllocMemory");
  auto* map = symbol<HSAKMT_STATUS(void*, HSAuint64, HSAuint64*)>(library, "hsaKmtMapMemoryToGPU");
  auto* create = symbol<HSAKMT_STATUS(HSAuint32, HSA_QUEUE_TYPE, HSAuint32, HSA_QUEUE_PRIORITY, void*, HSAuint64, HsaEvent*,
                                      HsaQueueResource*)>(library, "hsaKmtCreateQueue");
  constexpr HSAuint64 kRing = 4096;
  void* ring = nullptr;
  HSAuint64 seen_at = 0;
  HsaMemFlags flags{};
  flags.ui32.HostAccess = 1;
  HsaQueueResource resource{};
  if (open() != HSAKMT_STATUS_SUCCESS) return 2;
  if (allocate(0, kRing, flags, &ring) != HSAKMT_STATUS_SUCCESS) return 3;
  if (map(ring, kRing, &seen_at) != HSAKMT_STATUS_SUCCESS) return 4;
  const HSAKMT_STATUS status = create(1, HSA_QUEUE_SDMA, 100, HSA_QUEUE_PRIORITY_NORMAL, ring, kRing, nullptr, &resource);
  return status == HSAKMT_STATUS_SUCCESS ? 0 : 5;
}

class LateLoading : public testing::Test {
 protected:
  LateLoading() {
    std::string pattern = (fs::temp_directory_path() / "lacuna-late-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    setenv("LACUNA_CONFIG", "tiny", 1);
    setenv("LACUNA_OUT", (folder_ / "out").c_str(), 1);
  }
  ~LateLoading() override { fs::remove_all(folder_); }

  int exit_code() {
    const pid_t child = fork();
    if (child == 0) std::exit(use_library());
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    return WEXITSTATUS(status);
  }

  fs::path folder_;
};

TEST_F(LateLoading, TheProgramEndsAndTheResultsAreThere) {
  EXPECT_EQ(exit_code(), 0);
  for (const char* file : {"statistics.json", "effective.cfg", "kernels.csv", "log.txt"})
    EXPECT_GT(fs::file_size(folder_ / "out" / file), 0U) << file;
}

TEST_F(LateLoading, ResultsThatAreLostAreAnError) {
  fs::create_directory(folder_ / "out");
  std::ofstream(folder_ / "out/effective.cfg").flush();
  fs::create_symlink("/dev/full", folder_ / "out/statistics.json");
  EXPECT_EQ(exit_code(), kExitOutput);
}

}  // namespace
}  // namespace lacuna
