// `lacuna isa check FILE…`: what kernels consist of and whether they can run, before anything runs.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "models/isa/analysis/code_walk.h"
#include "platform/loaders/code_object.h"
#include "platform/loaders/kernel_signature.h"

namespace lacuna {

struct KernelCheck {
  std::string kernel;
  std::uint64_t entry = 0;
  KernelSignature signature;
  isa::CodeInventory code;
  /// Problems in functions that the kernel may call by pointer, when it calls by pointer at all. They do not count against it.
  std::vector<isa::CodeProblem> possible_problems;
  std::map<unsigned, unsigned> offload_chains;  ///< by pattern: as the file's section of tags has them
  unsigned tagged_instructions = 0;

  /// The worst that its instructions are.
  isa::Verdict verdict() const;
};

/// All kernels of a code object, ascending by address.
std::vector<KernelCheck> check_kernels(const CodeObject& object);

/// Checks the files and prints a report, as text or as JSON; returns true when every kernel can run. A file that is no code
/// object for a known target throws ElfError.
bool check_files(const std::vector<std::filesystem::path>& files, bool json, std::ostream& out);

}  // namespace lacuna
