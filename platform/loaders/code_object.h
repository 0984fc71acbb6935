// An AMDGPU code object, version 2 to 5: its target, its kernels, and the metadata of their arguments and segments.
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

/// An argument of a kernel, explicit or hidden. Kinds and address spaces have the names of version 3, whatever the version of
/// the file.
struct KernelArgument {
  std::string name;           ///< "" if the compiler has not recorded it
  std::string type_name;      ///< name in the source, e.g. "float*"; "" if the compiler has not recorded it
  std::string kind;           ///< "by_value", "global_buffer", "dynamic_shared_pointer", "hidden_block_count_x", …
  std::string address_space;  ///< address space of a pointer: "global", "constant", "local", …; may be ""
  std::string access;         ///< access to a buffer: "read_only", …; may be ""
  std::uint32_t offset = 0;   ///< offset in the kernel argument segment
  std::uint32_t size = 0;
  std::uint32_t pointee_align = 0;  ///< alignment of the LDS of a dynamic_shared_pointer; 0 = not stated

  bool hidden() const { return kind.starts_with("hidden_"); }
};

struct KernelMetadata {
  std::string name;    ///< name in the source
  std::string symbol;  ///< symbol of its descriptor in the ELF file
  std::vector<KernelArgument> arguments;
  std::uint32_t kernarg_size = 0;
  std::uint32_t group_segment_size = 0;    ///< static LDS of a workgroup in bytes
  std::uint32_t private_segment_size = 0;  ///< private memory of a work-item in bytes
  bool dynamic_stack = false;              ///< private_segment_size does not cover recursion or unknown callees
  std::array<std::uint32_t, 3> required_workgroup_size{};
  std::uint32_t max_workgroup_size = 0;  ///< 0 = not stated
  std::uint32_t sgprs = 0;
  std::uint32_t vgprs = 0;
  std::uint32_t agprs = 0;

  /// Signature as text, such as "vector_add(float* a, float* b, float* c, uint count)", or "scale<float>(float* #0), mangled
  /// _Z5scaleIfEvPT_".
  std::string signature() const;
  const KernelArgument* argument(std::string_view kind) const;
};

/// Location of a kernel's machine code.
struct KernelEntry {
  std::string name;
  std::uint64_t descriptor = 0;  ///< address of the descriptor or amd_kernel_code_t
  std::uint64_t entry = 0;       ///< address of the first instruction
};

class CodeObject {
 public:
  /// Reads a file. Throws ElfError if it is not an intact code object for a target that Lacuna executes.
  static CodeObject read(const std::filesystem::path& file);
  explicit CodeObject(ElfFile elf);

  const ElfFile& elf() const { return elf_; }
  const std::string& name() const { return elf_.name(); }
  isa::Target target() const { return target_; }
  unsigned version() const { return version_; }
  /// Whether the file has metadata; hand-written code may have none.
  bool has_metadata() const { return has_metadata_; }
  /// Kernels in the order of the metadata.
  const std::vector<KernelMetadata>& kernels() const { return kernels_; }
  /// Kernels found by their symbols, ascending by address of the descriptor; independent of the metadata.
  const std::vector<KernelEntry>& entries() const { return entries_; }
  /// The kernel with this name, or else the only kernel that reports show under this name. Throws ElfError, with the nearest
  /// name and the list of kernels, if there is none.
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

/// The target of an AMDGPU ELF file, from its e_flags or, for version 2, from its note. Throws ElfError for another machine or
/// processor.
isa::Target code_object_target(const ElfFile& file);

/// Returns a function that fetches words of the file's executable sections by address, for analyses of code. The file must
/// outlive this function.
isa::FetchWords code_words(const ElfFile& file);

/// Parsers of the two notations of metadata. They throw std::runtime_error with the reason.
std::vector<KernelMetadata> parse_metadata_yaml(std::string_view text);
std::vector<KernelMetadata> parse_metadata_msgpack(std::span<const std::byte> bytes);

}  // namespace lacuna
