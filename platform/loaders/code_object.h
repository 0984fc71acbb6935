// An AMDGPU code object, version 2 to 5: its target, its kernels, and what their metadata say about arguments and segments.
//
// Formats: LLVM "User Guide for AMDGPU Backend", sections "ELF Code Object", "Code Object Metadata" (YAML in version 2,
// MessagePack from version 3 on) and "Kernel Descriptor". Everything is checked while reading.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/analysis/code_walk.h"
#include "models/isa/target.h"
#include "platform/loaders/elf_file.h"

namespace lacuna {

/// One argument of a kernel, hidden ones included. Names of kinds and address spaces are version 3's for every version.
struct KernelArgument {
  std::string name;           ///< "" when the compiler did not say
  std::string type_name;      ///< as in the source, e.g. "float*"; "" when the compiler did not say
  std::string kind;           ///< "by_value", "global_buffer", "dynamic_shared_pointer", "hidden_block_count_x", …
  std::string address_space;  ///< of pointers: "global", "constant", "local", …; may be ""
  std::string access;         ///< of buffers: "read_only", …; may be ""
  std::uint32_t offset = 0;   ///< in the kernel argument segment
  std::uint32_t size = 0;
  std::uint32_t pointee_align = 0;  ///< of dynamic_shared_pointer; 0 = not said

  bool hidden() const { return kind.starts_with("hidden_"); }
};

struct KernelMetadata {
  std::string name;    ///< in the source
  std::string symbol;  ///< of its descriptor in the ELF
  std::vector<KernelArgument> arguments;
  std::uint32_t kernarg_size = 0;
  std::uint32_t group_segment_size = 0;    ///< static LDS
  std::uint32_t private_segment_size = 0;  ///< of a work-item
  bool dynamic_stack = false;              ///< private_segment_size does not cover recursion or unknown callees
  std::array<std::uint32_t, 3> required_workgroup_size{};
  std::uint32_t max_workgroup_size = 0;  ///< 0 = not said
  std::uint32_t sgprs = 0;
  std::uint32_t vgprs = 0;
  std::uint32_t agprs = 0;

  /// "vector_add(float* a, float* b, float* c, uint count)".
  std::string signature() const;
  const KernelArgument* argument(std::string_view kind) const;
};

/// Where a kernel's machine code is.
struct KernelEntry {
  std::string name;
  std::uint64_t descriptor = 0;  ///< address of the descriptor or amd_kernel_code_t
  std::uint64_t entry = 0;       ///< address of the first instruction
};

class CodeObject {
 public:
  /// Throws ElfError when the file is not an intact code object for a target that Lacuna executes.
  static CodeObject read(const std::filesystem::path& file);
  explicit CodeObject(ElfFile elf);

  const ElfFile& elf() const { return elf_; }
  const std::string& name() const { return elf_.name(); }
  isa::Target target() const { return target_; }
  unsigned version() const { return version_; }
  /// False for hand-written code that brings none.
  bool has_metadata() const { return has_metadata_; }
  /// In the metadata's order.
  const std::vector<KernelMetadata>& kernels() const { return kernels_; }
  /// From the symbols, ascending by address; independent of the metadata.
  const std::vector<KernelEntry>& entries() const { return entries_; }
  /// Throws ElfError with the nearest name and the list of kernels.
  const KernelMetadata& kernel(std::string_view name) const;

 private:
  void read_version();
  void read_entries();
  void read_metadata();

  ElfFile elf_;
  isa::Target target_{};
  unsigned version_ = 0;
  bool has_metadata_ = false;
  std::vector<KernelMetadata> kernels_;
  std::vector<KernelEntry> entries_;
};

/// The target of an AMDGPU ELF by its e_flags, in version 2 by its note. Throws ElfError for another machine or processor.
isa::Target code_object_target(const ElfFile& file);

/// The words of its executable sections by address, for analyses of code. The file must outlive the function.
isa::FetchWords code_words(const ElfFile& file);

/// Parsers of the two notations; throw std::runtime_error with the reason.
std::vector<KernelMetadata> parse_metadata_yaml(std::string_view text);
std::vector<KernelMetadata> parse_metadata_msgpack(std::span<const std::byte> bytes);

}  // namespace lacuna
