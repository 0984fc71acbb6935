// Checks, before a kernel's first wavefront starts, whether its code in GPU memory can be executed.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "models/isa/analysis/code_walk.h"
#include "models/isa/memory/memory_interface.h"

namespace lacuna {

/// Caches the result for each entry point; checks again if the code has changed.
class CodeCheck {
 public:
  CodeCheck(const isa::MemoryInterface& memory, isa::Target target, const isa::MatrixCodes& codes = {})
      : memory_(memory), target_(target), codes_(codes) {}

  /// The first instruction reachable from `entry` that would stop a wavefront, or nullptr. Valid until the next call.
  const isa::CodeProblem* problem(std::uint64_t entry);

 private:
  struct Block {
    std::uint64_t begin = 0;
    std::vector<std::byte> bytes;
  };
  struct Checked {
    std::vector<Block> code;
    std::optional<isa::CodeProblem> problem;
  };

  bool unchanged(const Checked& checked) const;
  Checked check(std::uint64_t entry) const;

  const isa::MemoryInterface& memory_;
  isa::Target target_;
  isa::MatrixCodes codes_;
  std::unordered_map<std::uint64_t, Checked> checked_;  ///< by entry point; never iterated for results
};

}  // namespace lacuna
