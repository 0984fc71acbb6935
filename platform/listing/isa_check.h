// `lacuna isa check FILE…`: checks whether kernels can run, and lists their instructions, without executing them.
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
  /// Problems in functions that the kernel may call by pointer, if it makes such calls. They do not affect its verdict.
  std::vector<isa::CodeProblem> possible_problems;
  std::map<unsigned, unsigned> offload_chains;  ///< number of chains by pattern, from the file's section of tags
  unsigned tagged_instructions = 0;

  /// The worst verdict of the kernel's instructions.
  isa::Verdict verdict() const;
};

/// All kernels of a code object, ascending by address of the descriptor.
std::vector<KernelCheck> check_kernels(const CodeObject& object);

/// Checks the files and prints a report, as text or as JSON; returns true if every kernel can run. Throws ElfError for a file
/// that is not a code object for a known target.
bool check_files(const std::vector<std::filesystem::path>& files, bool json, std::ostream& out);

}  // namespace lacuna
