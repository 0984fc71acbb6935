#include "platform/loaders/kernel_resources.h"

#include <algorithm>
#include <cstring>

namespace lacuna {
namespace {

/// Resources of a SIMD, by target. Sources: GCN3 ISA manual, section 1.2; CDNA2 ISA manual (unified VGPRs); LLVM, "User Guide
/// for AMDGPU Backend", "Occupancy": ten wavefronts per SIMD on gfx8, eight on gfx90a.
struct ComputeUnitSize {
  unsigned wavefronts;  ///< per SIMD
  unsigned vgprs;       ///< per SIMD, accumulation registers included
  unsigned sgprs;       ///< per SIMD
};
constexpr ComputeUnitSize kGfx803{10, 256, 800};
constexpr ComputeUnitSize kGfx90a{8, 512, 800};
constexpr unsigned kSimds = 4;
constexpr std::uint32_t kLdsBytes = 65536;
constexpr std::uint32_t kLdsGranule = 512;
constexpr std::uint32_t kDefaultWorkgroup = 256;  // clang's default if the source states none
constexpr std::uint64_t kRsrc3Offset = 44;        // COMPUTE_PGM_RSRC3, followed by RSRC1, in both kinds of descriptor

// 64 bits, so that the sum cannot overflow, whatever a damaged descriptor contains.
std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

}  // namespace

Occupancy occupancy(const isa::KernelRegisters& registers, std::uint32_t lds, std::uint32_t workgroup_size,
                    isa::Target target) {
  const ComputeUnitSize& size = target == isa::Target::gfx803 ? kGfx803 : kGfx90a;
  const isa::TargetTraits& traits = isa::traits(target);
  const std::uint64_t vgprs = divide_up(registers.vgprs + registers.agprs, traits.vgpr_granule) * traits.vgpr_granule;
  Occupancy result{.workgroup_size = workgroup_size, .wavefronts_per_simd = 0, .limit = "wavefront slots"};
  std::uint64_t per_simd = size.wavefronts;
  const auto limit = [&](std::uint64_t fitting, std::string_view what) {
    if (fitting >= per_simd) return;
    per_simd = fitting;
    result.limit = what;
  };
  limit(size.vgprs / std::max<std::uint64_t>(1, vgprs), "VGPRs");
  limit(size.sgprs / std::max(1U, registers.sgprs), "SGPRs");
  const std::uint64_t wavefronts = divide_up(std::max(1U, workgroup_size), isa::kLanes);
  std::uint64_t workgroups = per_simd * kSimds / wavefronts;
  const std::uint64_t by_lds = lds == 0 ? workgroups : kLdsBytes / (divide_up(lds, kLdsGranule) * kLdsGranule);
  if (by_lds < workgroups) {
    workgroups = by_lds;
    result.limit = "LDS";
  }
  result.wavefronts_per_simd = static_cast<double>(workgroups * wavefronts) / kSimds;
  return result;
}

isa::KernelRegisters kernel_registers(const CodeObject& object, const KernelEntry& entry) {
  std::uint32_t words[2];
  const std::span<const std::byte> bytes = object.elf().at(entry.descriptor + kRsrc3Offset, sizeof words);
  if (bytes.empty()) throw ElfError(object.name() + ": the descriptor of kernel " + entry.name + " lies outside the segments");
  std::memcpy(words, bytes.data(), sizeof words);
  return isa::kernel_registers(words[1], words[0], object.target());
}

std::uint32_t largest_workgroup(const KernelMetadata& kernel) {
  const auto& required = kernel.required_workgroup_size;
  if (required[0] != 0) {
    std::uint64_t product = 1;
    for (const std::uint32_t size : required) product = std::min<std::uint64_t>(product * size, UINT32_MAX);
    return static_cast<std::uint32_t>(product);
  }
  return kernel.max_workgroup_size != 0 ? kernel.max_workgroup_size : kDefaultWorkgroup;
}

}  // namespace lacuna
