#include "platform/include_stack.h"

#include <algorithm>
#include <system_error>

#include "models/common/config/nearest_name.h"

namespace lacuna {
namespace fs = std::filesystem;

namespace {

fs::path resolved(const fs::path& file) {
  std::error_code status;
  return fs::weakly_canonical(file, status);
}

/// Returns `name` with its file name replaced by the most similar name in the folder of `file`; "" if none is similar.
std::string nearest_file(const fs::path& file, const std::string& name) {
  std::vector<std::string> names;
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(resolved(file).parent_path(), status))
    if (entry.is_regular_file(status)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  const std::string nearest = nearest_name(names, file.filename().string());
  return nearest.empty() ? nearest : (fs::path(name).parent_path() / nearest).string();
}

}  // namespace

IncludeStack::Reading::Reading(IncludeStack& stack, const fs::path& file) : stack_(stack) {
  stack_.open_.push_back(resolved(file));
}

fs::path IncludeStack::find(const fs::path& includer, const std::string& name) const {
  fs::path file = (includer.parent_path() / name).lexically_normal();
  if (std::find(open_.begin(), open_.end(), resolved(file)) != open_.end())
    throw IncludeError("include = " + name + ": this file is being read already");
  std::error_code status;
  if (!fs::is_regular_file(file, status))
    throw IncludeError("include = " + name + ": no such file" + did_you_mean(nearest_file(file, name)));
  return file;
}

}  // namespace lacuna
