// Reports files of this process whose HIP code does not include the GPUs' instruction sets.
//
// HIP aborts the process when a file registers such code, and names neither the file nor the instruction sets. `lacuna exec`
// checks the program and its linked libraries before the start, but a library that the program loads later can only be checked
// in memory. HIP calls no function of the thunk between registration and abort, so the handler of SIGABRT makes the check.
#pragma once

#include <string>
#include <vector>

#include "models/isa/target.h"

namespace lacuna::rocm {

/// Sets the GPUs' instruction sets, and the name of the parameter that chooses them, for the functions below.
void expect_code_for(const std::vector<isa::Target>& targets, const char* parameter);

/// Prints to stderr a line for each loaded file with a bundle that lacks code for one of the instruction sets. For use in a
/// signal handler: it allocates no memory and reads no file.
void report_missing_code() noexcept;

/// The line that report_missing_code() would print for a bundle of at most `bytes` bytes; empty if the bundle has code for all
/// instruction sets or cannot be read. For tests.
std::string missing_code_of(const void* bundle, std::size_t bytes, const char* file);

}  // namespace lacuna::rocm
