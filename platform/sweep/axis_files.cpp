#include "platform/sweep/axis_files.h"

#include <algorithm>
#include <utility>

#include "models/common/config/nearest_name.h"
#include "platform/launch/text.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBy = " by ";

[[noreturn]] void fail(const SweepKey& key, const std::string& reason) {
  throw SweepError(key.place.text() + key.name + " = " + key.value + ": " + reason);
}

/// Indices of the two axes that `files_of` names.
struct FileAxes {
  std::size_t group = 0, axis = 0, label = 0;
};

FileAxes axes_of(const SweepFile& sweep) {
  const SweepKey& key = *sweep.files_of;
  const std::size_t by = key.value.find(kBy);
  if (by == std::string::npos) fail(key, "must be AXIS by LABEL, two axes of one [zip]");
  const std::string axis(trimmed(std::string_view(key.value).substr(0, by))),
      label(trimmed(std::string_view(key.value).substr(by + kBy.size())));
  std::vector<std::string> names;
  for (std::size_t g = 0; g < sweep.axes.size(); ++g) {
    const std::vector<SweepAxis>& group = sweep.axes[g];
    const auto index_of = [&group](const std::string& name) {
      const auto found = std::find_if(group.begin(), group.end(), [&](const SweepAxis& a) { return a.name == name; });
      return static_cast<std::size_t>(found - group.begin());
    };
    const FileAxes found{g, index_of(axis), index_of(label)};
    if (found.axis < group.size() && found.label < group.size() && found.axis != found.label) return found;
    for (const SweepAxis& other : group) names.push_back(other.name);
  }
  for (const std::string& name : {axis, label})
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail(key, "there is no axis " + name + did_you_mean(nearest_name(names, name)));
  fail(key, axis + " and " + label + " must be two axes of one [zip]");
}

const SweepKey& file_for(const SweepFile& sweep, const std::string& value) {
  const auto found = std::find_if(sweep.files.begin(), sweep.files.end(), [&](const SweepKey& k) { return k.name == value; });
  if (found == sweep.files.end()) fail(*sweep.files_of, "[files] has no file for " + value);
  return *found;
}

/// The file in the folder, itself or compressed, or in a folder that has its name; empty if there is none.
fs::path file_in(const fs::path& folder, const std::string& name) {
  std::error_code status;
  const fs::path own = folder / fs::path(name).stem() / name;
  for (const fs::path& file : {folder / name, folder / (name + ".gz"), own, fs::path(own.string() + ".gz")})
    if (fs::is_regular_file(file, status)) return file;
  return {};
}

/// The nearest name of a file in the folder or in one of its folders; "" if none is near.
std::string nearest_file(const fs::path& folder, const std::string& name) {
  std::vector<std::string> names;
  std::error_code status;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, status);
  for (; !status && entry != fs::recursive_directory_iterator(); entry.increment(status)) {
    if (entry->is_regular_file(status)) names.push_back(entry->path().filename().string());
    if (entry.depth() > 0) entry.disable_recursion_pending();
  }
  std::sort(names.begin(), names.end());
  return nearest_name(names, name);
}

}  // namespace

void check_files(const SweepFile& sweep) {
  if (!sweep.files_of && !sweep.files.empty())
    throw SweepError(sweep.files.front().place.text() + "[files] belongs to files_of, which [sweep] does not have");
  if (!sweep.files_of) return;
  const FileAxes axes = axes_of(sweep);
  for (const std::string& value : sweep.axes[axes.group][axes.label].values) file_for(sweep, value);
}

void take_files_from(const fs::path& folder, SweepFile& sweep) {
  const std::string option = "--files " + folder.string() + ": ";
  if (!sweep.files_of)
    throw SweepError(sweep.file.string() + ": " + option + "the sweep takes no files (files_of = AXIS by LABEL in [sweep])");
  std::error_code status;
  if (!fs::is_directory(folder, status)) throw SweepError(option + "is not a folder");
  const FileAxes axes = axes_of(sweep);
  std::vector<SweepAxis>& group = sweep.axes[axes.group];
  for (std::size_t i = 0; i < group[axes.label].values.size(); ++i) {
    const SweepKey& wanted = file_for(sweep, group[axes.label].values[i]);
    const fs::path file = file_in(folder, wanted.value);
    if (file.empty())
      throw SweepError(option + "no " + wanted.value + ", which " + group[axes.label].name + " = " + wanted.name +
                       " needs, nor " + wanted.value + ".gz" + did_you_mean(nearest_file(folder, wanted.value)));
    group[axes.axis].values[i] = fs::absolute(file).lexically_normal().string();
  }
  sweep.name += "_files";
}

}  // namespace lacuna
