// Interface for source lines of code in GPU memory. Code objects hold them in sections that loaders do not load, so
// implementations need access to the code's files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/isa/memory/memory_interface.h"

namespace lacuna {

class SourceLines {
 public:
  virtual ~SourceLines() = default;
  /// Line of the instruction at `pc`, "kernel.hip:12"; nullopt if the code's file is not known or has no line table. Called for
  /// reports only.
  virtual std::optional<std::string> find(const isa::MemoryInterface& memory, std::uint64_t pc) const = 0;
};

}  // namespace lacuna
