#include "platform/launch/kernel_call.h"

#include <algorithm>
#include <cstring>

#include "platform/launch/launch_error.h"

namespace lacuna {
namespace {

/// Maximum size of a workgroup's LDS in bytes, on both targets (GCN3 and CDNA2 ISA manuals, "LDS").
constexpr std::uint64_t kLdsBytes = 64 * 1024;
/// Maximum number of work-items of a workgroup (HSA Platform System Architecture 1.2 and AMDGPU usage guide).
constexpr std::uint64_t kLargestWorkgroup = 1024;
/// Alignment of a dynamic LDS argument if its metadata state none: that of the largest vector type.
constexpr std::uint32_t kLdsAlignment = 16;

using Kind = ArgumentValue::Kind;

std::string dimensions(const std::array<std::uint32_t, 3>& size) {
  return std::to_string(size[0]) + ',' + std::to_string(size[1]) + ',' + std::to_string(size[2]);
}

const char* description(Kind kind) {
  switch (kind) {
    case Kind::scalar:
      return "a scalar";
    case Kind::buffer:
      return "a buffer";
    case Kind::null:
      return "null";
    case Kind::lds:
      return "dynamic LDS";
  }
  return "";
}

/// Lays out the explicit and the hidden arguments of one call.
class Layout {
 public:
  Layout(const KernelMetadata& kernel, const KernelCall& call, const std::function<BufferPlace(const std::string& name)>& find)
      : kernel_(kernel), call_(call), find_(find), lds_end_(kernel.group_segment_size) {
    segment_.bytes.resize((kernel.kernarg_size + 7U) / 8U * 8U);
  }

