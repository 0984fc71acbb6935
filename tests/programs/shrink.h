// Making a failing program small.
#pragma once

#include <chrono>
#include <functional>

#include "program.h"

namespace lacuna::programs {

/// Whether a program still shows what is looked for. Programs that are no valid programs do not.
using Shows = std::function<bool(const Program&)>;

/// Removes and simplifies parts of `program` as long as `shows` holds, until nothing more can be taken away or `limit` has
/// passed. `program` itself must show it.
[[nodiscard]] Program shrink(Program program, const Shows& shows, std::chrono::seconds limit);

}  // namespace lacuna::programs
