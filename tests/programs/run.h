// Running random programs: on the host, and on the simulated GPU through `lacuna launch`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "program.h"
#include "toolchain.h"

namespace lacuna::programs {

/// A program did not complete; what() is its output.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The buffers that a program writes.
struct Result {
  std::vector<std::uint8_t> output;
  std::vector<std::uint8_t> cells;
  [[nodiscard]] bool operator==(const Result&) const = default;
};

/// Command line of `lacuna`.
struct Simulator {
  std::filesystem::path executable;
  std::vector<std::string> options;  ///< such as --set gpu.timing=loose
  bool finalize = false;             ///< run code in which `lacuna finalize` has moved address arithmetic
};

inline constexpr const char* kSourceFile = "programs.cl";

/// Writes the programs' source and input files into `folder`, in which the functions below then work. Removes the code objects
/// of other programs.
void write_programs(std::span<const Program> programs, const std::filesystem::path& folder);

/// Runs the programs on the host. Throws CompileError or RunError.
[[nodiscard]] std::vector<Result> run_on_host(std::span<const Program> programs, const std::filesystem::path& folder,
                                              const std::vector<std::string>& compiler_options = {});

/// Builds the code object. Throws CompileError.
void build_for_gpu(const std::filesystem::path& folder, const Variant& variant);

/// Runs the code object that build_for_gpu() has made. Throws RunError, also if the memory of a held load changed before the
/// load was sent (statistic lazy_lanes_changed).
[[nodiscard]] std::vector<Result> run_on_gpu(std::span<const Program> programs, const std::filesystem::path& folder,
                                             const Variant& variant, const Simulator& simulator);

}  // namespace lacuna::programs
