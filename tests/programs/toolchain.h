// Compilers of OpenCL C: for the GPU's targets, in the same way as lacuna_gpu_kernel() in cmake/GpuKernels.cmake, and for the
// host.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace lacuna::programs {

/// A compiler rejected its input or crashed; what() is its message.
class CompileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Target and options with which a code object is built and run.
struct Variant {
  std::string target;  ///< gfx803 or gfx90a
  unsigned level = 3;  ///< optimisation level, as in -O3
  unsigned code_object_version = 4;
  std::string lazy_mode{};  ///< value of lazy.mode; empty: that of the simulator's options
  [[nodiscard]] std::string code_name() const {
    return target + "-O" + std::to_string(level) + "-v" + std::to_string(code_object_version);
  }
  [[nodiscard]] std::string name() const { return code_name() + (lazy_mode.empty() ? "" : "-" + lazy_mode); }
};

/// The folder of random_program.h.
[[nodiscard]] std::filesystem::path include_folder();

/// Options that make float arithmetic exactly IEEE 754, including denormals, division and square root, without contraction.
[[nodiscard]] std::vector<std::string> exact_float_options();

void compile_for_gpu(const std::filesystem::path& source, const Variant& variant, const std::filesystem::path& code_object,
                     const std::vector<std::string>& options);

/// Builds a shared library with the functions of `source`, for work items that run one after the other. Undefined behaviour
/// traps.
void compile_for_host(const std::filesystem::path& source, const std::filesystem::path& library,
                      const std::vector<std::string>& options = {});

}  // namespace lacuna::programs
