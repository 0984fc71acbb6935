// Code objects in the containers of compilers: clang's offload bundles (`__CLANG_OFFLOAD_BUNDLE__`, the output of hipcc
// --genco) and host executables with a bundle in their section .hip_fatbin.
//
// Format: clang documentation, "Clang Offload Bundler", section "Bundled Binary File Layout": magic, number of entries, and for
// each entry its offset, its size, the length of its identifier and the identifier, e.g.
// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-".
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/loaders/code_object.h"

namespace lacuna {

/// The section of a host executable or library that holds its bundles.
inline constexpr std::string_view kFatBinarySection = ".hip_fatbin";

struct BundleEntry {
  std::string identifier;
  std::string processor;  ///< "gfx90a"; "" for the host's entry
  std::span<const std::byte> bytes;
  std::size_t bundle = 0;  ///< number of the bundle, from 0; entries of one source file are in the same bundle
};

bool is_offload_bundle(std::span<const std::byte> bytes);
/// Entries of all consecutive bundles. Throws ElfError, naming `name`, if they are truncated or malformed.
std::vector<BundleEntry> read_offload_bundle(std::span<const std::byte> bytes, const std::string& name);

/// All bytes of a regular file. Throws ElfError.
std::vector<std::byte> file_bytes(const std::filesystem::path& file);

/// The code objects of a file: the file itself if it is a code object, else the entries of its bundles for processors that
/// Lacuna executes. Never empty. Throws ElfError.
std::vector<CodeObject> read_code_objects(const std::filesystem::path& file);

/// Whether the file begins like an ELF file or an offload bundle; false also for files that cannot be read.
bool holds_code_objects(const std::filesystem::path& file);

}  // namespace lacuna
