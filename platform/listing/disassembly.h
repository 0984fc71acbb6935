// Text of a GPU code object's instructions: `lacuna disasm`.
#pragma once

#include <iosfwd>
#include <vector>

#include "models/neardata/tag_section.h"
#include "platform/loaders/elf_file.h"

namespace lacuna {

/// Writes all executable sections in the format of `llvm-objdump-16 -d`. Bytes that are not an instruction of the target are
/// written as `.long`, and amd_kernel_code_t of version 2, which llvm-objdump does not decode, as directives. Throws ElfError
/// if the file is not an AMDGPU code object for a target that Lacuna supports. The line of an instruction in an offload chain
/// ends with the instruction's tag, the number of the chain in the file, the pattern, and the role of the instruction.
void write_disassembly(const ElfFile& file, const std::vector<KernelTags>& tags, std::ostream& out);

}  // namespace lacuna
