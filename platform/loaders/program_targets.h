// GPUs that a host program was built for, determined before it is started: from its offload bundles and those of the libraries
// that it is linked to.
//
// HIP requires code for every visible GPU in every bundle that a file registers, and ends the program if a bundle has none.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace lacuna {

/// A file that contains bundles.
struct FatBinary {
  std::filesystem::path file;
  std::set<std::string> processors;  ///< "gfx803", …: processors that every bundle of the file has code for
};

/// The program and its libraries, as far as they contain bundles and are found where the dynamic linker searches without its
/// cache: DT_RUNPATH and DT_RPATH, LD_LIBRARY_PATH, the system's folders. Files that cannot be read or are no 64-bit ELF files
/// count as without bundles, as do bundles of an unknown form.
std::vector<FatBinary> fat_binaries(const std::filesystem::path& program);

/// Problems of running these on GPUs of the targets: a sentence for each file that lacks code for one of them, with the option
/// that helps; empty if they can run. `option`: the option that sets the target, "gpu.target" or "rocm.gpus".
std::vector<std::string> missing_targets(const std::vector<FatBinary>& binaries, const std::vector<std::string>& targets,
                                         const std::string& option);

}  // namespace lacuna
