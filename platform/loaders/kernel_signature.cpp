#include "platform/loaders/kernel_signature.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "platform/run/text_table.h"

namespace lacuna {
namespace {

using Json = nlohmann::ordered_json;

/// Offsets of group and private segment sizes: LLVM "User Guide for AMDGPU Backend", Kernel Descriptor and Code Object V2.
struct SegmentOffsets {
  std::uint64_t group;
  std::uint64_t per_item;
};
constexpr SegmentOffsets kInDescriptor{0, 4};
constexpr SegmentOffsets kInAmdKernelCode{64, 60};

std::uint32_t word_at(const CodeObject& object, std::uint64_t address) {
  std::uint32_t word = 0;
  const std::span<const std::byte> bytes = object.elf().at(address, sizeof word);
  if (!bytes.empty()) std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

std::string decimal(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// The type of an argument, such as "float*", or its kind if the compiler has not recorded the type.
std::string type_text(const KernelArgument& argument) {
  return argument.type_name.empty() ? argument.kind : argument.type_name;
}

void write_arguments(const KernelMetadata& kernel, std::ostream& out) {
  const auto hidden = std::count_if(kernel.arguments.begin(), kernel.arguments.end(), [](const auto& a) { return a.hidden(); });
  out << "  arguments: " << kernel.arguments.size() - static_cast<std::size_t>(hidden) << ", and " << hidden << " hidden, in "
      << kernel.kernarg_size << " bytes\n";
  std::vector<TextRow> rows;
  std::size_t number = 0;
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.hidden()) continue;
    const std::string name = argument.name.empty() ? '#' + std::to_string(number) : argument.name;
    rows.push_back({"    " + name, type_text(argument), argument.address_space.empty() ? "-" : argument.address_space,
                    std::to_string(argument.size) + " bytes", "at " + std::to_string(argument.offset)});
    ++number;
  }
  write_aligned(rows, out);
}

}  // namespace

KernelSignature kernel_signature(const CodeObject& object, const KernelEntry& entry) {
  KernelSignature signature;
  signature.allocated = kernel_registers(object, entry);
  const SegmentOffsets& at = object.version() == 2 ? kInAmdKernelCode : kInDescriptor;
  signature.lds_bytes = word_at(object, entry.descriptor + at.group);
  signature.scratch_bytes = word_at(object, entry.descriptor + at.per_item);
  const auto metadata = std::find_if(object.kernels().begin(), object.kernels().end(),
                                     [&](const KernelMetadata& kernel) { return kernel.name == entry.name; });
  if (metadata != object.kernels().end()) signature.metadata = *metadata;
  signature.occupancy = occupancy(signature.allocated, signature.lds_bytes,
                                  largest_workgroup(signature.metadata.value_or(KernelMetadata{})), object.target());
  return signature;
}

void write_signature(const KernelSignature& s, std::ostream& out) {
  if (s.metadata) {
    write_arguments(*s.metadata, out);
  } else {
    out << "  arguments: not known, there are no metadata\n";
  }
  out << "  takes: " << s.allocated.vgprs << " VGPRs, " << s.allocated.agprs << " AGPRs, " << s.allocated.sgprs << " SGPRs, "
      << s.lds_bytes << " bytes of LDS, " << s.scratch_bytes << " bytes of scratch a work-item";
  if (s.metadata && s.metadata->dynamic_stack) out << " and more for calls";
  out << '\n';
  if (s.metadata) {
    const auto& required = s.metadata->required_workgroup_size;
    out << "  workgroup: ";
    if (required[0] != 0) {
      out << required[0] << " x " << required[1] << " x " << required[2] << " required";
    } else if (s.metadata->max_workgroup_size != 0) {
      out << "at most " << s.metadata->max_workgroup_size << " work-items";
    } else {
      out << "any size";
    }
    out << '\n';
  }
  out << "  occupancy: " << decimal(s.occupancy.wavefronts_per_simd) << " wavefronts per SIMD with workgroups of "
      << s.occupancy.workgroup_size << ", limited by " << s.occupancy.limit << '\n';
}

Json signature_json(const KernelSignature& s) {
  Json json = Json::object();
  json["metadata"] = s.metadata.has_value();
  if (s.metadata) {
    const KernelMetadata& kernel = *s.metadata;
    Json arguments = Json::array();
    for (const KernelArgument& a : kernel.arguments)
      arguments.push_back({{"name", a.name},
                           {"type", a.type_name},
                           {"kind", a.kind},
                           {"address_space", a.address_space},
                           {"access", a.access},
                           {"offset", a.offset},
                           {"size", a.size},
                           {"hidden", a.hidden()}});
    json["arguments"] = arguments;
    json["kernarg_bytes"] = kernel.kernarg_size;
    json["max_workgroup_size"] = kernel.max_workgroup_size;
    json["required_workgroup_size"] = kernel.required_workgroup_size[0] != 0 ? Json(kernel.required_workgroup_size) : Json();
    json["used"] = {{"vgprs", kernel.vgprs}, {"agprs", kernel.agprs}, {"sgprs", kernel.sgprs}};
    json["dynamic_stack"] = kernel.dynamic_stack;
  }
  json["allocated"] = {{"vgprs", s.allocated.vgprs}, {"agprs", s.allocated.agprs}, {"sgprs", s.allocated.sgprs}};
  json["lds_bytes"] = s.lds_bytes;
  json["scratch_bytes"] = s.scratch_bytes;
  json["occupancy"] = {{"wavefronts_per_simd", s.occupancy.wavefronts_per_simd},
                       {"workgroup_size", s.occupancy.workgroup_size},
                       {"limited_by", s.occupancy.limit}};
  return json;
}

}  // namespace lacuna
