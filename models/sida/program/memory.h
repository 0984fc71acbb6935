// Interface to the memory of the accelerator: bytes at GPU virtual addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "include/lacuna/abi/sida.h"

namespace lacuna::sida {

/// Thrown if a program breaks the rules of lacuna/abi/sida.h or refers to unmapped memory.
class ProgramError : public std::runtime_error {
 public:
  /// `where`: GPU address of the error, or 0; `of_pass`: number of the invalid pass, or LACUNA_SIDA_NONE.
  ProgramError(lacuna_sida_error why, const std::string& what, std::uint64_t where = 0,
               std::uint32_t of_pass = LACUNA_SIDA_NONE)
      : std::runtime_error(what), code(why), address(where), pass(of_pass) {}

  lacuna_sida_error code;
  std::uint64_t address;
  std::uint32_t pass;
};

enum class Access : std::uint8_t { read, write };

class Memory {
 public:
  virtual ~Memory() = default;
  /// Throws ProgramError with LACUNA_SIDA_ERROR_ADDRESS and the first address at which the access is not allowed.
  virtual void check(std::uint64_t address, std::uint64_t bytes, Access access) const = 0;
  /// Checks the access as check() does, then copies the bytes.
  virtual void read(std::uint64_t address, std::span<std::byte> data) const = 0;
  virtual void write(std::uint64_t address, std::span<const std::byte> data) = 0;
  /// Pointer to the bytes if they are contiguous in host memory; if null, use read(). Throws ProgramError if the first byte may
  /// not be read. The pointer is valid until memory is mapped or unmapped.
  virtual const std::byte* view(std::uint64_t address, std::uint64_t bytes) const = 0;
};

}  // namespace lacuna::sida
