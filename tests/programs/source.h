// OpenCL C text of random programs.
#pragma once

#include <span>
#include <string>

#include "program.h"

namespace lacuna::programs {

/// Text of a file with the kernels of all programs. The file includes random_program.h. For the host, it also has for each
/// program a function `void NAME_run(void **arguments)`, which calls the kernel; `arguments` has the addresses of the kernel's
/// arguments.
[[nodiscard]] std::string source_of(std::span<const Program> programs);

}  // namespace lacuna::programs
