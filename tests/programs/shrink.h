// Reduction of a failing program.
#pragma once

#include <chrono>
#include <functional>

#include "program.h"

namespace lacuna::programs {

/// Returns whether a program still shows the fault; false for invalid programs.
using Shows = std::function<bool(const Program&)>;

/// Removes and simplifies parts of `program` as long as `shows` holds, until nothing more can be removed or `limit` has passed.
/// `program` itself must show the fault.
[[nodiscard]] Program shrink(Program program, const Shows& shows, std::chrono::seconds limit);

}  // namespace lacuna::programs
