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
  std::set<std::string> processors;  ///< processors ("gfx803", …) for which every bundle of the file has code
};

/// The program and those of its libraries that contain bundles. Libraries are searched where the dynamic linker searches
/// without its cache: DT_RUNPATH and DT_RPATH, LD_LIBRARY_PATH, the system's folders. Omits files that cannot be read, are not
/// 64-bit ELF files, or contain a bundle of an unknown format.
std::vector<FatBinary> fat_binaries(const std::filesystem::path& program);

/// Returns a sentence for each file that lacks code for one of the targets, naming the option to set; empty if no file lacks
/// code. `option`: the option that sets the target, "gpu.target" or "rocm.gpus".
std::vector<std::string> missing_targets(const std::vector<FatBinary>& binaries, const std::vector<std::string>& targets,
                                         const std::string& option);

}  // namespace lacuna
