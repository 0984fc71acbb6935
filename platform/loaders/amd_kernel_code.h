// amd_kernel_code_t, which precedes each kernel's first instruction in a code object of version 2, as assembler directives.
//
// Format: LLVM "User Guide for AMDGPU Backend", sections "Code Object V2 Kernel Descriptor" and ".amd_kernel_code_t".
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>

namespace lacuna {

inline constexpr std::size_t kAmdKernelCodeBytes = 256;

/// Writes the block from .amd_kernel_code_t to .end_amd_kernel_code_t with the fields and the order of clang's assembly output,
/// so that LLVM's assembler accepts the block. Bytes without a directive follow as comments unless they are zero.
void write_amd_kernel_code(std::span<const std::byte, kAmdKernelCodeBytes> code, std::ostream& out);

}  // namespace lacuna
