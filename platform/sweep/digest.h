// SHA-256 (FIPS 180-4, by OpenSSL's libcrypto): digests of files, and keys of points.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace lacuna {

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  /// Adds bytes without their length.
  void add_bytes(std::string_view bytes);
  /// Adds a text with its length, so that adjacent texts are separated.
  void add(std::string_view text);
  /// Ends the digest and returns it as 64 hexadecimal digits.
  std::string text();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string digest_of(std::string_view bytes);
/// Digest of a file, equal to that of sha256sum(1). Throws SweepError if the file cannot be read.
std::string file_digest(const std::filesystem::path& file);
/// Digest of the loaded parts of an ELF program or library. It excludes debug information, symbols and notes, so that a
/// rebuild, or a change of comments in the source, does not change the digest. Throws SweepError.
std::string program_digest(const std::filesystem::path& file);
/// The contents of a section of an ELF file; "" if there is no such section.
std::string elf_section(const std::filesystem::path& file, std::string_view name);

}  // namespace lacuna
