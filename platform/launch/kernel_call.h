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
  std::array<std::uint32_t, 3> grid{1, 1, 1};   ///< size of the grid in work-items
  std::array<std::uint32_t, 3> block{1, 1, 1};  ///< size of a workgroup in work-items
  std::array<std::uint64_t, 3> offset{};
  std::vector<ArgumentValue> arguments;
  std::optional<std::uint32_t> max_block{};  ///< maximum number of work-items of a workgroup, overriding the kernel's metadata
};

/// Index and size of a buffer, for the layout of arguments.
struct BufferPlace {
  std::uint32_t index = 0;
  std::uint64_t bytes = 0;
};

struct ArgumentSegment {
  std::vector<std::byte> bytes;       ///< a multiple of 8
  std::vector<launch_patch> patches;  ///< values that are only known to the driver
  std::uint32_t dynamic_group_bytes = 0;
};

/// Lays out the argument segment of a call. Throws LaunchError with the kernel's signature if shape or arguments do not match.
/// `find` returns index and size of a named buffer, or throws.
ArgumentSegment lay_out_arguments(const KernelMetadata& kernel, const KernelCall& call,
                                  const std::function<BufferPlace(const std::string& name)>& find);

/// The kernel's explicit parameter with this number, for messages and element types; null = there is none.
const KernelArgument* parameter_of(const KernelMetadata& kernel, std::size_t number);

}  // namespace lacuna
