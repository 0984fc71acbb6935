#include "platform/run/output_folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace lacuna {
namespace fs = std::filesystem;
namespace {

/// A folder with this file belongs to Lacuna. The lock's file also marks a folder, but earlier versions did not create it.
constexpr std::string_view kMarker = "effective.cfg";
/// Files of an earlier run that are removed before a new run; "owner" is from earlier versions.
constexpr std::array<std::string_view, 15> kFilesOfARun{
    "effective.cfg",  "statistics.json", "kernels.csv", "kernels.csv.gz",  "kernel_totals.csv",
    "power.csv",      "requests.csv",    "links.csv",   "look_ups.csv.gz", "jobs.csv",
    "job_arrays.csv", "passes.csv",      "log.txt",     "console.txt",     "owner"};

bool is_file_of_a_run(const std::string& name) {
  // links.svg, or links_NAME.svg of each device.
  return std::find(kFilesOfARun.begin(), kFilesOfARun.end(), name) != kFilesOfARun.end() || WholeFile::is_unfinished(name) ||
         (name.starts_with("links") && name.ends_with(".svg"));
}

/// Whether the error is a full or failing disk, which is not an error of the user.
bool is_output_failure(const std::error_code& status) {
  return status.value() == ENOSPC || status.value() == EDQUOT || status.value() == EIO || status.value() == EFBIG;
}

[[noreturn]] void cannot_make(const fs::path& folder, const std::error_code& status) {
  if (is_output_failure(status)) throw write_error(folder.string(), status.value());
  throw OutputError(folder.string() + ": cannot make the output folder: " + status.message());
}

void make(const fs::path& folder) {
  std::error_code status;
  fs::create_directories(folder, status);
  if (status) cannot_make(folder, status);
}

/// Creates the folder if it does not exist; throws OutputError if it contains foreign files.
void make_or_reuse(const fs::path& folder) {
  std::error_code status;
  if (fs::exists(folder, status)) {
    if (!fs::is_directory(folder, status)) throw OutputError("--out " + folder.string() + ": is not a folder");
    if (!fs::is_empty(folder, status) && !fs::exists(folder / kMarker, status) &&
        !fs::exists(folder / FolderLock::kFile, status))
      throw OutputError("--out " + folder.string() + ": holds files that are not from Lacuna (no " + std::string(kMarker) +
                        "); nothing was written");
  }
  make(folder);
}

[[noreturn]] void refuse(const fs::path& folder, const FolderOwner& owner) {
  // If no process uses the reserved folder yet, state the run's first process, whose ID is at the start of the run's name.
  const pid_t process = owner.process != 0 ? owner.process : static_cast<pid_t>(std::strtol(owner.run.c_str(), nullptr, 10));
  const bool seen = process > 0 && (kill(process, 0) == 0 || errno == EPERM);
  throw OutputError("--out " + folder.string() + ": in use by a run that has not ended: process " + std::to_string(process) +
                    (seen ? "" : ", which is not on this host or has left it to a child") + "; nothing was written");
}

void remove_files_of_earlier_run(const fs::path& folder) {
  std::error_code status;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, status)) {
    const std::string name = entry.path().filename().string();
    // Other objects that the user has created at the file's path, such as a link to a device, are kept.
    if (is_file_of_a_run(name) && fs::is_regular_file(entry.symlink_status(status))) files.push_back(entry.path());
  }
  for (const fs::path& file : files) fs::remove(file, status);
}

}  // namespace

OutputFolder::OutputFolder(fs::path path, FolderLock lock, const std::string& run)
    : path_(std::move(path)), lock_(std::move(lock)) {
  lock_.take(run);
  remove_files_of_earlier_run(path_);
}

OutputFolder OutputFolder::numbered(const fs::path& parent) {
  make(parent);
  for (unsigned number = 1;; ++number) {
    std::ostringstream name;
    name << "run-" << std::setw(4) << std::setfill('0') << number;
    const fs::path folder = parent / name.str();
    std::error_code status;
    // Creating the folder claims the number, even if another run starts at the same time.
    const bool made = fs::create_directory(folder, status);
    if (status) cannot_make(folder, status);
    if (!made) continue;
    FolderLock lock(folder);
    if (!lock.owner()) return {folder, std::move(lock), name_of_this_run()};
  }
}

OutputFolder OutputFolder::at(const fs::path& folder) {
  make_or_reuse(folder);
  FolderLock lock(folder);
  if (lock.owner()) refuse(folder, *lock.owner());
  return {folder, std::move(lock), name_of_this_run()};
}

void OutputFolder::reserve(const fs::path& folder, const std::string& run) {
  make_or_reuse(folder);
  FolderLock lock(folder);
  if (lock.owner()) refuse(folder, *lock.owner());
  lock.reserve(run);
}

OutputFolder OutputFolder::claim(const fs::path& folder, const std::string& run) {
  make_or_reuse(folder);
  FolderLock lock(folder);
  if (lock.owner() && lock.owner()->run != run) refuse(folder, *lock.owner());
  // The current owner or, if the run is known, the last owner, which may be another process of this run.
  const std::optional<FolderOwner>& other = lock.owner() || run != kUnknownRun ? lock.last() : lock.owner();
  const bool is_taken = other && other->run == run && other->process != 0 && other->process != getpid();
  if (is_taken) return at(folder / ("process-" + std::to_string(getpid())));
  return {folder, std::move(lock), run};
}

void OutputFolder::write(const std::string& name, const std::function<void(std::ostream&)>& contents) const {
  write_file(path_ / name, contents);
}

std::shared_ptr<OutputFile> OutputFolder::begin(const std::string& name, OutputFile::Form form) {
  return files_.emplace_back(std::make_shared<OutputFile>(path_ / name, form));
}

void OutputFolder::flush() const {
  for (const auto& file : files_) file->flush();
  if (const std::string what = failure(); !what.empty()) throw WriteError(what);
}

std::string OutputFolder::failure() const {
  for (const auto& file : files_)
    if (file->failed()) return file->failure();
  return {};
}

}  // namespace lacuna
