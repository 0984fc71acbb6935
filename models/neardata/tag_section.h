// Chains of a code object's kernels in a section of its own, so that what finds them and what runs them need not be one
// program.
//
// The section is not loaded and no tool but ours knows it; code bytes are as they are. Each instruction has a check of its
// bytes, so that code which has changed since has no tags.
//
// Contents, little-endian, without padding but where it says so:
//   u32 magic "LNDC", u32 version = 1, u32 kernels; for each kernel:
//   u64 address of its first instruction, u32 bytes of its name, u32 chains, name with zeros to a multiple of 4; for each
//   chain: u8 pattern, u8 element bytes, u8 operations, u8 flags (1: second load, 2: stores, 4: compares), u32 instructions;
//   for each: i32 address relative to the kernel's first instruction, u8 tag, u8 role, u16 zero, u32 check (code_check())
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
inline constexpr std::uint32_t kTagSectionVersion = 1;

/// A section that is damaged, or not of its code. what() names file, section, and where known kernel and address.
class TagError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct KernelTags {
  std::string name;
  std::uint64_t entry = 0;  ///< address of its first instruction, as the code object has it
  std::vector<Chain> chains;
  std::vector<std::vector<std::uint32_t>> checks;  ///< by chain and instruction
};

/// Sets the checks by the code.
KernelTags kernel_tags(std::string name, std::uint64_t entry, std::vector<Chain> chains, const isa::FetchWords& fetch,
                       isa::Target target);

/// The check of the instruction at an address; 0 if there is none.
std::uint32_t code_check(std::uint64_t address, const isa::FetchWords& fetch, isa::Target target);

std::vector<std::byte> encode_tags(const std::vector<KernelTags>& kernels);

/// `file` stands for the file in messages. Throws TagError when this is no section of version 1, or has tags that make no
/// chain: a middle without a first, instructions that are not ascending, a value that there is not.
std::vector<KernelTags> decode_tags(std::span<const std::byte> bytes, const std::string& file);

/// Throws TagError unless all instructions lie in the kernel's code, each chain in one basic block, with the bytes that were
/// tagged, and are what their roles say; none may be in two chains. `fetch` gives the code at the addresses of the section.
void check_tags(const KernelTags& kernel, const isa::FetchWords& fetch, isa::Target target, const std::string& file);

}  // namespace lacuna
