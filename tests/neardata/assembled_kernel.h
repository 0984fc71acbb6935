// Kernels of a few lines, assembled by LLVM, for tests of the finalizer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/isa/target.h"
#include "models/neardata/finalizer.h"

namespace lacuna::test {

/// The address of a kernel's first instruction.
inline constexpr std::uint64_t kEntry = 0x1000;

/// A line with names that represent the instructions of both targets. `LOAD v4, v[0:1]` and `STORE v[0:1], v4` are the FLAT
/// instructions of gfx803 and the GLOBAL ones of gfx90a, with the same name behind the first word: `LOAD_ubyte`, `STORE_short`.
/// `ADD_u32 v0, v1, v2` is an addition whose carry may be written, and `ADD_co_u32 v0, v1, v2`, `ADDC_co_u32 v0, v1, v2` are a
/// sum of 64 bits by VCC.
std::string translated(const std::string& line, isa::Target target);

/// Reads machine code whose first word is at kEntry. `code` must outlive it.
isa::FetchWords fetch_from(const std::vector<std::uint32_t>& code);

class AssembledKernel {
 public:
  /// Lines as of translated(); s_endpgm follows them.
  AssembledKernel(isa::Target target, std::vector<std::string> lines);

  /// Machine code as it is.
  static AssembledKernel from_words(isa::Target target, std::vector<std::uint32_t> words) {
    AssembledKernel kernel(target);
    kernel.words_ = std::move(words);
    return kernel;
  }

  isa::Target target() const { return target_; }
  isa::FetchWords fetch() const { return fetch_from(words_); }
  std::vector<std::uint32_t>& words() { return words_; }
  const std::vector<std::uint32_t>& words() const { return words_; }
  std::uint64_t address(std::size_t line) const { return addresses_.at(line); }
  std::size_t line(std::uint64_t address) const;

  FinalizedKernel finalize(const FinalizerOptions& options) const;
  /// Writes the patches over the code.
  void apply(const std::vector<CodePatch>& patches);

  /// Each chain as its pattern, then role, line and tag of each instruction: "1: a0/01 b1/10 w2/10 o3/10 s4/11".
  std::vector<std::string> chains(const FinalizedKernel& kernel) const;
  /// Each refused load as its line, the reason, and the line that decides: "0 reused 3".
  std::vector<std::string> refusals(const FinalizedKernel& kernel) const;

 private:
  explicit AssembledKernel(isa::Target target) : target_(target) {}

  isa::Target target_;
  std::vector<std::uint32_t> words_;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace lacuna::test
