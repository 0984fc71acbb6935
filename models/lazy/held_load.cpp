#include "models/lazy/held_load.h"

#include <bit>
#include <stdexcept>
#include <string>

#include "models/isa/decode/instruction.h"
#include "models/isa/decode/table.h"

namespace lacuna::held_load {
namespace {

using isa::kLanes;

constexpr std::uint32_t kAddressMask = (std::uint32_t{1} << kAddressBits) - 1;

// All ones if the lane's bit is set, otherwise 0. GCC vectorises the shift if both operands have the same width.
constexpr std::uint64_t mask_of(std::uint64_t lanes, std::uint64_t lane) { return 0 - (lanes >> lane & 1); }

}  // namespace

bool encode(std::span<const std::uint64_t, kLanes> addresses, std::uint64_t lanes, unsigned bytes, LaneWords& words,
            std::uint64_t& upper) {
  const std::optional<Type> type = type_of_bytes(bytes);
  if (!type) throw std::invalid_argument("a load of " + std::to_string(bytes) + " bytes cannot be held");
  const std::uint64_t first = lanes != 0 ? addresses[static_cast<unsigned>(std::countr_zero(lanes))] : 0;
  std::uint64_t difference = 0;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) difference |= (addresses[lane] ^ first) & mask_of(lanes, lane);
  if (difference >> kAddressBits != 0) return false;
  upper = first >> kAddressBits;
  const std::uint32_t code = static_cast<std::uint32_t>(*type) << kAddressBits;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
    const auto mask = static_cast<std::uint32_t>(mask_of(lanes, lane));
    const std::uint32_t word = code | (static_cast<std::uint32_t>(addresses[lane]) & kAddressMask);
    words[lane] = (words[lane] & ~mask) | (word & mask);
  }
  return true;
}

void decode(std::span<const std::uint32_t, kLanes> words, std::uint64_t upper, std::uint64_t lanes, LaneAddresses& addresses) {
  const std::uint64_t high = upper << kAddressBits;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t mask = mask_of(lanes, lane);
    addresses[lane] = (addresses[lane] & ~mask) | ((high | (words[lane] & kAddressMask)) & mask);
  }
}

std::optional<Refusal> why_not_held(const isa::Instruction& instruction, const isa::MemoryAccess& access) {
  using isa::MemoryAccess;
  const std::uint64_t flags = instruction.row->flags;
  if (instruction.unit == isa::Unit::smem) return Refusal::scalar;
  if (instruction.latency != isa::LatencyClass::vmem_load) return Refusal::no_load;
  if (instruction.mem.lds) return Refusal::lds_form;
  if (access.lds_lanes != 0) return Refusal::lds_lanes;
  if (instruction.mem.tfe) return Refusal::tfe;
  if ((flags & isa::kConvertsFormat) != 0) return Refusal::format;
  if ((flags & isa::kReadsDst) != 0) return Refusal::half_register;
  if ((flags & isa::kSignExtends) != 0) return Refusal::sign;
  if (!type_of_bytes(access.bytes_per_lane)) return Refusal::three_registers;
  if (access.glc || instruction.mem.scc) return Refusal::glc;
  if (access.slc) return Refusal::slc;
  if (access.space == MemoryAccess::Space::scratch && access.bytes_per_lane > 4) return Refusal::scattered;
  if (access.deferred) return Refusal::deferred;
  return std::nullopt;
}

Cost cost(const ComputeUnitParameters& parameters, unsigned compute_units) {
  const std::uint64_t registers = std::uint64_t{parameters.simds} * parameters.vgprs_per_simd;
  Cost cost{.busy_bits = registers * kLanes, .upper_bits = registers * kUpperBits};
  cost.area_mm2 = sram_mm2((cost.busy_bits + cost.upper_bits) * compute_units);
  return cost;
}

std::array<CostLine, 4> lines(const Cost& cost) {
  return {{{"busy_bits", "bits", "busy bits of a compute unit, one for each lane of a physical vector register",
            static_cast<double>(cost.busy_bits)},
           {"upper_bits", "bits", "upper address bits of a compute unit, 35 for each physical vector register",
            static_cast<double>(cost.upper_bits)},
           {"area_mm2", "mm2", "SRAM cells for the bits of all compute units, 28 nm", cost.area_mm2},
           {"area_share", "of the die", "the same, of an R9 Nano's die (596 mm2); LazyGPU publishes 0.00009",
            cost.share_of(kR9NanoDieMm2)}}};
}

}  // namespace lacuna::held_load
