#include "toolchain.h"

#include <map>

#include "files.h"
#include "subprocess.h"

namespace lacuna::programs {
namespace {

constexpr std::chrono::seconds kCompileLimit{600};  ///< a compiler that takes longer is assumed to hang, even on a busy machine

void run(const std::vector<std::string>& command, const std::filesystem::path& folder) {
  const Outcome outcome = run_command(command, folder, kCompileLimit);
  if (outcome.exit_code == 0) return;
  std::string text = outcome.timed_out ? "takes too long:" : "fails:";
  for (const std::string& argument : command) text += " " + argument;
  throw CompileError(text + "\n" + outcome.output);
}

void append(std::vector<std::string>& to, const std::vector<std::string>& what) {
  to.insert(to.end(), what.begin(), what.end());
}

std::vector<std::string> host_compiler(const std::vector<std::string>& options) {
  std::vector<std::string> command{LACUNA_GPU_COMPILER,
                                   "-x",
                                   "cl",
                                   "-cl-std=CL2.0",
                                   "-target",
                                   "x86_64-linux-gnu",
                                   "-O0",
                                   "-w",
                                   "-fPIC",
                                   "-I" LACUNA_PROGRAM_INCLUDES,
                                   "-ffp-contract=off",
                                   "-fsanitize=undefined,float-cast-overflow",
                                   "-fsanitize-trap=all"};
  append(command, options);
  return command;
}

/// The built-in functions are most of the compiler's input, so they are precompiled once per process for each set of options.
std::string precompiled_builtins(const std::vector<std::string>& options) {
  static const TemporaryFolder folder;
  static std::map<std::vector<std::string>, std::string> made;
  std::string& header = made[options];
  if (header.empty()) {
    const std::string file = (folder.path() / ("builtins" + std::to_string(made.size()) + ".pch")).string();
    std::vector<std::string> command = host_compiler(options);
    append(command, {"-Xclang", "-emit-pch", "-c", LACUNA_PROGRAM_INCLUDES "/host_builtins.h", "-o", file});
    run(command, folder.path());
    header = file;
  }
  return header;
}

}  // namespace

std::vector<std::string> exact_float_options() {
  return {"-ffp-contract=off", "-cl-fp32-correctly-rounded-divide-sqrt", "-Xclang", "-fdenormal-fp-math-f32=ieee,ieee"};
}

std::filesystem::path include_folder() { return LACUNA_PROGRAM_INCLUDES; }

void compile_for_gpu(const std::filesystem::path& source, const Variant& variant, const std::filesystem::path& code_object,
                     const std::vector<std::string>& options) {
  const std::filesystem::path folder = source.parent_path();
  const std::string object = code_object.string() + ".o";
  // At -O0, where a divergent branch ends, clang-16 reloads spilled vector registers before it restores the EXEC with which
  // they were spilled: the lanes that become active again lose their values. clang-15 is correct.
  std::vector<std::string> command{variant.level == 0 ? LACUNA_GPU_COMPILER_15 : LACUNA_GPU_COMPILER,
                                   "-x",
                                   "cl",
                                   "-cl-std=CL2.0",
                                   "-target",
                                   "amdgcn-amd-amdhsa",
                                   "-mcpu=" + variant.target,
                                   "-mcode-object-version=" + std::to_string(variant.code_object_version),
                                   "--rocm-device-lib-path=" LACUNA_GPU_DEVICE_LIBRARIES,
                                   "-O" + std::to_string(variant.level),
                                   "-w",
                                   "-I" LACUNA_PROGRAM_INCLUDES};
  append(command, options);
  append(command, {"-c", source.string(), "-o", object});
  run(command, folder);
  run({LACUNA_GPU_LINKER, "-shared", object, "-o", code_object.string()}, folder);
}

void compile_for_host(const std::filesystem::path& source, const std::filesystem::path& library,
                      const std::vector<std::string>& options) {
  const std::filesystem::path folder = source.parent_path();
  const std::string object = library.string() + ".o";
  std::vector<std::string> command = host_compiler(options);
  append(command, {"-Xclang", "-include-pch", "-Xclang", precompiled_builtins(options)});
  append(command, {"-c", source.string(), "-o", object});
  run(command, folder);
  run({LACUNA_GPU_LINKER, "-shared", object, "-o", library.string()}, folder);
}

}  // namespace lacuna::programs
