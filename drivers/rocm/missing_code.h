// Files of this process whose HIP code does not include the GPUs' instruction sets.
//
// HIP aborts the process when a file registers such code, and names neither the file nor the instruction sets. `lacuna exec`
// checks the program and the libraries that it is linked to before it starts; a library that the program loads later is seen
// only in memory. Nothing of the thunk is called between its registration and the abort, so that the signal's handler has to
// look.
#pragma once

#include <string>
#include <vector>

#include "models/isa/target.h"

namespace lacuna::rocm {

/// The GPUs' instruction sets, and the parameter that sets them: for the report below.
void expect_code_for(const std::vector<isa::Target>& targets, const char* parameter);

/// To stderr, a line for each loaded file with a bundle that has no code for all of them. For a signal's handler: it allocates
/// nothing and reads no file.
void report_missing_code() noexcept;

/// What the line of a file says for bundles in memory at `bundle` (the first of at most `bytes` bytes); empty when it has code
/// for all. For tests.
std::string missing_code_of(const void* bundle, std::size_t bytes, const char* file);

}  // namespace lacuna::rocm
