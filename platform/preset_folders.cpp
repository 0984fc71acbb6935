#include "platform/preset_folders.h"

#include <dlfcn.h>
#include <system_error>

#include "platform/version.h"

namespace lacuna {

namespace fs = std::filesystem;

std::vector<fs::path> preset_folders() {
  std::vector<fs::path> folders{kConfigurationFolder};
  std::error_code status;
  const auto beside = [&](const fs::path& binary) {
    folders.push_back(binary.parent_path() / "../../../configs");            // build/<preset>/bin or lib
    folders.push_back(binary.parent_path() / "../share/lacuna/configs");     // installed program
    folders.push_back(binary.parent_path() / "../../share/lacuna/configs");  // installed library, <prefix>/lib/lacuna
  };
  const fs::path program = fs::read_symlink("/proc/self/exe", status);
  if (!status) beside(program);
  // The path of the shared library that contains this function, unless the function is part of the program itself.
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&preset_folders), &library) != 0 && library.dli_fname != nullptr)
    beside(fs::absolute(library.dli_fname, status));
  return folders;
}

std::string preset_name(const fs::path& file) {
  std::error_code status;
  const fs::path whole = fs::weakly_canonical(file, status);
  if (status) return {};
  for (const fs::path& folder : preset_folders()) {
    const fs::path relative = whole.lexically_relative(fs::weakly_canonical(folder, status));
    if (!relative.empty() && *relative.begin() != "..") return fs::path(relative).replace_extension().string();
  }
  return {};
}

}  // namespace lacuna
