#include "models/command/dispatch_packet.h"

#include <fmt/format.h>

#include <algorithm>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/compute/initial_state.h"

namespace lacuna {

std::optional<PacketRefusal> DispatchPacketReader::read(Dispatch& d, const hsa::Queue& queue) {
  if (auto refusal = read_size(d)) return refusal;
  if (auto refusal = read_kernel(d)) return refusal;
  const std::uint64_t items = std::uint64_t{d.workgroup[0]} * d.workgroup[1] * d.workgroup[2];
  d.needs = register_needs(d.descriptor, target_);
  d.needs.wavefronts = static_cast<unsigned>((items + isa::kLanes - 1) / isa::kLanes);
  d.needs.lds_bytes = d.packet.group_segment_size;
  if (auto refusal = read_scratch(d, queue)) return refusal;
  for (DispatchCheck* const check : checks_) {
    if (auto why = check->refusal(d))
      return PacketRefusal{LACUNA_QUEUE_ERROR_KERNEL_OBJECT, fmt::format("kernel {}: {}", d.kernel, *why)};
  }
  return std::nullopt;
}

std::string DispatchPacketReader::place(const Dispatch& dispatch, std::uint64_t pc) const {
  std::optional<CodeSymbol> function = symbols_.function(pc);
  if (!function && driver_ != nullptr) function = driver_->function(pc);
  std::string text = code_place(dispatch.kernel, dispatch.entry, pc, function);
  if (lines_ == nullptr) return text;
  if (const auto line = lines_->find(vm_, pc)) text += ", " + *line;
  return text;
}

std::optional<PacketRefusal> DispatchPacketReader::read_size(Dispatch& d) {
  const auto refuse = [](std::string why) { return PacketRefusal{LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS, std::move(why)}; };
  const unsigned dimensions = d.packet.setup & 3;
  if (dimensions == 0) return refuse("dispatch packet with 0 dimensions");
  std::uint64_t items = 1;
  for (unsigned i = 0; i < 3; ++i) {
    if (i < dimensions) {
      d.grid[i] = d.packet.grid_size[i];
      d.workgroup[i] = d.packet.workgroup_size[i];
    }
    if (d.grid[i] == 0 || d.workgroup[i] == 0) {
      return refuse(
          fmt::format("dispatch packet with grid size {} and workgroup size {} in dimension {}", d.grid[i], d.workgroup[i], i));
    }
    items *= d.workgroup[i];
    d.workgroups[i] = static_cast<std::uint32_t>((std::uint64_t{d.grid[i]} + d.workgroup[i] - 1) / d.workgroup[i]);
  }
  constexpr std::uint64_t kMaxWorkItems = 1024;
  if (items > kMaxWorkItems) {
    return refuse(fmt::format("workgroup of {} work-items, at most {} are possible", items, kMaxWorkItems));
  }
  return std::nullopt;
}

std::optional<PacketRefusal> DispatchPacketReader::read_kernel(Dispatch& d) {
  const auto refuse = [](std::string why) { return PacketRefusal{LACUNA_QUEUE_ERROR_KERNEL_OBJECT, std::move(why)}; };
  const std::uint64_t object = d.packet.kernel_object;
  const std::byte* raw = object % hsa::KernelDescriptor::kAlignment == 0
                             ? vm_.pointer(object, hsa::KernelDescriptor::kBytes, isa::Access::read)
                             : nullptr;
  if (raw == nullptr) {
    return refuse(fmt::format("kernel object {:#x} is not a 64-byte aligned, mapped address; {}", object, vm_.nearest(object)));
  }
  d.kernel = symbols_.name(object);
  d.descriptor = hsa::KernelDescriptor::read(raw);
  d.entry = object + static_cast<std::uint64_t>(d.descriptor.entry_offset);
  if (d.entry % hsa::KernelDescriptor::kEntryAlignment != 0) {
    return refuse(fmt::format("kernel {}: entry point {:#x} is not 256-byte aligned", d.kernel, d.entry));
  }
  if (vm_.pointer(d.entry, 4, isa::Access::execute) == nullptr) {
    return refuse(
        fmt::format("kernel {}: entry point {:#x} is not mapped executable; {}", d.kernel, d.entry, vm_.nearest(d.entry)));
  }
  if (d.kernel.starts_with(KernelSymbols::kUnnamed)) {
    if (const std::string_view known = blits_.name(d.entry); !known.empty()) d.kernel = known;
  }
  if (const std::string reason = check_descriptor(d.descriptor, target_); !reason.empty()) {
    return refuse(fmt::format("kernel {}: {}", d.kernel, reason));
  }
  if (const isa::CodeProblem* problem = code_check_.problem(d.entry)) {
    return PacketRefusal{
        LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION,
        fmt::format("kernel {} cannot run: {}: {}: {}", d.kernel, place(d, problem->pc), problem->mnemonic, problem->reason),
        problem->pc};
  }
  return std::nullopt;
}

std::optional<PacketRefusal> DispatchPacketReader::read_scratch(Dispatch& d, const hsa::Queue& queue) const {
  const std::uint64_t bytes = d.private_bytes();
  const auto refuse = [](std::string why) { return PacketRefusal{LACUNA_QUEUE_ERROR_PACKET_SEGMENT, std::move(why)}; };
  if (bytes > queue.scratch_wave64_lane_byte_size) {
    return refuse(fmt::format("kernel {}: private segment of {} bytes per work-item, the queue's scratch memory has {}",
                              d.kernel, bytes, queue.scratch_wave64_lane_byte_size));
  }
  // Kernels receive the queue's scratch descriptor even if they use no scratch memory.
  std::copy_n(queue.scratch_resource_descriptor, 4, d.scratch.resource_descriptor.begin());
  d.scratch.base = queue.scratch_resource_descriptor[0] | std::uint64_t{queue.scratch_resource_descriptor[1] & 0xffff} << 32;
  d.scratch.backing_location = queue.scratch_backing_memory_location;
  // gfx8 counts FLAT scratch offsets from the pool's base; gfx9 uses absolute addresses.
  d.scratch.pool_base = target_ == isa::Target::gfx803 ? d.scratch.base - queue.scratch_backing_memory_location : 0;
  const std::uint32_t slots = queue.compute_tmpring_size & 0xfff;
  const std::uint32_t slot_bytes = (queue.compute_tmpring_size >> 12 & 0x1fff) * 1024;
  d.scratch.bytes = std::uint64_t{slots} * slot_bytes;
  if (bytes == 0) return std::nullopt;
  d.scratch.wave_slots = slots;
  d.scratch.wave_bytes = slot_bytes;
  if (slot_bytes < bytes * isa::kLanes) {
    return refuse(fmt::format("kernel {}: wavefronts need {} bytes of scratch, compute_tmpring_size gives {}", d.kernel,
                              bytes * isa::kLanes, slot_bytes));
  }
  return std::nullopt;
}

}  // namespace lacuna
