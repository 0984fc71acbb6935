// Checks, before a kernel's first wavefront starts, whether its code in GPU memory can be executed, or contains instructions
// that the caller excludes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/isa/analysis/code_walk.h"
#include "models/isa/memory/memory_interface.h"

namespace lacuna {

/// Caches the result for each entry point; checks again if the code has changed.
class CodeCheck {
 public:
  /// Returns the reason why code must not contain an instruction; nullopt: the instruction is permitted.
  using Objection = std::function<std::optional<std::string>(const isa::Instruction&)>;

  /// With `objection`, only instructions to which it objects are problems.
  CodeCheck(const isa::MemoryInterface& memory, isa::Target target, const isa::MatrixCodes& codes = {},
            Objection objection = {})
      : memory_(memory), target_(target), codes_(codes), objection_(std::move(objection)) {}

  /// The first instruction reachable from `entry` that would stop a wavefront or, with an objection, the first to which it
  /// objects; nullptr: there is none. Valid until the next call.
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
  Objection objection_;
  std::unordered_map<std::uint64_t, Checked> checked_;  ///< indexed by entry point; never iterated
};

}  // namespace lacuna