  ArgumentSegment lay_out() {
    check_shape();
    put_explicit();
    if (lds_end_ > kLdsBytes)
      fail(std::to_string(lds_end_) + " bytes of LDS, " + std::to_string(kernel_.group_segment_size) +
           " of them static, are more than a workgroup can have (" + std::to_string(kLdsBytes) + ")");
    segment_.dynamic_group_bytes = static_cast<std::uint32_t>(lds_end_ - kernel_.group_segment_size);
    for (const KernelArgument& argument : kernel_.arguments)
      if (argument.hidden()) put_hidden(argument);
    return std::move(segment_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw LaunchError(reason + "\n  " + kernel_.signature()); }

  void check_shape() const {
    std::uint64_t items = 1;
    for (unsigned d = 0; d < 3; ++d) {
      if (call_.grid[d] == 0 || call_.block[d] == 0) fail("grid and block must not be 0");
      items *= call_.block[d];
      if (items > kLargestWorkgroup) fail("block " + dimensions(call_.block) + " has more than 1024 work-items");
    }
    const std::uint32_t limit = call_.max_block.value_or(kernel_.max_workgroup_size);
    if (limit != 0 && items > limit)
      fail("block " + dimensions(call_.block) + " has " + std::to_string(items) + " work-items, " +
           (call_.max_block ? "max_block allows " : "the kernel was compiled for at most ") + std::to_string(limit));
    if (kernel_.required_workgroup_size[0] != 0 && kernel_.required_workgroup_size != call_.block)
      fail("block " + dimensions(call_.block) + ": the kernel requires " + dimensions(kernel_.required_workgroup_size));
  }

  void put_explicit() {
    std::size_t number = 0;
    bool extra_lds = false;
    for (const ArgumentValue& value : call_.arguments) {
      const KernelArgument* const parameter = parameter_of(kernel_, number);
      if (value.kind == Kind::lds && (parameter == nullptr || parameter->kind != "dynamic_shared_pointer")) {
        if (extra_lds) fail("more than one lds: argument without a local pointer parameter");
        extra_lds = true;
        lds_end_ += value.number;
        continue;
      }
      if (parameter == nullptr) fail_count();
      put(*parameter, value, number++);
    }
    if (parameter_of(kernel_, number) != nullptr) fail_count();
  }

  [[noreturn]] void fail_count() const {
    std::size_t wanted = 0;
    while (parameter_of(kernel_, wanted) != nullptr) ++wanted;
    fail(std::to_string(call_.arguments.size()) + " arguments for a kernel that takes " + std::to_string(wanted));
  }

  void put(const KernelArgument& parameter, const ArgumentValue& value, std::size_t number) {
    const auto mismatch = [&](const std::string& wanted) {
      fail("argument " + std::to_string(number) + (parameter.name.empty() ? "" : " (" + parameter.name + ')') + " is " +
           description(value.kind) + ", but " + wanted);
    };
    if (parameter.kind == "dynamic_shared_pointer") {
      if (value.kind != Kind::lds) mismatch("the parameter is a pointer to local memory: lds:BYTES is needed");
      const std::uint64_t align = parameter.pointee_align != 0 ? parameter.pointee_align : kLdsAlignment;
      lds_end_ = (lds_end_ + align - 1) / align * align;
      store(parameter.offset, lds_end_, std::min<std::uint32_t>(parameter.size, 8));
      lds_end_ += value.number;
    } else if (parameter.kind == "global_buffer") {
      if (value.kind == Kind::scalar || value.kind == Kind::lds)
        mismatch("the parameter is a pointer: a buffer or null is needed");
      if (value.kind == Kind::buffer) put_buffer(parameter, value, number);
    } else if (parameter.kind == "by_value") {
      if (value.kind == Kind::buffer && parameter.size == 8) return put_buffer(parameter, value, number);
      if (value.kind != Kind::scalar) mismatch("the parameter is passed by value: a scalar is needed");
      put_scalar(parameter, value, number);
    } else {
      fail("argument " + std::to_string(number) + ": parameters of kind " + parameter.kind + " cannot be passed");
    }
  }

  void put_scalar(const KernelArgument& parameter, const ArgumentValue& value, std::size_t number) {
    const std::string which =
        "argument " + std::to_string(number) + (parameter.name.empty() ? "" : " (" + parameter.name + ')');
    if (value.bytes.size() != parameter.size)
      fail(which + " has " + std::to_string(value.bytes.size()) + " bytes, the parameter " + std::to_string(parameter.size));
    const auto wanted = element_type_of_source(parameter.type_name);
    if (value.type && wanted && parameter.type_name.find('*') == std::string::npos &&
        is_floating(*wanted) != is_floating(*value.type) && element_size(*wanted) == element_size(*value.type))
      fail(which + " is " + std::string(element_type_name(*value.type)) + ", the parameter is " + parameter.type_name);
    std::memcpy(segment_.bytes.data() + parameter.offset, value.bytes.data(), value.bytes.size());
    for (const ArgumentValue::Pointer& pointer : value.pointers)
      put_address(parameter.offset + pointer.at, pointer.buffer, pointer.offset, number);
  }

  void put_buffer(const KernelArgument& parameter, const ArgumentValue& value, std::size_t number) {
    if (parameter.size != 8)
      fail("argument " + std::to_string(number) + ": a pointer of " + std::to_string(parameter.size) + " bytes");
    put_address(parameter.offset, value.buffer, value.number, number);
  }

  void put_address(std::uint32_t at, const std::string& buffer, std::uint64_t offset, std::size_t number) {
    const BufferPlace place = find_(buffer);
    if (offset > place.bytes)
      fail("argument " + std::to_string(number) + ": offset " + std::to_string(offset) + " is past the end of buffer " +
           buffer + ", which has " + std::to_string(place.bytes) + " bytes");
    store(at, offset, 8);
    patch(LAUNCH_PATCH_BUFFER, at, place.index);
  }

  void store(std::uint32_t offset, std::uint64_t value, std::uint32_t size) {
    std::memcpy(segment_.bytes.data() + offset, &value, size);
  }

  void patch(std::uint32_t kind, std::uint32_t offset, std::uint32_t index) {
    segment_.patches.push_back({.kind = kind, .offset = offset, .index = index, .reserved = 0});
  }

  /// Hidden arguments: LLVM "User Guide for AMDGPU Backend", tables "AMDHSA Code Object V3/V5 Kernel Argument Metadata Map".
  void put_hidden(const KernelArgument& argument) {
    const std::string_view kind = std::string_view(argument.kind).substr(std::string_view("hidden_").size());
    const auto sized = [&](std::uint32_t size) {
      if (argument.size != size)
        fail("hidden argument " + argument.kind + " has " + std::to_string(argument.size) + " bytes instead of " +
             std::to_string(size));
    };
    const std::size_t d = kind.empty() ? 3 : std::string_view("xyz").find(kind.back());
    if (d < 3 && kind.size() > 2 && kind[kind.size() - 2] == '_') {
      const std::string_view family = kind.substr(0, kind.size() - 2);
      if (family == "global_offset") return sized(8), store(argument.offset, call_.offset[d], 8);
      if (family == "block_count") return sized(4), store(argument.offset, call_.grid[d] / call_.block[d], 4);
      if (family == "group_size") return sized(2), store(argument.offset, call_.block[d], 2);
      if (family == "remainder") return sized(2), store(argument.offset, call_.grid[d] % call_.block[d], 2);
    }
    if (kind == "grid_dims") return sized(2), store(argument.offset, grid_dimensions(), 2);
    if (kind == "dynamic_lds_size") return sized(4), store(argument.offset, segment_.dynamic_group_bytes, 4);
    if (kind == "private_base") return sized(4), patch(LAUNCH_PATCH_PRIVATE_BASE, argument.offset, 0);
    if (kind == "shared_base") return sized(4), patch(LAUNCH_PATCH_SHARED_BASE, argument.offset, 0);
    if (kind == "queue_ptr") return sized(8), patch(LAUNCH_PATCH_QUEUE, argument.offset, 0);
    if (kind == "printf_buffer") {
      sized(8);
      return patch(LAUNCH_PATCH_BUFFER, argument.offset, find_("printf buffer").index);
    }
    // A launch has no host runtime: the addresses of its services are null.
    for (const std::string_view service :
         {"none", "hostcall_buffer", "default_queue", "completion_action", "multigrid_sync_arg", "heap_v1"})
      if (kind == service) return;
    fail("the kernel needs " + argument.kind + ", which a launch does not know");
  }

  /// Number of dimensions as the driver encodes it in the packet.
  std::uint64_t grid_dimensions() const {
    for (unsigned d = 3; d > 1; --d)
      if (call_.grid[d - 1] > 1 || call_.block[d - 1] > 1) return d;
    return 1;
  }

  const KernelMetadata& kernel_;
  const KernelCall& call_;
  const std::function<BufferPlace(const std::string& name)>& find_;
  ArgumentSegment segment_;
  std::uint64_t lds_end_;
};

}  // namespace

const KernelArgument* parameter_of(const KernelMetadata& kernel, std::size_t number) {
  for (const KernelArgument& argument : kernel.arguments)
    if (!argument.hidden() && number-- == 0) return &argument;
  return nullptr;
}

ArgumentSegment lay_out_arguments(const KernelMetadata& kernel, const KernelCall& call,
                                  const std::function<BufferPlace(const std::string& name)>& find) {
  return Layout(kernel, call, find).lay_out();
}

}  // namespace lacuna
