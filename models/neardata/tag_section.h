// Chains of a code object's kernels in a separate section of the file, so that one program can find the chains and another run
// the kernels.
//
// The section is not loaded, and only Lacuna's tools read it; the code itself is not changed. Each instruction has a checksum
// of its bytes, so that tags are not applied to changed code.
//
// Contents, little-endian, without padding except as stated:
//   u32 magic "LNDC", u32 version = 2, u32 kernels; for each kernel:
//   u64 address of its first instruction, u32 bytes of its name, u32 chains, name padded with zeros to a multiple of 4;
//   for each chain: u8 pattern, u8 element bytes, u8 operations, u8 steps, u32 flags (1: second load, 2: stores, 4: compares),
//   u32 instructions; for each instruction: i32 address relative to the kernel's first instruction, u8 tag, u8 role, u16 zero,
//   u32 check (code_check())
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/analysis/code_walk.h"
#include "models/neardata/chain.h"

namespace lacuna {

inline constexpr std::string_view kTagSectionName = ".lacuna.chains";
inline constexpr std::uint32_t kTagSectionVersion = 2;

/// Thrown for a section that is damaged or does not match its code. what() names file, section and, where known, kernel and
/// address.
class TagError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct KernelTags {
  std::string name;
  std::uint64_t entry = 0;  ///< address of the kernel's first instruction in the code object
  std::vector<Chain> chains;
  std::vector<std::vector<std::uint32_t>> checks;  ///< checksums by chain and instruction
};

/// Builds the tags of a kernel, and computes the checksums of its instructions from the code.
KernelTags kernel_tags(std::string name, std::uint64_t entry, std::vector<Chain> chains, const isa::FetchWords& fetch,
                       isa::Target target);

/// Checksum of the instruction at an address; 0 if there is no instruction.
std::uint32_t code_check(std::uint64_t address, const isa::FetchWords& fetch, isa::Target target);

std::vector<std::byte> encode_tags(const std::vector<KernelTags>& kernels);

/// Decodes a section. `file`: name of the file in messages. Throws TagError if the bytes are not a section of version 2 or
/// contain an invalid chain: a middle tag without a first, instructions that are not ascending, an undefined value.
std::vector<KernelTags> decode_tags(std::span<const std::byte> bytes, const std::string& file);

/// Throws TagError unless each chain lies in one basic block of the kernel's code and each instruction has the bytes that were
/// tagged, matches its role, and belongs to one chain only. `fetch` returns the code at the addresses of the section.
void check_tags(const KernelTags& kernel, const isa::FetchWords& fetch, isa::Target target, const std::string& file);

}  // namespace lacuna
