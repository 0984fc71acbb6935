// One dispatch of a kernel, checked against the kernel's metadata and laid out as its argument segment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/launch/argument.h"
#include "platform/launch/launch_plan.h"
#include "platform/loaders/code_object.h"

namespace lacuna {

struct KernelCall {
  std::array<std::uint32_t, 3> grid{1, 1, 1};   ///< work-items
  std::array<std::uint32_t, 3> block{1, 1, 1};  ///< work-items
  std::array<std::uint64_t, 3> offset{};
  std::vector<ArgumentValue> arguments;
  std::optional<std::uint32_t> max_block{};  ///< work-items of a workgroup, in place of what the kernel's metadata say
};

/// A buffer as arguments see it.
struct BufferPlace {
  std::uint32_t index = 0;
  std::uint64_t bytes = 0;
};

struct ArgumentSegment {
  std::vector<std::byte> bytes;       ///< a multiple of 8
  std::vector<launch_patch> patches;  ///< what only the driver knows
  std::uint32_t dynamic_group_bytes = 0;
};

/// Throws LaunchError with the kernel's signature when shape or arguments do not fit. `find` gives the place of a named buffer
/// or throws.
ArgumentSegment lay_out_arguments(const KernelMetadata& kernel, const KernelCall& call,
                                  const std::function<BufferPlace(const std::string& name)>& find);

/// The explicit parameter that takes the argument of this number, for messages and element types; null = none does.
const KernelArgument* parameter_of(const KernelMetadata& kernel, std::size_t number);

}  // namespace lacuna
