// `lacuna finalize FILE [-o TAGGED]`: writes the offload chains of a file's kernels to a section of the file, and to a report.
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
  unsigned contiguous_before = 0;  ///< number of chains whose instructions were adjacent in the input code
  unsigned contiguous = 0;         ///< number of chains whose instructions are adjacent in the patched code
  unsigned chains_before = 0;      ///< number of chains in the input code
  std::vector<unsigned> foreign;  ///< for each chain, number of other instructions between its instructions in the patched code
};

struct FinalizedObject {
  std::string name;  ///< name of the code object
  isa::Target target{};
  std::vector<KernelChains> kernels;  ///< ascending by address
  std::vector<std::byte> bytes;       ///< contents of the code object, with patched code and section of tags
};

FinalizedObject finalize_object(const CodeObject& object, const FinalizerOptions& options);

struct FinalizedFile {
  std::vector<FinalizedObject> objects;
  /// A code object or an offload bundle, in the format of the input; empty if the input is a host program with bundles.
  std::vector<std::byte> bytes;
};

/// Tags the offload chains of all kernels of a file. Throws ElfError if the file has no code object for a known target.
FinalizedFile finalize_file(const std::filesystem::path& file, const FinalizerOptions& options);

void write_chains(const FinalizedFile& file, std::ostream& out);
void write_chains_json(const FinalizedFile& file, std::ostream& out);

/// Tags in a code object's section, checked against its code; empty if there is no section. Throws ElfError if the section is
/// damaged.
std::vector<KernelTags> tags_of(const CodeObject& object);

/// Tags of one kernel of a code object that is loaded at `base`, with addresses of GPU memory; nullopt if there is no section,
/// or the section lacks the kernel. `file`: bytes of the code object; `entry`: address of the kernel's first instruction in GPU
/// memory. Throws TagError if the section cannot be read, or the kernel's tags are damaged.
std::optional<KernelTags> loaded_tags(std::span<const std::byte> file, std::uint64_t base, std::uint64_t entry);

}  // namespace lacuna
