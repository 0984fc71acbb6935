// Which GPUs a host program was built for, found out before it is started: its offload bundles and those of the libraries that
// it is linked to.
//
// HIP wants code for every GPU that it sees in every bundle that a file registers, and ends the program when a bundle has none.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace lacuna {

/// A file that carries bundles.
struct FatBinary {
  std::filesystem::path file;
  std::set<std::string> processors;  ///< "gfx803", …: what every bundle of the file has code for
};

/// The program and its libraries, as far as they carry bundles and are found where the dynamic linker looks without its cache:
/// DT_RUNPATH and DT_RPATH, LD_LIBRARY_PATH, the system's folders. What cannot be read, or is no 64-bit ELF file, carries none;
/// neither does a bundle in a form that is not known.
std::vector<FatBinary> fat_binaries(const std::filesystem::path& program);

/// What is wrong with running these on GPUs of the targets, one sentence a file that has no code for all of them, with the
/// option that helps; nothing when they run. `option` sets the target: "gpu.target" or "rocm.gpus".
std::vector<std::string> missing_targets(const std::vector<FatBinary>& binaries, const std::vector<std::string>& targets,
                                         const std::string& option);

}  // namespace lacuna
