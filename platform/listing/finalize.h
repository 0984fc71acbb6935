// `lacuna finalize FILE [-o TAGGED]`: offload chains of a file's kernels, in their section and in a report.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/neardata/finalizer.h"
#include "models/neardata/tag_section.h"
#include "platform/loaders/code_object.h"

namespace lacuna {

struct KernelChains {
  std::string kernel;
  std::uint64_t entry = 0;
  FinalizedKernel found;
  unsigned contiguous_before = 0;  ///< chains whose instructions were neighbours in the code that was given
  unsigned contiguous = 0;         ///< in the code with its patches
  unsigned chains_before = 0;      ///< chains of the code that was given
  std::vector<unsigned> foreign;   ///< by chain: instructions between its own, in the code with its patches
};

struct FinalizedObject {
  std::string name;  ///< of the code object
  isa::Target target{};
  std::vector<KernelChains> kernels;  ///< ascending by address
  std::vector<std::byte> bytes;       ///< with patches and section
};

FinalizedObject finalize_object(const CodeObject& object, const FinalizerOptions& options);

struct FinalizedFile {
  std::vector<FinalizedObject> objects;
  /// A code object or an offload bundle, as the file is; empty for a program of the host, which carries bundles.
  std::vector<std::byte> bytes;
};

/// Throws ElfError when the file has no code object for a known target.
FinalizedFile finalize_file(const std::filesystem::path& file, const FinalizerOptions& options);

void write_chains(const FinalizedFile& file, std::ostream& out);
void write_chains_json(const FinalizedFile& file, std::ostream& out);

/// Tags of a code object's section, checked against its code; empty without a section. Throws ElfError when it is damaged.
std::vector<KernelTags> tags_of(const CodeObject& object);

/// Tags of one kernel of a code object that is loaded at `base`, with addresses of GPU memory; nullopt without a section, or if
/// it does not have the kernel. `file`: the bytes of its file; `entry`: address of the kernel's first instruction in GPU
/// memory. Throws TagError when the section cannot be read, or the kernel's tags are damaged.
std::optional<KernelTags> loaded_tags(std::span<const std::byte> file, std::uint64_t base, std::uint64_t entry);

}  // namespace lacuna
