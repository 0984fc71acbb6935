// Semihosting: the guest's console, files and exit, on behalf of a program without an operating system.
//
// Operations and parameter blocks: Semihosting for AArch32 and AArch64 (ARM 100863), 64-bit variant, which the RISC-V
// semihosting specification 1.0 adopts: operation number in a0, pointer to a block of 64-bit fields in a1, result in a0. Error
// numbers are the host's; those of common errors are equal to picolibc's. No SystemC.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/host/devices/guest_file.h"
#include "models/host/rv64/guest_access.h"

namespace lacuna {

struct SemihostingParameters {
  /// Files outside this folder cannot be opened, removed or renamed. Empty = current folder.
  std::filesystem::path root;
  /// Result of SYS_GET_CMDLINE: program name and arguments, separated by spaces.
  std::string command_line;
  /// Files provided by the simulator: searched first for names that begin with ':'. Null = none.
  GuestFileProvider provided{};
  /// SYS_TIME and SYS_CLOCK return the host's time if true, else simulated time (SYS_TIME then starts at 0).
  bool host_clock = false;
  /// Heap and stack that SYS_HEAPINFO reports; 0 = "unknown": the program uses its linker symbols instead.
  std::uint64_t heap_base = 0;
  std::uint64_t heap_limit = 0;
  std::uint64_t stack_base = 0;
  std::uint64_t stack_limit = 0;
};

class Semihosting {
 public:
  /// `console` is read at every call, so that it can be replaced until the simulation starts.
  Semihosting(const SemihostingParameters& parameters, const HartConsole& console, GuestAccess& guest);
  ~Semihosting();

  /// Performs an operation and returns its result. Unknown and refused operations (SYS_SYSTEM) return -1.
  std::uint64_t call(std::uint64_t operation, std::uint64_t argument);
  std::uint64_t calls() const { return calls_; }

 private:
  using Fields = std::vector<std::uint64_t>;

  std::uint64_t open(std::uint64_t argument);
  std::uint64_t close(std::uint64_t argument);
  std::uint64_t write(std::uint64_t argument);
  std::uint64_t read(std::uint64_t argument);
  std::uint64_t seek(std::uint64_t argument);
  std::uint64_t length(std::uint64_t argument);
  std::uint64_t is_terminal(std::uint64_t argument);
  std::uint64_t temporary_name(std::uint64_t argument);
  std::uint64_t remove(std::uint64_t argument);
  std::uint64_t rename(std::uint64_t argument);
  std::uint64_t command_line(std::uint64_t argument);
  std::uint64_t heap_information(std::uint64_t argument);
  std::uint64_t exit(std::uint64_t argument);
  std::uint64_t write_character(std::uint64_t argument);
  std::uint64_t write_string(std::uint64_t argument);
  std::uint64_t seconds() const;
  std::uint64_t centiseconds() const;
  std::uint64_t elapsed_nanoseconds() const;
  std::uint64_t fail(int error);

  /// Reads the `count` 64-bit fields of a parameter block into fields_; false if they are not in memory.
  bool fields(std::uint64_t address, std::size_t count);
  std::optional<std::string> text(std::uint64_t address, std::uint64_t length);
  /// Host path of a guest file name; nullopt if it is outside the root.
  std::optional<std::filesystem::path> host_path(const std::string& name) const;
  GuestFile* file(std::uint64_t handle);

  SemihostingParameters parameters_;
  const HartConsole& console_;
  GuestAccess& guest_;
  std::filesystem::path root_;
  std::vector<std::unique_ptr<GuestFile>> files_;  ///< indexed by handle - 1
  Fields fields_;
  std::vector<std::byte> buffer_;
  int error_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace lacuna
