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

/// Translates a line for a target: names in capitals stand for the corresponding instruction of each target. `LOAD v4, v[0:1]`
/// and `STORE v[0:1], v4` are FLAT instructions on gfx803 and GLOBAL instructions on gfx90a; suffixes as in `LOAD_ubyte` and
/// `STORE_short` are kept. `ADD_u32 v0, v1, v2` is an addition that may write a carry; `ADD_co_u32 v0, v1, v2` and `ADDC_co_u32
/// v0, v1, v2` are the two halves of a 64-bit sum with the carry in VCC.
std::string translated(const std::string& line, isa::Target target);

/// A function that reads machine code whose first word is at kEntry. `code` must outlive the function.
isa::FetchWords fetch_from(const std::vector<std::uint32_t>& code);

class AssembledKernel {
 public:
  /// Assembles lines as accepted by translated(), and appends s_endpgm.
  AssembledKernel(isa::Target target, std::vector<std::string> lines);

  /// Returns a kernel that consists of the given machine code.
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

  /// Text of each chain: its pattern, then role, line and tag of each instruction: "1: a0/01 b1/10 w2/10 o3/10 s4/11".
  std::vector<std::string> chains(const FinalizedKernel& kernel) const;
  /// Text of each refused load: its line, the reason, and the line that causes the refusal: "0 reused 3".
  std::vector<std::string> refusals(const FinalizedKernel& kernel) const;

 private:
  explicit AssembledKernel(isa::Target target) : target_(target) {}

  isa::Target target_;
  std::vector<std::uint32_t> words_;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace lacuna::test
