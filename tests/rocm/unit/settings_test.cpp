// Tests environment variables, and ownership of the output folder.
#include "drivers/rocm/settings.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "platform/run/output_folder.h"

namespace lacuna::rocm {
namespace {

namespace fs = std::filesystem;

class SettingsTest : public testing::Test {
 protected:
  SettingsTest() {
    for (const char* name : {"LACUNA_CONFIG", "LACUNA_SET", "LACUNA_OUT", "LACUNA_REPORT", "LACUNA_RUN"}) unsetenv(name);
    std::string pattern = (fs::temp_directory_path() / "lacuna-settings-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~SettingsTest() override { fs::remove_all(folder_); }

  static OutputFolder claim(const fs::path& out) { return OutputFolder::claim(out, Settings::from_environment().run); }
  /// Returns the folder that a child process is assigned if it claims `out`, or "refused" if it is assigned none.
  std::string claimed_by_child(const fs::path& out) {
    const fs::path answer = folder_ / "answer";
    if (const pid_t child = fork(); child == 0) {
      std::ofstream file(answer);
      try {
        file << claim(out).path().string() << std::flush;
      } catch (const OutputError&) {
        file << "refused" << std::flush;
      }
      _exit(0);
    } else {
      last_child_ = child;
      int status = 0;
      waitpid(child, &status, 0);
    }
    std::string text;
    std::ifstream(answer) >> text;
    return text;
  }

  fs::path folder_;
  pid_t last_child_ = 0;
};

TEST_F(SettingsTest, NothingSet) {
  const Settings settings = Settings::from_environment();
  EXPECT_TRUE(settings.configuration.empty());
  EXPECT_TRUE(settings.output_folder.empty());
  EXPECT_TRUE(settings.write_results);
  EXPECT_FALSE(settings.report);
}

TEST_F(SettingsTest, FilesAndAssignmentsKeepTheirOrder) {
  setenv("LACUNA_CONFIG", "r9nano;gpu.timing=functional;;/a b/c.cfg", 1);
  setenv("LACUNA_SET", "rocm.gpus=gfx803,gfx90a;vram.size=1GiB", 1);
  const Settings settings = Settings::from_environment();
  ASSERT_EQ(settings.configuration.size(), 5U);
  const bool files[] = {true, false, true, false, false};
  const char* values[] = {"r9nano", "gpu.timing=functional", "/a b/c.cfg", "rocm.gpus=gfx803,gfx90a", "vram.size=1GiB"};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(settings.configuration[i].file, files[i]);
    EXPECT_EQ(settings.configuration[i].value, values[i]);
  }
}

TEST_F(SettingsTest, OutputAndReport) {
  setenv("LACUNA_OUT", "none", 1);
  setenv("LACUNA_REPORT", "1", 1);
  EXPECT_FALSE(Settings::from_environment().write_results);
  EXPECT_TRUE(Settings::from_environment().report);
  setenv("LACUNA_OUT", "somewhere", 1);
  setenv("LACUNA_REPORT", "0", 1);
  EXPECT_EQ(Settings::from_environment().output_folder, "somewhere");
  EXPECT_FALSE(Settings::from_environment().report);
}

TEST_F(SettingsTest, AnOldRunsFolderIsUsedAgain) {
  const fs::path out = folder_ / "out";
  EXPECT_EQ(claimed_by_child(out), out);
  EXPECT_EQ(claimed_by_child(out), out);
}

TEST_F(SettingsTest, FurtherProcessesOfARunGetFoldersOfTheirOwn) {
  const fs::path out = folder_ / "out";
  setenv("LACUNA_RUN", "1", 1);
  EXPECT_EQ(claimed_by_child(out), out);
  const std::string second = claimed_by_child(out);
  EXPECT_EQ(second, out / ("process-" + std::to_string(last_child_)));
  setenv("LACUNA_RUN", "2", 1);
  EXPECT_EQ(claimed_by_child(out), out) << "another run";
}

TEST_F(SettingsTest, AProcessThatLivesKeepsItsFolder) {
  const fs::path out = folder_ / "out";
  EXPECT_EQ(claim(out).path(), out);
  const OutputFolder again = claim(out);
  EXPECT_EQ(again.path(), out) << "once more by the same";
  const std::string other = claimed_by_child(out);
  EXPECT_EQ(other, out / ("process-" + std::to_string(last_child_)));
}

TEST_F(SettingsTest, AnotherRunIsRefusedWhileAProcessLives) {
  const fs::path out = folder_ / "out";
  setenv("LACUNA_RUN", "1", 1);
  const OutputFolder ours = claim(out);
  setenv("LACUNA_RUN", "2", 1);
  EXPECT_EQ(claimed_by_child(out), "refused");
  unsetenv("LACUNA_RUN");
  EXPECT_EQ(claimed_by_child(out), "refused");
}

TEST_F(SettingsTest, ForeignFoldersAreLeftAlone) {
  const fs::path out = folder_ / "foreign";
  fs::create_directory(out);
  std::ofstream(out / "letter.txt") << "Dear";
  EXPECT_EQ(claimed_by_child(out), "refused");
  EXPECT_FALSE(fs::exists(out / FolderLock::kFile));
}

}  // namespace
}  // namespace lacuna::rocm
