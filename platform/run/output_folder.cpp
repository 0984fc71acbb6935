#include "platform/run/output_folder.h"

#include <fstream>
#include <iomanip>
#include <sstream>
#include <system_error>

namespace lacuna {
namespace fs = std::filesystem;
namespace {

/// Every run writes this file first, so it marks a folder as one of Lacuna's.
constexpr const char* kMarker = "effective.cfg";

void make(const fs::path& folder) {
  std::error_code status;
  fs::create_directories(folder, status);
  if (status) throw OutputError(folder.string() + ": cannot make the output folder: " + status.message());
}

}  // namespace

OutputFolder OutputFolder::numbered(const fs::path& parent) {
  make(parent);
  for (unsigned number = 1;; ++number) {
    std::ostringstream name;
    name << "run-" << std::setw(4) << std::setfill('0') << number;
    std::error_code status;
    // Making the folder claims the number, also against another run that starts at the same time.
    if (fs::create_directory(parent / name.str(), status)) return OutputFolder(parent / name.str());
    if (status) throw OutputError((parent / name.str()).string() + ": cannot make the output folder: " + status.message());
  }
}

OutputFolder OutputFolder::at(const fs::path& folder) {
  std::error_code status;
  if (fs::exists(folder, status)) {
    if (!fs::is_directory(folder, status)) throw OutputError("--out " + folder.string() + ": is not a folder");
    if (!fs::is_empty(folder, status) && !fs::exists(folder / kMarker, status))
      throw OutputError("--out " + folder.string() + ": holds files that are not from Lacuna (no " + kMarker +
                        "); nothing was written");
  }
  make(folder);
  return OutputFolder(folder);
}

void OutputFolder::write(const std::string& name, const std::function<void(std::ostream&)>& contents) const {
  write_file(path_ / name, contents);
}

std::shared_ptr<OutputFile> OutputFolder::begin(const std::string& name) {
  return files_.emplace_back(std::make_shared<OutputFile>(path_ / name));
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
