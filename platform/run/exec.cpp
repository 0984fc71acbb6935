#include "platform/run/exec.h"

#include <sys/personality.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "platform/configuration.h"
#include "platform/gfx_override.h"
#include "platform/loaders/program_targets.h"
#include "platform/run/file_size_limit.h"
#include "platform/run/output_folder.h"
#include "platform/run/run_parameters.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

// Exit codes if the program cannot be started or is not found, as env(1) and shells use them.
constexpr int kExitNotStarted = 126;
constexpr int kExitNotFound = 127;
constexpr const char* kLibrary = "libhsakmt.so.1";
constexpr const char* kDeviceFileLibrary = "liblacuna_kfd.so";
constexpr const char* kThreadsLibrary = "liblacuna_threads.so";

void prepend(const char* variable, const std::string& entry) {
  const char* before = std::getenv(variable);
  const std::string value = before == nullptr || *before == '\0' ? entry : entry + ':' + before;
  setenv(variable, value.c_str(), 1);
}

void preload(const fs::path& library) {
  // A blank or colon would end the name in LD_PRELOAD; such a library is found through LD_LIBRARY_PATH instead.
  const bool listable = library.string().find_first_of(" :") == std::string::npos;
  prepend("LD_PRELOAD", (listable ? library : library.filename()).string());
}

/// The value of LACUNA_CONFIG. Files have absolute paths, because the program may change its working directory.
std::string configuration_list(const std::vector<ConfigurationSource>& sources) {
  std::string list;
  for (const ConfigurationSource& source : sources) {
    const std::string item =
        source.file ? fs::absolute(find_configuration(source.value, preset_folders())).string() : source.value;
    if (item.find(';') != std::string::npos || (source.file && item.find('=') != std::string::npos))
      throw UsageError("exec: " + item + ": a file's name must not have ; or =, a value must not have ;");
    list += (list.empty() ? "" : ";") + item;
  }
  return list;
}

void prepare_output(const std::optional<std::string>& folder, const std::string& run) {
  if (!folder) {
    unsetenv("LACUNA_OUT");
    return;
  }
  const fs::path whole = fs::absolute(*folder);
  OutputFolder::reserve(whole, run);
  setenv("LACUNA_OUT", whole.c_str(), 1);
}

void check_gfx_override(const PlatformParameters& parameters) {
  const std::string problem = gfx_override_problem(
      std::getenv(kGfxOverride), parameters.rocm.targets(parameters.gpu.gpu.target), parameters.rocm.target_parameter());
  if (!problem.empty()) throw UsageError("exec: " + problem);
}

/// Warns if the program lacks code for a GPU, because HIP's own error does not state which code exists.
void warn_of_missing_code(const std::string& program, const PlatformParameters& parameters) {
  const fs::path file = program_file(program);
  if (file.empty()) return;
  std::vector<std::string> targets;
  for (const isa::Target target : parameters.rocm.targets(parameters.gpu.gpu.target))
    targets.emplace_back(isa::traits(target).name);
  // If the runtime hides some of several GPUs, it is unknown which GPUs the program sees.
  if (targets.size() > 1 && runtime_hides_gpus()) return;
  for (const std::string& sentence : missing_targets(fat_binaries(file), targets, parameters.rocm.target_parameter()))
    std::cerr << "lacuna: exec: " << sentence << '\n';
}

/// Disables address space randomisation, so that the program's memory has the same addresses in every run: GPUs access some of
/// it, and addresses determine cache sets and pages.
void keep_addresses(bool quiet) {
  const int now = personality(0xffffffff);
  if (now >= 0 && personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) >= 0) return;
  if (!quiet) {
    std::cerr << "lacuna: exec: the host refuses fixed addresses (personality: " << std::generic_category().message(errno)
              << "): times of kernels that use memory of the host may differ from run to run\n";
  }
}

}  // namespace

fs::path rocm_library() {
  std::error_code status;
  const fs::path program = fs::read_symlink("/proc/self/exe", status);
  if (!status) {
    for (const char* folder : {"../lib", "../lib/lacuna"}) {
      fs::path candidate = (program.parent_path() / folder).lexically_normal();
      if (fs::exists(candidate / kLibrary, status)) return candidate / kLibrary;
    }
  }
  throw UsageError(std::string("exec: ") + kLibrary + " is neither in ../lib nor in ../lib/lacuna of this program's folder");
}

fs::path program_file(const std::string& name) {
  std::error_code status;
  if (name.find('/') != std::string::npos) return fs::is_regular_file(name, status) ? fs::path(name) : fs::path();
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path candidate = fs::path(folder) / name;
    if (fs::is_regular_file(candidate, status) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

int exec_program(const CommandLine& line) {
  const RunParameters checked(line.configuration, Machine::process);
  const fs::path libraries = rocm_library().parent_path();
  check_gfx_override(checked.values());
  warn_of_missing_code(line.input, checked.values());
  setenv("LACUNA_CONFIG", configuration_list(line.configuration).c_str(), 1);
  unsetenv("LACUNA_SET");
  // Identifies the run, so that its processes share an output folder. This process becomes the first of them.
  const std::string run = name_of_this_run();
  setenv("LACUNA_RUN", run.c_str(), 1);
  prepare_output(line.output_folder, run);
  // With this variable, the runtime passes each allocation to the driver, which allocates whole pages with unmapped memory
  // around them.
  if (line.strict_memory) setenv("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1", 1);
  setenv("LACUNA_REPORT", line.quiet ? "0" : "1", 1);
  prepend("LD_LIBRARY_PATH", libraries.string());
  // Two libraries make threads sleep while they wait for a GPU. The first is a tool of the runtime, unless the user has set
  // other tools.
  setenv("HSA_TOOLS_LIB", kLibrary, 0);
  preload(libraries / kThreadsLibrary);
  // rocminfo itself checks for the amdgpu driver's module and device file, before it calls the runtime.
  if (fs::path(line.input).filename() == "rocminfo") preload(libraries / kDeviceFileLibrary);

  std::vector<std::string> words{line.input};
  words.insert(words.end(), line.guest_arguments.begin(), line.guest_arguments.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::cout.flush();
  restore_file_size_signal();
  keep_addresses(line.quiet);
  execvp(arguments.front(), arguments.data());
  const int error = errno;
  std::cerr << "lacuna: exec: " << line.input << ": " << std::generic_category().message(error) << '\n';
  return error == ENOENT ? kExitNotFound : kExitNotStarted;
}

}  // namespace lacuna
