// Memory as the accelerator sees it: bytes at GPU virtual addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "include/lacuna/abi/sida.h"

namespace lacuna::sida {

/// A program cannot be run: it breaks the rules of lacuna/abi/sida.h, or refers to memory that is not there.
class ProgramError : public std::runtime_error {
 public:
  /// `where`: GPU address of what is wrong, or 0; `of_pass`: the pass that it is about, or LACUNA_SIDA_NONE.
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
  /// Throws ProgramError with LACUNA_SIDA_ERROR_ADDRESS and the first address that does not allow the access.
  virtual void check(std::uint64_t address, std::uint64_t bytes, Access access) const = 0;
  /// As check(), and copies.
  virtual void read(std::uint64_t address, std::span<std::byte> data) const = 0;
  virtual void write(std::uint64_t address, std::span<const std::byte> data) = 0;
  /// As read(), without a copy where the bytes lie together on the host; null: read() has to copy them. Valid until memory is
  /// mapped or unmapped.
  virtual const std::byte* view(std::uint64_t address, std::uint64_t bytes) const = 0;
};

}  // namespace lacuna::sida
