#include <dlfcn.h>
#include <sys/mman.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "files.h"
#include "host_machine.h"
#include "run.h"
#include "subprocess.h"

namespace lacuna::programs {
namespace {

constexpr std::chrono::seconds kRunLimit{600};  ///< a run that takes longer is assumed to hang, even on a busy machine
constexpr std::size_t kAlignment = 256;         ///< bytes, for buffers: the widest vector has 128 bytes

/// Memory that a child process writes and its parent reads.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes)
      : bytes_(bytes), data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~SharedMemory() { munmap(data_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  [[nodiscard]] std::uint8_t* data() const { return static_cast<std::uint8_t*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Calls the kernel; runs in the child process.
void call(void* library, const Program& program, std::uint8_t* input, std::uint8_t* output, std::uint8_t* cells) {
  const std::string symbol = program.name + "_run";
  const auto kernel = reinterpret_cast<HostKernel>(dlsym(library, symbol.c_str()));
  if (kernel == nullptr) throw RunError(symbol + ": not in the library");
  struct alignas(32) Scalar {  // at most a vector of four long
    std::array<std::uint64_t, 4> bits;
  };
  std::vector<Scalar> scalars(program.scalars.size());
  std::vector<void*> arguments{input, output, cells};
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    scalars[i].bits.fill(program.scalars[i].bits);
    arguments.push_back(&scalars[i]);
  }
  run_work_items(kernel, arguments.data(), program.launch);
}

/// Compiles the source to a library, unless `folder` has a library of the same source: when a failing program is reduced, often
/// only its input or its launch changes.
std::filesystem::path host_library(const std::filesystem::path& folder, const std::vector<std::string>& options) {
  std::string name = "host";
  for (const std::string& option : options) name += option;
  std::replace(name.begin(), name.end(), '/', '_');
  const std::filesystem::path library = folder / (name + ".so");
  const std::filesystem::path made_from = folder / (name + ".cl");
  const std::vector<std::uint8_t> source = read_file(folder / kSourceFile);
  if (std::filesystem::exists(library) && std::filesystem::exists(made_from) && read_file(made_from) == source) return library;
  std::filesystem::remove(made_from);
  compile_for_host(folder / kSourceFile, library, options);
  write_file(made_from, source);
  return library;
}

}  // namespace

std::vector<Result> run_on_host(std::span<const Program> programs, const std::filesystem::path& folder,
                                const std::vector<std::string>& compiler_options) {
  const std::filesystem::path library = host_library(folder, compiler_options);

  std::size_t bytes = kAlignment;
  for (const Program& program : programs) {
    bytes += aligned(kInputWords * 4) + aligned(kCells * 8) + aligned(program.output_bytes());
  }
  const SharedMemory memory(bytes);
  struct Buffers {
    std::uint8_t *input, *cells, *output;
  };
  std::vector<Buffers> buffers;
  std::uint8_t* at = memory.data();
  for (const Program& program : programs) {
    Buffers own{};
    own.input = at;
    own.cells = own.input + aligned(kInputWords * 4);
    own.output = own.cells + aligned(kCells * 8);
    at = own.output + aligned(program.output_bytes());
    std::memcpy(own.input, program.input.data(), kInputWords * 4);
    std::memcpy(own.cells, program.cells.data(), kCells * 8);
    std::memset(own.output, kUnwritten, program.output_bytes());
    buffers.push_back(own);
  }
  const Outcome outcome = run_isolated(
      [&] {
        try {
          void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
          if (handle == nullptr) throw RunError(dlerror());
          for (std::size_t i = 0; i < programs.size(); ++i) {
            std::printf("%s\n", programs[i].name.c_str());
            std::fflush(stdout);
            call(handle, programs[i], buffers[i].input, buffers[i].output, buffers[i].cells);
          }
        } catch (const std::exception& e) {
          std::printf("%s\n", e.what());
          std::fflush(stdout);
          _exit(1);
        }
      },
      kRunLimit);
  if (outcome.exit_code != 0) {
    throw RunError(
        "on the host: " + std::string(outcome.timed_out ? "takes too long" : "exit code " + std::to_string(outcome.exit_code)) +
        " (132: undefined behaviour) after the last of\n" + outcome.output);
  }
  std::vector<Result> results;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    results.push_back({{buffers[i].output, buffers[i].output + programs[i].output_bytes()},
                       {buffers[i].cells, buffers[i].cells + kCells * 8}});
  }
  return results;
}

}  // namespace lacuna::programs
