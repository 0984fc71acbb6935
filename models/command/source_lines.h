// Source lines of code in GPU memory. Code objects have them in sections that no loader puts there: what knows the files that
// the code comes from implements this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/isa/memory/memory_interface.h"

namespace lacuna {

class SourceLines {
 public:
  virtual ~SourceLines() = default;
  /// "kernel.hip:12" of the instruction at `pc`; nothing when the code's file is not known or has no line table. Called for
  /// reports only.
  virtual std::optional<std::string> find(const isa::MemoryInterface& memory, std::uint64_t pc) const = 0;
};

}  // namespace lacuna
